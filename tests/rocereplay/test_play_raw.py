#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocereplay play --raw: what goes out is what was recorded, changed by the rules and nothing else, with checksums right."""
import argparse
import ipaddress
import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest

from play_frames import (bth, icrc, icrc_ok, inner_packet, ip_sum_ok, ipv4, ipv6, ones_sum, read_pcap, rocev1, rocev2,
                         udp, udp_sum_ok, write_pcap)

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
REPLAY = STAT = WORK = None
CAPTURES = sorted((SOURCE / "pcaps").glob("*.pcap"))
WHOLE = [p for p in CAPTURES if not p.name.startswith("snap64")]


def play(*args, status=0, stdin=None):
    done = subprocess.run([REPLAY, "play", "--raw", *map(str, args)], capture_output=True, text=stdin is None, timeout=60,
                          input=stdin, check=False)
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}: {done.stderr}")
    return done


def play_json(*args, **kwargs):
    return json.loads(play("--json", *args, **kwargs).stdout)


def stat(path):
    done = subprocess.run([STAT, "--json", str(path)], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def messages(doc):
    total = {}
    for flow in doc["flows"]:
        for op, counts in flow["messages"].items():
            for key, n in counts.items():
                total[op, key] = total.get((op, key), 0) + (n or 0)
    return total


def total(doc, key):
    return sum(f[key] or 0 for f in doc["flows"])


def fields(path, *names):
    args = ["tshark", "-n", "-r", str(path), "-T", "fields"]
    for name in names:
        args += ["-e", name]
    done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=True)
    return [line.split("\t") for line in done.stdout.rstrip("\n").split("\n")]


def out(name):
    return WORK / name


class Recorded(unittest.TestCase):
    def test_unchanged(self):
        for path in WHOLE:
            with self.subTest(capture=path.name):
                result = play_json("-w", out("same.pcap"), path)
                want = read_pcap(path)
                self.assertEqual(read_pcap(out("same.pcap")), want)
                self.assertEqual(result["frames"], len(want[1]))
                self.assertEqual(result["changed"], 0)

    def test_sliced_frames_are_left_out(self):
        for path in sorted(set(CAPTURES) - set(WHOLE)):
            with self.subTest(capture=path.name):
                frames = read_pcap(path)[1]
                result = play_json("-w", out("cut.pcap"), path)
                self.assertEqual(result["left_out"]["sliced"], sum(length > len(data) for _, length, data in frames))
                self.assertEqual(read_pcap(out("cut.pcap"))[1], [f for f in frames if f[1] == len(f[2])])

    def test_every_capture_rewritten(self):
        """Same messages, each ICRC right by an independent CRC, each IPv4 checksum right."""
        for path in WHOLE:
            with self.subTest(capture=path.name):
                play("-q", "-w", out("all.pcap"), "--map-ip", "192.168.77.0/24=10.20.30.0/24,fd77::/64=2001:db8:7::/64",
                     "--map-mac", "src=02:00:00:00:00:0a,dst=02:00:00:00:00:0b", "--psn-offset", "0xabcde", "--vlan",
                     "7:5", "--rkey", "0x5555", path)
                before, after = stat(path), stat(out("all.pcap"))
                self.assertEqual(messages(after), messages(before))
                self.assertEqual(after["icrc"]["bad"], 0)
                self.assertEqual(after["icrc"]["ok"], before["icrc"]["ok"] + before["icrc"]["bad"])
                for key in ("retransmitted", "gap_events", "rnr_naks", "cnps", "ce"):
                    self.assertEqual(total(after, key), total(before, key), key)
                for _, _, frame in read_pcap(out("all.pcap"))[1]:
                    packet = inner_packet(frame)
                    if packet is not None:
                        self.assertTrue(icrc_ok(packet))
                        self.assertTrue(packet[0] >> 4 == 6 or ip_sum_ok(packet))


