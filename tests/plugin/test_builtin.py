#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The built-in dissector is not disturbed, and agrees: its fields are the same with and without the plugin, and equal
ours, packet by packet, on every capture."""
import functools
import os
import pathlib
import unittest

from common import PCAPS, layers, merged, place, rows, tshark

MALFORMED = ["_ws.malformed", "rocev2.expert.malformed"]
UPPER = ["infiniband", "nvme-rdma", "rpcordma", "smb_direct", "iser"]

# ours: the built-in's name of the same bits
SAME = {
    "rocev2.bth.opcode": "infiniband.bth.opcode",
    "rocev2.bth.pad": "infiniband.bth.padcnt",
    "rocev2.bth.tver": "infiniband.bth.tver",
    "rocev2.bth.pkey": "infiniband.bth.p_key",
    "rocev2.bth.dqpn": "infiniband.bth.destqp",
    "rocev2.bth.psn": "infiniband.bth.psn",
    "rocev2.bth.se": "infiniband.bth.se",
    "rocev2.bth.migreq": "infiniband.bth.m",
    "rocev2.bth.ackreq": "infiniband.bth.a",
    "rocev2.reth.va": "infiniband.reth.va",
    "rocev2.reth.rkey": "infiniband.reth.r_key",
    "rocev2.reth.dma_length": "infiniband.reth.dmalen",
    "rocev2.aeth.syndrome": "infiniband.aeth.syndrome",
    "rocev2.aeth.msn": "infiniband.aeth.msn",
    "rocev2.deth.qkey": "infiniband.deth.q_key",
    "rocev2.deth.src_qp": "infiniband.deth.srcqp",
    "rocev2.immdt": "infiniband.immdt",
    "rocev2.ieth.rkey": "infiniband.ieth",
    "rocev2.atomiceth.swap_add": "infiniband.atomiceth.swapdt",
    "rocev2.atomiceth.compare": "infiniband.atomiceth.cmpdt",
    "rocev2.atomicacketh.original": "infiniband.atomicacketh.origremdt",
    "rocev2.icrc": "infiniband.invariant.crc",
}

# The built-in shows an atomic's address under the name of a READ's.
BOTH = {"rocev2.reth.va": "rocev2.atomiceth.va", "rocev2.reth.rkey": "rocev2.atomiceth.rkey"}


def number(text, is_bytes=False):
    """A field's value as a number, whatever base and width it is shown in; bytes in wire order."""
    words = {"True": 1, "False": 0, "": None}
    if text in words:
        return words[text]
    text = text.split(",")[0].replace(":", "")  # the built-in names a header and its only field alike
    return int(text, 16 if is_bytes else 0)


def captures_at_hand():
    more = os.environ.get("ROCE_MORE_CAPTURES", "")
    return PCAPS + sorted(p for p in pathlib.Path(more).rglob("*.pcap*") if more)


@functools.cache
def all_in_one():
    """All captures behind each other: what differs with and without the plugin differs there too, for one start of
    tshark."""
    return merged(map(local, captures_at_hand()))


class Builtin(unittest.TestCase):
    def test_values_agree(self):
        compared = 0
        got = rows(all_in_one(), ["frame.number", *SAME, *SAME.values(), *BOTH.values(), *MALFORMED])
        for frame, *values, malformed, expert in got:
            with self.subTest(frame=frame):
                self.assertEqual((malformed, expert), ("", ""))
            opcodes = values[0], values[len(SAME)]
            if "" in opcodes:
                continue  # not a frame of both dissectors
            for i, (ours, theirs) in enumerate(SAME.items()):
                a, b = values[i], values[len(SAME) + i]
                if ours in BOTH and a == "":
                    a = values[len(SAME) * 2 + list(BOTH).index(ours)]
                if ours == "rocev2.icrc" and b == "":
                    continue  # a payload dissector's exception has ended the built-in before it came there
                with self.subTest(frame=frame, field=ours):
                    self.assertEqual(number(a), number(b, theirs in ("infiniband.immdt", "infiniband.ieth")))
                compared += b != ""
        self.assertGreater(compared, 20000)

    def test_fields_unchanged(self):
        """All layers that the built-in dissector makes, field by field; a packet that it does not get has none."""
        kept = 0
        with_plugin = layers(all_in_one(), UPPER)
        alone = layers(all_in_one(), UPPER, plugin=False)
        ours = rows(all_in_one(), ["rocev2.error", "rocev2.transport"])
        self.assertEqual(len(with_plugin), len(alone))
        for frame, (a, b, (error, transport)) in enumerate(zip(with_plugin, alone, ours), 1):
            with self.subTest(frame=frame):
                if not a and b:
                    self.assertTrue(error == "truncated" or transport in ("cnp", "xrc"), (error, transport))
                    continue
                self.assertEqual(a, b)
                kept += bool(a)
        self.assertGreater(kept, 3000)

    def test_other_traffic_unchanged(self):
        args = ["-n", "-r", all_in_one(), "-Y", "!(udp.port == 4791)"]
        other = tshark(*args)
        self.assertGreater(other.count("\n"), 100)
        self.assertEqual(other, tshark(*args, plugin=False))

    def test_connection_management_rows(self):
        """The built-in shows LIDs as addresses of CM rows; the addresses are those of the IP header."""
        for name in ("cm_rping.pcap", "nvme_rdma.pcap", "cm_udaddy.pcap", "cm_rping_rej_noserver.pcap"):
            got = rows(place().capture(name), ["_ws.col.Source", "_ws.col.Destination", "ip.src", "ip.dst"], "-Y", "rocev2.cm.message")
            self.assertTrue(got)
            for src, dst, ip_src, ip_dst in got:
                self.assertEqual((src, dst), (ip_src, ip_dst))

    def test_upper_protocols(self):
        """NVMe over RDMA is found as before: by its CM exchange."""
        for two in ([], ["-2"]):
            def frames(**options):
                return rows(place().capture("nvme_rdma.pcap"), ["frame.number"], "-Y", "nvme-rdma", *two, **options)
            self.assertGreater(len(frames()), 30)
            self.assertEqual(frames(), frames(plugin=False))

    def test_nothing_is_malformed_in_the_second_pass(self):
        self.assertEqual(rows(all_in_one(), ["frame.number"], "-2", "-Y", "_ws.malformed || rocev2.expert.malformed"), [])


def local(pcap):
    """The capture where the ordinary user can read it."""
    target = place().path / "pcaps" / pcap.name
    if not target.exists():
        target.write_bytes(pcap.read_bytes())
        target.chmod(0o644)
    return target


if __name__ == "__main__":
    unittest.main()
