#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged captures: no crash, no dissector bug, and malformed is only what the core calls so."""
import random
import struct
import unittest

import captures
from common import merged, place, rows, table, tshark

STRICT = {"WIRESHARK_ABORT_ON_DISSECTOR_BUG": "1", "G_DEBUG": "fatal-criticals"}
SOURCES = ("rc_all_ops.pcap", "cm_rping.pcap", "loss5_egress_read.pcap", "rc_rnr_exceeded.pcap", "ud_ops.pcap",
           "snap64_cm_rping.pcap", "pf_atomic_cas.pcap")


def mutate(data, seed):
    """Turns bits behind the Ethernet header of every third frame; the file's own headers stay."""
    rng = random.Random(seed)
    out, offset = bytearray(data), 24
    while offset + 16 <= len(out):
        length = struct.unpack_from("<I", out, offset + 8)[0]
        for _ in range(rng.randrange(1, 6) if rng.randrange(3) == 0 else 0):
            if length > 40:
                out[offset + 16 + rng.randrange(14, length)] ^= 1 << rng.randrange(8)
        offset += 16 + length
    return bytes(out)


class Hostile(unittest.TestCase):
    def test_damaged_frames(self):
        capture = place().capture("hostile.pcap")
        for args in (["-V"], ["-2"], ["-2", "-V", "-o", "rocev2.tree:builtin-first"], ["-V", "-o", "rocev2.tree:own"]):
            tshark("-n", "-r", capture, *args, env=STRICT, noise=True)

    def test_damaged_captures(self):
        damaged = []
        for seed, name in enumerate(SOURCES):
            damaged.append(place().path / "out" / f"mutated-{name}")
            damaged[-1].write_bytes(mutate(place().capture(name).read_bytes(), seed))
        path = merged(damaged, "mutated")
        tshark("-n", "-r", path, "-V", env=STRICT, noise=True)
        tshark("-n", "-2", "-r", path, "-o", "rocev2.tree:own", "-V", env=STRICT, noise=True)
        names = ("rocev2,tree", "rocev2,srt", "conv,rocev2", "endpoints,rocev2", "rocev2,streams", "rocev2,findings")
        tshark("-n", "-q", "-r", path, *(word for name in names for word in ("-z", name)), env=STRICT, noise=True)
        self.listen(path)

    def listen(self, path):
        """Listeners get payloads outside of the dissector, where an exception would end the program."""
        out = place().path / "out" / f"objects-{path.name}"
        tshark("-n", "-2", "-q", "-r", path, "-z", "follow,rocev2,raw,0", "--export-objects", f"rocev2,{out}", env=STRICT,
               noise=True)

    def test_listeners(self):
        """A UDP length that ends inside the payload which the IP length announces."""
        frame = bytearray(captures.eth(captures.roce4(4, b"x" * 64)))
        frame[38:40] = (40).to_bytes(2, "big")
        path = place().path / "out" / "short_udp.pcap"
        path.write_bytes(captures.pcap([bytes(frame)]))
        path.chmod(0o644)
        self.listen(path)
        self.listen(place().capture("hostile.pcap"))
        self.assertEqual(rows(path, ["rocev2.error", "rocev2.payload_length"]), [["malformed", "64"]])

    def test_malformed_is_the_cores_word(self):
        """Our layer never throws, whatever the lengths say."""
        for tree in ("own", "both", "builtin-first"):
            got = rows(place().capture("hostile.pcap"), ["frame.number"], "-Y",
                       'rocev2 && _ws.expert.message contains "Exception occurred"', "-o", f"rocev2.tree:{tree}", noise=True)
            self.assertEqual(got, [], tree)
        said = rows(place().capture("hostile.pcap"), ["rocev2.error"], "-Y", "rocev2.expert.malformed", noise=True)
        self.assertTrue(said)
        self.assertEqual({r[0] for r in said}, {"malformed"})

    def test_many_streams(self):
        """Tables of 3,000 streams: every one has its row."""
        frames = [captures.eth(captures.roce4(4, b"x", psn=n, qp=16 + n)) for n in range(3000)]
        path = place().path / "out" / "many.pcap"
        path.write_bytes(captures.pcap(frames))
        path.chmod(0o644)
        for two in ([], ["-2"]):
            self.assertEqual(len(table(path, "rocev2,streams", *two)), 3000)


if __name__ == "__main__":
    unittest.main()