class Fields(unittest.TestCase):
    """By tshark, before and after."""
    NAMES = ("ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "infiniband.bth.destqp", "infiniband.bth.psn",
             "infiniband.deth.srcqp", "infiniband.reth.r_key", "infiniband.cm.req.localqpn", "infiniband.cm.req.startpsn",
             "infiniband.cm.rep.localqpn", "infiniband.cm.rep.startpsn", "infiniband.cm.req.prim_localgid_ipv4",
             "infiniband.cm.req.prim_remotegid_ipv4", "infiniband.cm.req.ip_cm.sip4", "infiniband.cm.req.ip_cm.dip4")

    def test_rules_reach_every_place(self):
        names, seen = self.NAMES, set()
        offset = 0x123456
        for name in ("cm_rping", "rc_pingpong_ipv6", "cm_udaddy", "rc_all_ops", "pf_write_bw_rdmacm"):
            path = SOURCE / "pcaps" / f"{name}.pcap"
            qps = sorted({f["dest_qp"] for f in stat(path)["flows"]} - {1, 0xFFFFFF})
            moved = {q: q + 0x4000 for q in qps}
            play("-q", "-w", out("fields.pcap"), "--map-ip", "192.168.77.0/24=10.1.2.0/24", "--map-ip",
                 "fd77::/64=fd99:5::/64", "--map-qp", ",".join(f"{a:#x}={b:#x}" for a, b in moved.items()),
                 "--psn-offset", offset, path)
            with self.subTest(capture=name):
                before, after = fields(path, *names), fields(out("fields.pcap"), *names)
                self.assertEqual(len(before), len(after))
                for old, new in zip(before, after):
                    for field, a, b in zip(names, old, new):
                        self.assertEqual(b, self.expected(field, a, moved, offset), field)
                        seen |= {field} if a != b else set()
        self.assertEqual(seen, set(names) - {"infiniband.reth.r_key"})

    def expected(self, field, value, moved, offset):
        if value == "":
            return ""
        if "qp" in field:
            number = int(value, 0)
            return self.like(value, moved.get(number, number))
        if field.endswith("psn"):
            return self.like(value, (int(value, 0) + offset) & 0xFFFFFF)
        return value.replace("192.168.77.", "10.1.2.").replace("fd77::", "fd99:5::")

    @staticmethod
    def like(text, number):
        return f"0x{number:0{len(text) - 2}x}" if text.startswith("0x") else str(number)

    def test_cm_private_header(self):
        """Bytes of the REQ: GIDs at 56 and 72, RDMA-CM header at 140, behind the MAD header (IBTA 12.6, annex A11)."""
        path = SOURCE / "pcaps" / "cm_rping.pcap"
        play("-q", "-w", out("cm.pcap"), "--map-ip", "192.168.77.0/24=10.1.2.0/24", path)
        seen = 0
        for (_, _, old), (_, _, new) in zip(read_pcap(path)[1], read_pcap(out("cm.pcap"))[1]):
            mad = old[14 + 20 + 8 + 12 + 8:]
            if len(mad) < 256 or struct.unpack(">H", mad[16:18])[0] != 0x10:
                continue
            seen += 1
            cm = new[14 + 20 + 8 + 12 + 8 + 24:]
            for at in (56, 72):
                self.assertEqual(cm[at:at + 15], b"\0" * 10 + b"\xff\xff" + bytes((10, 1, 2)))
            for at in (144, 160):
                self.assertEqual(cm[at:at + 15], b"\0" * 12 + bytes((10, 1, 2)))
        self.assertGreaterEqual(seen, 1)

    def test_qp_of_one_host(self):
        """Both ends of rc_all_ops use QP 0x26; the rule names one."""
        path = SOURCE / "pcaps" / "rc_all_ops.pcap"
        play("-q", "-w", out("host.pcap"), "--map-qp", "0x26@192.168.77.3=0x999", path)
        for (_, _, old), (_, _, new) in zip(read_pcap(path)[1], read_pcap(out("host.pcap"))[1]):
            packet = inner_packet(new)
            if packet is not None:
                to_3 = packet[19] == 3
                self.assertEqual(packet[33:36], b"\x00\x09\x99" if to_3 else b"\x00\x00\x26")


V4 = {"a": bytes((10, 0, 0, 1)), "b": bytes((10, 0, 0, 2)), "to_a": bytes((172, 16, 0, 1)), "to_b": bytes((172, 16, 0, 2))}
V6 = {k: bytes(12) + v for k, v in V4.items()}
ETH = bytes.fromhex("0200000000bb0200000000aa")
OUTER = (bytes((192, 0, 2, 1)), bytes((192, 0, 2, 2)))
MAPS = ["--map-ip", "10.0.0.0/24=172.16.0.0/24", "--map-ip", "192.0.2.0/24=198.51.100.0/24"]


