#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows that Wireshark alone gets wrong: each is right with the plugin, and nothing is called malformed."""
import unittest

import captures
from common import place, rows, tshark

# name: protocol, beginning of Info, ICRC status (1 good, 2 not judged)
EXPECTED = {
    "sport 69": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 1 len 64", "1"),
    "sport 72": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 2 len 64", "1"),
    "sport 53": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 3 len 64", "1"),
    "sport 0": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 4 len 64", "1"),
    "sport 69 over IPv6": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 5 len 64", "1"),
    "4-byte SEND": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 6 len 4", "1"),
    "sliced": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 7 len 512 [sliced]", "2"),
    "CNP": ("RoCEv2", "CNP QP 0x000099", "1"),
    "XRC": ("RoCEv2", "XRC SEND Only QP 0x000012 PSN 8 len 4 SRQ 0x000077", "1"),
    "vendor": ("RoCEv2", "Manufacturer specific opcode 0xe1 QP 0x000012", "1"),
    "FLUSH": ("RoCEv2", "RC FLUSH QP 0x000012 PSN 9 va 0x00007f0000001000 rkey 0x0000abcd dma 65536", "1"),
    "ATOMIC WRITE": ("RoCEv2", "RC ATOMIC WRITE QP 0x000012 PSN 10 len 8 va 0x00007f0000001000", "1"),
    "VXLAN": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 11 len 8", "1"),
    "VXLAN, sport 69 inside": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 12 len 8", "1"),
    "GRE": ("RoCEv2", "RC SEND Only QP 0x000012 PSN 13 len 8", "1"),
    "ICMP error": ("ICMP", "Destination unreachable (Fragmentation needed)", "2"),
    "from 4791": ("UDP", "4791 ", ""),
    "QP 1 sliced": ("RoCEv2", "UD SEND Only QP 0x000001 PSN 1000 len 256 from QP 0x000001 [sliced]", "2"),
}


class Traps(unittest.TestCase):
    def check(self, *args):
        names = [name for name, _ in captures.traps()]
        got = rows(place().capture("traps.pcap"),
                   ["_ws.col.Protocol", "_ws.col.Info", "rocev2.icrc.status", "_ws.col.Source",
                    "_ws.col.Destination", "_ws.malformed"], *args)
        self.assertEqual([name for name, row in zip(names, got) if row.pop()], [])
        self.assertEqual(len(got), len(names))
        for name, (protocol, info, status, src, dst) in zip(names, got):
            with self.subTest(name):
                self.assertEqual(protocol, EXPECTED[name][0])
                self.assertTrue(info.startswith(EXPECTED[name][1]), info)
                self.assertEqual(status, EXPECTED[name][2])
                if name != "ICMP error":
                    self.assertEqual((src, dst), ("fd00::a", "fd00::b") if "IPv6" in name else ("10.0.0.1", "10.0.0.2"))

    def test_one_pass(self):
        self.check()

    def test_two_passes(self):
        self.check("-2")

    def test_streams_keep_tunnels_apart(self):
        got = dict(zip((name for name, _ in captures.traps()),
                       (r[0] for r in rows(place().capture("traps.pcap"), ["rocev2.stream"]))))
        self.assertEqual(got["VXLAN"], got["VXLAN, sport 69 inside"])
        self.assertEqual(got["sport 69"], got["4-byte SEND"])
        self.assertEqual(len({got["sport 69"], got["VXLAN"], got["sport 69 over IPv6"], got["CNP"]}), 4)
        self.assertEqual(got["ICMP error"], "", "a quoted packet is no packet of the stream")

    def test_wrong_without_the_plugin(self):
        """The traps are real: if Wireshark learns better, the plugin may do less."""
        got = {name: row for (name, _), row in zip(captures.traps(), rows(
            place().capture("traps.pcap"), ["_ws.col.Protocol", "_ws.col.Info", "_ws.malformed"], plugin=False))}
        self.assertEqual(got["sport 69"][0], "TFTP")
        self.assertIn("Malformed", got["sliced"][1])
        self.assertTrue(got["4-byte SEND"][2])

    def test_hand_over(self):
        """Only what the built-in dissector reads is handed on."""
        got = {name: row[0] for (name, _), row in zip(captures.traps(), rows(
            place().capture("traps.pcap"), ["frame.protocols"]))}
        for name in ("sport 69", "4-byte SEND", "VXLAN", "GRE"):
            self.assertIn("rocev2:infiniband", got[name])
        for name in ("sliced", "CNP", "XRC", "vendor", "QP 1 sliced"):
            self.assertTrue(got[name].endswith("rocev2"), got[name])

    def test_pause_frames(self):
        fields = ["_ws.col.Info", "rocev2.pfc.priority", "rocev2.pfc.quanta", "rocev2.pfc.pause_us",
                  "rocev2.pause.quanta", "rocev2.pause.time"]
        got = rows(place().capture("pause.pcap"), fields, "-o", "rocev2.link_speed:100")
        # 512 bit times of a 100 Gb/s link are 5.12 ns.
        self.assertEqual(got[0], ["PFC prio 3 pause 335.539 us", "3", "65535", "335.539", "", ""])
        self.assertEqual(got[1], ["PFC prio 3 resume prio 4 pause 0.512 us", "3,4", "0,100", "0,0.512", "", ""])
        self.assertEqual(got[2], ["PAUSE pause 167.772 us", "", "", "", "32768", "0.000167772"])
        self.assertEqual(got[3], ["PAUSE resume", "", "", "", "0", "0.000000000"])
        self.assertEqual(got[4][0], "PFC [truncated: frame is cut inside the header]")
        unknown = rows(place().capture("pause.pcap"), fields)
        self.assertEqual(unknown[0], ["PFC prio 3 pause 65535 quanta", "3", "65535", "", "", ""])

    def test_pause_keeps_the_builtin(self):
        with_plugin = rows(place().capture("pause.pcap"), ["macc.opcode", "macc.cbfc.pause_time.c3"])
        alone = rows(place().capture("pause.pcap"), ["macc.opcode", "macc.cbfc.pause_time.c3"], plugin=False)
        self.assertEqual(with_plugin[:4], alone[:4])