def transport():
    return bth(0x0A, 0x77, 0x1000, ack=1) + struct.pack(">QII", 0x1000, 0x42, 5) + b"hello" + b"\0\0\0"


def write_only():
    """RC WRITE Only of five bytes: three bytes of pad."""
    body = bytearray(transport())
    body[1] = 3 << 4
    return bytes(body)


class Forms(unittest.TestCase):
    """Each header form once: where the inner packet begins, what the outer headers must hold."""

    def rewrite(self, frame, *args):
        write_pcap(out("form_in.pcap"), [frame])
        result = play_json("-w", out("form.pcap"), *MAPS, *args, out("form_in.pcap"))
        self.assertEqual(result["left_out"], dict.fromkeys(result["left_out"], 0))
        return read_pcap(out("form.pcap"))[1][0][2]

    def check_inner(self, packet):
        self.assertTrue(icrc_ok(packet))
        if packet[0] >> 4 == 4:
            self.assertTrue(ip_sum_ok(packet))
            self.assertEqual(packet[12:20], V4["to_a"] + V4["to_b"])

    def inner(self, **kwargs):
        return rocev2(V4["a"], V4["b"], write_only(), **kwargs)

    def test_plain_and_tags(self):
        for tags in (b"", bytes.fromhex("8100a064"), bytes.fromhex("88a80007810060c8")):
            frame = self.rewrite(ETH + tags + b"\x08\x00" + self.inner())
            self.assertEqual(frame[12:12 + len(tags)], tags)
            self.check_inner(frame[14 + len(tags):])

    def test_udp_checksum_is_kept_right(self):
        frame = self.rewrite(ETH + b"\x08\x00" + self.inner(checksum=True))
        self.check_inner(frame[14:])
        self.assertNotEqual(frame[40:42], b"\0\0")
        self.assertTrue(udp_sum_ok(frame[14:34], frame[34:]))

    def test_ipv6(self):
        src, dst = (ipaddress.ip_address(f"2001:db8::{i}").packed for i in (1, 2))
        frame = self.rewrite(ETH + b"\x86\xdd" + rocev2(src, dst, write_only(), checksum=True), "--map-ip",
                             "2001:db8::/64=fd00:1::/64")
        self.assertEqual(frame[14 + 8:14 + 24], ipaddress.ip_address("fd00:1::1").packed)
        self.assertTrue(icrc_ok(frame[14:]))
        self.assertTrue(udp_sum_ok(frame[14:54], frame[54:]))

    def test_rocev1(self):
        mapped = b"\0" * 10 + b"\xff\xff"
        frame = self.rewrite(ETH + b"\x89\x15" + rocev1(mapped + V4["a"], mapped + V4["b"], write_only()))
        self.assertEqual(frame[14 + 8:14 + 40], mapped + V4["to_a"] + mapped + V4["to_b"])
        self.assertTrue(icrc_ok(frame[14:]))

    def tunnel(self, proto, head, inner, outer_v6=False, dport=None):
        body = head + inner
        if dport is not None:
            body = udp(OUTER[0] + OUTER[1], 40000, dport, body)
        return self.rewrite(ETH + b"\x08\x00" + ipv4(*OUTER, proto, body))

    def check_outer(self, frame):
        ip = frame[14:34]
        self.assertEqual(ip[12:20], bytes((198, 51, 100, 1, 198, 51, 100, 2)))
        self.assertTrue(ip_sum_ok(ip))
        return frame[34:]

    def test_vxlan(self):
        frame = self.tunnel(17, bytes.fromhex("0800000000002a00"), ETH + b"\x08\x00" + self.inner(), dport=4789)
        rest = self.check_outer(frame)
        self.assertTrue(udp_sum_ok(frame[14:34], rest))
        self.check_inner(rest[16 + 14:])

    def test_geneve_with_option(self):
        head = bytes.fromhex("0200655800002a00") + bytes.fromhex("0102800100000000")
        frame = self.tunnel(17, head, ETH + b"\x08\x00" + self.inner(), dport=6081)
        rest = self.check_outer(frame)
        self.assertTrue(udp_sum_ok(frame[14:34], rest))
        self.check_inner(rest[8 + len(head) + 14:])

    def test_gre_with_checksum_and_key(self):
        head = bytearray.fromhex("a000080000000000000000aa")
        head[4:6] = struct.pack(">H", 0xFFFF ^ ones_sum(bytes(head) + self.inner()))
        rest = self.check_outer(self.tunnel(47, bytes(head), self.inner()))
        self.assertEqual(ones_sum(rest), 0xFFFF)
        self.check_inner(rest[12:])

    def test_erspan(self):
        one = self.check_outer(self.tunnel(47, bytes.fromhex("000088be"), ETH + b"\x08\x00" + self.inner()))
        self.check_inner(one[4 + 14:])
        head = bytes.fromhex("100088be00000001") + bytes.fromhex("1000000700000000")
        two = self.check_outer(self.tunnel(47, head, ETH + b"\x08\x00" + self.inner()))
        self.check_inner(two[16 + 14:])
        head = bytes.fromhex("100022eb00000001") + bytes.fromhex("200000070000000000000000")
        three = self.check_outer(self.tunnel(47, head, ETH + b"\x08\x00" + self.inner()))
        self.check_inner(three[20 + 14:])

    def test_ip_in_ip(self):
        self.check_inner(self.check_outer(self.tunnel(4, b"", self.inner())))

    def test_mpls(self):
        labels = bytes.fromhex("0001004000020140")
        frame = self.rewrite(ETH + b"\x88\x47" + labels + self.inner())
        self.check_inner(frame[14 + 8:])
        frame = self.rewrite(ETH + b"\x88\x47" + labels + b"\0\0\0\0" + ETH + b"\x08\x00" + self.inner())
        self.check_inner(frame[14 + 8 + 4 + 14:])

    def test_other_link_types(self):
        """Raw IP, Linux cooked capture 1 and 2 (tcpdump.org/linktypes.html): to a file alone."""
        for link, head in ((101, b""), (113, bytes(14) + b"\x08\x00"), (276, b"\x08\x00" + bytes(18))):
            write_pcap(out("link_in.pcap"), [head + self.inner(checksum=True)], link)
            play("-q", "-w", out("link.pcap"), *MAPS, out("link_in.pcap"))
            kind, frames = read_pcap(out("link.pcap"))
            self.assertEqual((kind, len(frames)), (link, 1))
            packet = frames[0][2][len(head):]
            self.assertEqual(frames[0][2][:len(head)], head)
            self.check_inner(packet)
            self.assertTrue(udp_sum_ok(packet[:20], packet[20:]))
            self.assertIn("no Ethernet", play("-i", "lo", out("link_in.pcap"), status=1).stderr)

    def test_tunnel_in_tunnel(self):
        gre = bytes.fromhex("00000800") + self.inner()
        vxlan = bytes.fromhex("0800000000002a00") + ETH + b"\x08\x00" + ipv4(*OUTER, 47, gre)
        frame = self.rewrite(ETH + b"\x08\x00" + ipv4(*OUTER, 17, udp(OUTER[0] + OUTER[1], 40000, 4789, vxlan)))
        rest = self.check_outer(frame)
        self.assertTrue(udp_sum_ok(frame[14:34], rest))
        self.check_inner(self.check_outer(rest[16:])[4:])

    def test_tcp_and_arp_follow(self):
        tcp = bytearray(struct.pack(">HHIIHHHH", 1, 2, 3, 4, 0x5000, 100, 0, 0) + b"data")
        tcp[16:18] = struct.pack(">H", 0xFFFF ^ ones_sum(V4["a"] + V4["b"] + struct.pack(">II", len(tcp), 6) + bytes(tcp)))
        frame = self.rewrite(ETH + b"\x08\x00" + ipv4(V4["a"], V4["b"], 6, bytes(tcp)))
        ends = V4["to_a"] + V4["to_b"]
        self.assertEqual(frame[26:34], ends)
        self.assertEqual(ones_sum(ends + struct.pack(">II", len(tcp), 6) + frame[34:]), 0xFFFF)
        arp = bytes.fromhex("0001080006040001") + ETH[6:] + V4["a"] + bytes(6) + V4["b"]
        frame = self.rewrite(ETH + b"\x08\x06" + arp, "--map-mac", "02:00:00:00:00:aa=02:00:00:00:00:cc")
        self.assertEqual(frame[22:], bytes.fromhex("0200000000cc") + V4["to_a"] + bytes(6) + V4["to_b"])

    def test_tags_added_changed_taken_off(self):
        plain, tag = ETH + b"\x08\x00" + self.inner(), bytes.fromhex("88a80007810060c8")
        one = bytes.fromhex("81006064")
        cases = [("100:3", b"", one), ("100:3", tag, bytes.fromhex("88a86064") + tag[4:]), ("add:100:3", tag, one + tag),
                 ("none", tag, b"")]
        for rule, before, after in cases:
            write_pcap(out("tag_in.pcap"), [plain[:12] + before + plain[12:]])
            play("-q", "-w", out("tag.pcap"), "--vlan", rule, out("tag_in.pcap"))
            self.assertEqual(read_pcap(out("tag.pcap"))[1][0][2], plain[:12] + after + plain[12:])
        pause = bytes.fromhex("0180c2000001") + ETH[6:] + bytes.fromhex("88080101") + bytes(44)
        write_pcap(out("tag_in.pcap"), [pause])
        play("-q", "-w", out("tag.pcap"), "--vlan", "100", out("tag_in.pcap"))
        self.assertEqual(read_pcap(out("tag.pcap"))[1][0][2], pause)


class Errors(unittest.TestCase):
    def bad_frame(self):
        packet = bytearray(rocev2(V4["a"], V4["b"], write_only()))
        packet[-2] ^= 0x5A
        return ETH + b"\x08\x00" + bytes(packet)

    def test_bad_icrc(self):
        write_pcap(out("bad_in.pcap"), [self.bad_frame()])
        result = play_json("-w", out("bad.pcap"), *MAPS, out("bad_in.pcap"))
        self.assertEqual((result["icrc_repaired"], result["icrc_kept_bad"]), (1, 0))
        self.assertTrue(icrc_ok(read_pcap(out("bad.pcap"))[1][0][2][14:]))
        result = play_json("-w", out("bad.pcap"), "--keep-bad-icrc", *MAPS, out("bad_in.pcap"))
        self.assertEqual((result["icrc_repaired"], result["icrc_kept_bad"]), (0, 1))
        packet = read_pcap(out("bad.pcap"))[1][0][2][14:]
        difference = bytes(a ^ b for a, b in zip(packet[-4:], icrc(packet)))
        self.assertEqual(difference, bytes.fromhex("00005a00"))

    def test_what_has_no_known_icrc(self):
        """IP options: implementations disagree on what is covered. It goes out as it is, or not at all."""
        plain = rocev2(V4["a"], V4["b"], write_only())
        options = bytearray(b"\x46" + plain[1:20] + b"\x94\x04\0\0" + plain[20:])
        options[2:4] = struct.pack(">H", len(options))
        options[10:12] = b"\0\0"
        options[10:12] = struct.pack(">H", 0xFFFF ^ ones_sum(bytes(options[:24])))
        fragment = bytearray(plain)
        fragment[6:8] = b"\x20\x00"
        fragment[10:12] = b"\0\0"
        fragment[10:12] = struct.pack(">H", 0xFFFF ^ ones_sum(bytes(fragment[:20])))
        frames = [ETH + b"\x08\x00" + bytes(p) for p in (options, fragment)]
        write_pcap(out("odd_in.pcap"), frames)
        self.assertEqual(play_json("-w", out("odd.pcap"), "--vlan", "none", out("odd_in.pcap"))["frames"], 2)
        self.assertEqual([f[2] for f in read_pcap(out("odd.pcap"))[1]], frames)
        self.assertEqual(play_json("-w", out("odd.pcap"), *MAPS, out("odd_in.pcap"))["left_out"]["unrepairable"], 2)

    def test_every_prefix(self):
        """Frames that end anywhere: cut by the capture or in themselves."""
        inner = ETH + b"\x08\x00" + rocev2(V4["a"], V4["b"], write_only(), checksum=True)
        vxlan = udp(OUTER[0] + OUTER[1], 40000, 4789, bytes.fromhex("0800000000002a00") + inner)
        frame = ETH + b"\x08\x00" + ipv4(*OUTER, 17, vxlan)
        write_pcap(out("cut_in.pcap"), [frame[:n] for n in range(len(frame) + 1)])
        play("-q", "-w", out("cut.pcap"), "--vlan", "9", *MAPS, out("cut_in.pcap"))
        doc = stat(out("cut.pcap"))
        self.assertEqual((doc["icrc"]["ok"], doc["icrc"]["bad"]), (1, 0))

    def test_messages(self):
        capture = SOURCE / "pcaps" / "rc_all_ops.pcap"
        for args, word in ((("-w", out("x.pcap"), "--map-ip", "10.0.0.0/24", capture), "--map-ip"),
                           (("-w", out("x.pcap"), "--map-ip", "10.0.0.0/33=10.0.0.0/8", capture), "--map-ip"),
                           (("-w", out("x.pcap"), "--map-ip", "10.0.0.1=fd00::1", capture), "both IPv4"),
                           (("-w", out("x.pcap"), "--map-qp", "0x1000000=1", capture), "24 bits"),
                           (("-w", out("x.pcap"), "--map-mac", "02:00=1", capture), "MAC"),
                           (("-w", out("x.pcap"), "--vlan", "5000", capture), "tag"),
                           (("-w", out("x.pcap"), "--psn-offset", "x", capture), "PSN"),
                           (("-w", out("x.pcap"), "-x", "0", capture), "above 0"),
                           (("-w", out("x.pcap"), "-x", "2", "-t", capture), "only one"),
                           (("-w", out("x.pcap"), "-l", "0", capture), "without end"),
                           (("-w", out("x.pcap")), "no capture"),
                           ((capture,), "nowhere")):
            with self.subTest(args=args):
                self.assertIn(word, play(*args, status=2).stderr)
        self.assertIn("nosuch", play("-w", out("x.pcap"), WORK / "nosuch.pcap", status=1).stderr)
        self.assertIn("no-such-dir", play("-w", "/no-such-dir/x.pcap", capture, status=1).stderr)

    def test_cut_short_file(self):
        whole = (SOURCE / "pcaps" / "rc_all_ops.pcap").read_bytes()
        out("short_in.pcap").write_bytes(whole[:-10])
        done = play("-w", out("short.pcap"), out("short_in.pcap"), status=1)
        self.assertIn("what came before it is replayed", done.stderr)
        self.assertEqual(len(read_pcap(out("short.pcap"))[1]), 93)