class Preferences(unittest.TestCase):
    def protocol(self, *args, **options):
        return rows(place().capture("traps.pcap"), ["frame.protocols"], "-c", "2", *args, **options)[1][0]

    def test_port_is_claimed_again(self):
        """Any change of a preference of the built-in dissector removes whoever has the port."""
        for preference in ("infiniband.rroce.port:4792", "infiniband.try_heuristic_first:FALSE"):
            self.assertIn(":rocev2:", self.protocol("-o", preference))

    def test_decode_as_wins(self):
        self.assertIn("udp:infiniband", self.protocol("-d", "udp.port==4791,infiniband"))
        self.assertIn("udp:data", self.protocol("-d", "udp.port==4791,data"))

    def test_port_is_given_back(self):
        self.assertEqual(self.protocol("-o", "rocev2.take_over:FALSE"), self.protocol(plugin=False))

    def test_given_back_is_as_without(self):
        lines_and_details = ["-n", "-r", place().capture("traps.pcap"), "-P", "-V"]
        self.assertEqual(tshark(*lines_and_details, plugin=False),
                         tshark(*lines_and_details, "-o", "rocev2.take_over:FALSE"))

    def test_trees(self):
        self.assertTrue(self.protocol("-o", "rocev2.tree:own").endswith("udp:rocev2"))
        for tree, first, second in (("both", "RDMA over", "InfiniBand"), ("builtin-first", "InfiniBand", "RDMA over")):
            text = tshark("-n", "-r", place().capture("traps.pcap"), "-c", "1", "-V", "-o", f"rocev2.tree:{tree}")
            tops = [line for line in text.splitlines() if line.startswith((first, second))]
            self.assertEqual([t.startswith(first) for t in tops], [True, False])

    def test_icrc_preference(self):
        got = rows(place().capture("traps.pcap"), ["rocev2.icrc.status", "rocev2.icrc.reason"], "-c", "1",
                   "-o", "rocev2.check_icrc:FALSE")
        self.assertEqual(got, [["2", "not_asked"]])

    def test_further_ports(self):
        path = place().path / "out" / "port.pcap"
        path.write_bytes(captures.pcap([captures.eth(captures.roce4(4, b"x" * 8, dport=4444))]))
        path.chmod(0o644)
        self.assertNotIn("rocev2", rows(path, ["frame.protocols"])[0][0])
        for args in (["-o", "rocev2.ports:4444-4445"], ["-d", "udp.port==4444,rocev2"]):
            self.assertEqual(rows(path, ["rocev2.bth.psn", "rocev2.icrc.status"], *args), [["1000", "1"]])


if __name__ == "__main__":
    unittest.main()