class Schedule(unittest.TestCase):
    capture = SOURCE / "pcaps" / "rc_all_ops.pcap"

    def times(self, *args):
        play("-q", "-w", out("time.pcap"), *args, self.capture)
        stamps = [f[0] for f in read_pcap(out("time.pcap"))[1]]
        return [t - stamps[0] for t in stamps]

    def test_pace(self):
        recorded = self.times()
        self.assertEqual(self.times("-x", "4"), [t // 4 for t in recorded])
        self.assertEqual(self.times("-p", "1000"), [i * 1000000 for i in range(94)])
        bits, want = 0, []
        for _, _, frame in read_pcap(self.capture)[1]:
            want.append(bits * 100)  # 10 Mb/s
            bits += len(frame) * 8
        self.assertEqual(self.times("-M", "10"), want)
        self.assertEqual(self.times("-L", "10"), recorded[:10])
        self.assertEqual(len(self.times("-p", "1000", "--duration", "50ms")), 50)

    def test_loops(self):
        recorded = self.times()
        times = self.times("-l", "3")
        self.assertEqual(len(times), 3 * 94)
        gap = recorded[-1] // 93
        self.assertEqual(times[94:188], [t + recorded[-1] + gap for t in recorded])

    def test_psns_go_on(self):
        """Three passes as one long run: nothing repeated, no gap, three times the messages."""
        for name in ("rc_all_ops", "nvme_rdma", "ud_pingpong"):
            path = SOURCE / "pcaps" / f"{name}.pcap"
            for kept in ([], ["-K"]):
                play("-q", "-w", out("psn.pcap"), "-l", "3", "--loop-psn", *kept, path)
                before, after = stat(path), stat(out("psn.pcap"))
                with self.subTest(capture=name, preload=bool(kept)):
                    for key in ("retransmitted", "gap_events", "read_response_dup"):
                        self.assertEqual(total(after, key), total(before, key), key)
                    self.assertEqual(messages(after), {k: 3 * n for k, n in messages(before).items()})
                    self.assertEqual(after["icrc"]["bad"], 0)

    def test_preload_is_the_same(self):
        rules = ["--map-ip", "192.168.77.0/24=10.0.0.0/24", "--vlan", "3", "-l", "2"]
        play("-q", "-w", out("a.pcap"), *rules, self.capture)
        play("-q", "-w", out("b.pcap"), "-K", *rules, self.capture)
        self.assertEqual(out("a.pcap").read_bytes(), out("b.pcap").read_bytes())

    def test_standard_input(self):
        play("-q", "-w", out("stdin.pcap"), "-l", "2", "-", stdin=self.capture.read_bytes())
        self.assertEqual(len(read_pcap(out("stdin.pcap"))[1]), 188)


class Faults(unittest.TestCase):
    """Each fault as rocestat sees it, against the list of what was done."""
    capture = SOURCE / "pcaps" / "nvme_rdma.pcap"

    def run_fault(self, *args):
        play("-q", "-w", out("fault.pcap"), "--seed", "11", "--truth", out("truth.json"), *args, self.capture)
        truth = json.loads(out("truth.json").read_text())
        self.assertEqual(sum(truth["fault_counts"].values()), len(truth["faults"]))
        self.assertGreater(len(truth["faults"]), 0)
        return truth["faults"], stat(out("fault.pcap"))

    def setUp(self):
        self.clean = stat(self.capture)

    def test_naks(self):
        for kind in ("psn_sequence_error", "invalid_request", "remote_access_error", "remote_operational_error",
                     "invalid_rd_request"):
            faults, doc = self.run_fault("--nak", f"10%@{kind}")
            with self.subTest(kind=kind):
                self.assertEqual({f["nak"] for f in faults}, {kind})
                self.assertEqual(sum(f["naks"][kind] for f in doc["flows"]), len(faults))
                self.assertEqual(total(doc, "acks"), total(self.clean, "acks") - len(faults))
                self.assertEqual(doc["icrc"]["bad"], 0)

    def test_rnr(self):
        faults, doc = self.run_fault("--rnr", "10%@20")
        self.assertEqual(total(doc, "rnr_naks"), len(faults))
        self.assertEqual({f["rnr_timer_ms"] for f in doc["flows"] if f["rnr_naks"]}, {10.24})

    def test_suppressed_acks(self):
        faults, doc = self.run_fault("--suppress-ack", "10%")
        self.assertEqual(total(doc, "acks"), total(self.clean, "acks") - len(faults))

    def test_ghost_acks(self):
        faults, doc = self.run_fault("--ghost-ack", "5%")
        ghosts = sum(f["count"] for f in doc["findings"] if f["kind"] == "ack.ghost")
        self.assertEqual(ghosts, len(faults))
        self.assertEqual(total(doc, "acks"), total(self.clean, "acks") + len(faults))

    def test_cnps(self):
        faults, doc = self.run_fault("--cnp", "5%")
        self.assertEqual(total(doc, "cnps"), len(faults))
        self.assertEqual(doc["icrc"]["bad"], 0)

    def test_pauses(self):
        faults, doc = self.run_fault("--pfc-xoff", "3%@4:1000", "--pfc-xon", "3%@4")
        kinds = [f["type"] for f in faults]
        self.assertEqual(doc["capture"]["pfc_packets"], len(faults))
        self.assertEqual({p["priority"] for p in doc["pfc"]}, {4})
        self.assertEqual(sum(p["xon"] for p in doc["pfc"]), kinds.count("pfc_xon"))
        self.assertEqual({p["quanta_max"] for p in doc["pfc"]}, {1000})

    def test_corrupt_payload(self):
        faults, doc = self.run_fault("--corrupt", "10%")
        changed = sum(a[2] != b[2] for a, b in zip(read_pcap(self.capture)[1], read_pcap(out("fault.pcap"))[1]))
        self.assertEqual(changed, len(faults))
        self.assertEqual((doc["icrc"]["bad"], doc["icrc"]["ok"]), (0, self.clean["icrc"]["ok"]))

    def test_marks_and_damage(self):
        faults, doc = self.run_fault("--ce", "10%", "--bad-icrc", "5%")
        kinds = [f["type"] for f in faults]
        self.assertEqual(total(doc, "ce"), kinds.count("ce"))
        self.assertEqual(doc["icrc"]["bad"], kinds.count("bad_icrc"))

    def test_drops_and_copies(self):
        faults, doc = self.run_fault("--drop", "3%", "--dup", "3%")
        kinds = [f["type"] for f in faults]
        self.assertEqual(doc["capture"]["packets"],
                         self.clean["capture"]["packets"] - kinds.count("drop") + kinds.count("dup"))

    def test_exact_places(self):
        flow = max(self.clean["flows"], key=lambda f: f["messages"]["write"]["started"])
        place = f"{flow['dest_qp']}:{flow['first_psn']}"
        faults, doc = self.run_fault("--drop", place)
        self.assertEqual([(f["qpn"], f["psn"], f["iter"]) for f in faults], [(flow["dest_qp"], flow["first_psn"], 1)])
        self.assertEqual(doc["capture"]["packets"], self.clean["capture"]["packets"] - 1)

    def test_event_file(self):
        """The published form: under traffic, numbers from 0, psn of packets with data."""
        out("events.yml").write_text("traffic:\n  num-qps: 1\n  data-pkt-events:\n"
                                     "    - {qpn: 0, psn: 0, type: ecn, iter: 1}\n"
                                     "    - qpn: 0\n      psn: 1\n      type: drop\n      iter: 1\n"
                                     "    - {qpn: 0, psn: 2, type: corrupt, iter: 1}\n")
        path = SOURCE / "pcaps" / "loss5_egress_send.pcap"
        clean = stat(path)
        play("-q", "-w", out("ev.pcap"), "--events", out("events.yml"), "--truth", out("truth.json"), path)
        faults = json.loads(out("truth.json").read_text())["faults"]
        first = clean["flows"][0]["first_psn"]
        self.assertEqual([(f["type"], f["psn"] - first) for f in faults], [("ce", 0), ("drop", 1), ("bad_icrc", 2)])
        doc = stat(out("ev.pcap"))
        self.assertEqual((total(doc, "ce"), doc["icrc"]["bad"]), (1, 1))
        self.assertEqual(doc["capture"]["packets"], clean["capture"]["packets"] - 1)

    def test_iterations(self):
        """iter counts how often the PSNs of a QP began again: the resent frame is in the second."""
        frames, qp = [], 0x77
        ip = (V4["a"], V4["b"])
        for psn in (5, 6, 7, 8, 6, 7, 8, 9):
            frames.append(ETH + b"\x08\x00" + rocev2(*ip, bth(0x04, qp, psn) + b"data"))
        write_pcap(out("iter_in.pcap"), frames)
        for iteration, left in ((1, frames[:2] + frames[3:]), (2, frames[:5] + frames[6:]), (3, frames)):
            out("events.yml").write_text(f"- {{qpn: {qp}, psn: 7, type: drop, iter: {iteration}, absolute: true}}\n")
            play("-q", "-w", out("iter.pcap"), "--events", out("events.yml"), out("iter_in.pcap"))
            self.assertEqual([f[2] for f in read_pcap(out("iter.pcap"))[1]], left)
        out("events.yml").write_text(f"- {{qpn: {qp}, psn: all, type: drop, iter: 2, absolute: true}}\n")
        play("-q", "-w", out("iter.pcap"), "--events", out("events.yml"), out("iter_in.pcap"))
        self.assertEqual([f[2] for f in read_pcap(out("iter.pcap"))[1]], frames[:4])

    def test_event_file_mistakes(self):
        for text, word in (("- {qpn: 0, psn: 0, type: explode}", "type is none"), ("- {psn: 0, type: drop}", "qpn"),
                           ("- {qpn: 0, psn: -1, type: drop}", "psn"), ("- {qpn: 0, psn: 1, type: drop, iter: 0}", "iter"),
                           ("- {qpn: 0, psn: 1, type: drop, when: now}", "field"),
                           ("a: [", "line"), ("- {qpn: 0, psn: 1, type: nak, nak: odd}", "fault"), ("text", "no list")):
            out("events.yml").write_text(text + "\n")
            with self.subTest(text=text):
                done = play("-w", out("x.pcap"), "--events", out("events.yml"), self.capture, status=2)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocereplay", required=True)
    parser.add_argument("--rocestat", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    arguments, rest = parser.parse_known_args()
    REPLAY, STAT = os.path.abspath(arguments.rocereplay), os.path.abspath(arguments.rocestat)
    WORK = arguments.work.resolve()
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0]] + rest)
