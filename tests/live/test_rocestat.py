# SPDX-License-Identifier: GPL-2.0-or-later
"""rocestat on interfaces: the same counts as from the file, intervals as they pass."""
import json
import signal
import subprocess
import unittest

import net

# What depends on the time between frames, which is another when they are sent by the test.
TIMED = ("latency", "retransmission_cause", "loss", "out_of_order", "first_ns", "last_ns", "ce_runs", "cnp", "rate")


def counts(report):
    flows = [{k: v for k, v in flow.items() if k not in TIMED} for flow in report["flows"]]
    capture = {k: v for k, v in report["capture"].items()
               if k not in ("file", "dropped", "first_ts_ns", "last_ts_ns")}
    return {"flows": flows, "capture": capture, "icrc": report["icrc"]}


class Live(net.Case):
    def check_same_as_file(self, name, *args, interface=lambda frame: "a0"):
        sent = net.frames(net.capture(name))
        program = self.start("rocestat", "--json", "-i", "b0", *args)
        for frame in sent:
            net.send([frame], interface(frame))
        net.until(lambda: program.counted() == len(sent), "all frames")
        report = json.loads(program.end())
        self.assertEqual(counts(report), counts(net.json_of(net.capture(name))))
        self.assertEqual(report["capture"]["dropped"], 0)
        self.assertIn(f"{len(sent)} packets captured, {len(sent)} counted, 0 dropped by the kernel", program.read())
        return report

    def test_counts_are_those_of_the_file(self):
        report = self.check_same_as_file("loss5_egress_send.pcap")
        self.assertEqual(report["capture"]["file"], "b0")

    def test_counts_do_not_depend_on_threads(self):
        self.check_same_as_file("loss5_egress_send.pcap", "--jobs", 3)

    def test_split_mirror_is_one_capture(self):
        report = self.check_same_as_file("ecn_ce.pcap", "-i", "b1",
                                         interface=lambda f: "a0" if f[6:12] < f[0:6] else "a1")
        self.assertEqual(report["capture"]["file"], "b0,b1")
        self.assertEqual(len(report["connections"]), len(net.json_of(net.capture("ecn_ce.pcap"))["connections"]))

    def test_text_report_at_the_end(self):
        sent = net.frames(net.capture("rc_all_ops.pcap"))
        program = self.start("rocestat", "-i", "b0")
        net.send(sent)
        net.until(lambda: program.counted() == len(sent), "all frames")
        report = program.end(how=signal.SIGTERM)
        self.assertTrue(report.startswith("clean: 79 RoCE packets"), report)
        self.assertIn("b0", report)

    def test_interval_ends_without_another_frame(self):
        sent = net.frames(net.capture("loss5_egress_send.pcap"))
        program = self.start("rocestat", "-i", "b0", "--ndjson", "--interval", "100ms")

        def intervals():
            lines = [json.loads(line) for line in program.read("out").splitlines(True) if line.endswith("\n")]
            return [line for line in lines if line["type"] == "interval"]
        net.send(sent)
        net.until(lambda: sum(i["frames"] for i in intervals()) == len(sent), "the intervals of all frames")
        first = len(intervals())
        net.send(sent[:7])
        net.until(lambda: len(intervals()) > first, "the interval behind a pause")
        self.assertEqual(sum(i["frames"] for i in intervals()[first:]), 7)
        self.assertGreater(intervals()[first]["index"], intervals()[first - 1]["index"])
        program.end()
        self.assertEqual(sum(i["frames"] for i in intervals()), len(sent) + 7)
        self.assertTrue(all(i["frames"] > 0 for i in intervals()))

    def test_merged_frames_are_said_once(self):
        net.ip("link", "set", "a1", "mtu", "1500")
        net.ip("link", "set", "b1", "mtu", "1500")
        self.addCleanup(net.ip, "link", "set", "a1", "mtu", "9000")
        self.addCleanup(net.ip, "link", "set", "b1", "mtu", "9000")
        program = self.start("rocestat", "-i", "b1")
        for _ in range(3):
            send_merged("a1")
        net.until(lambda: "ethtool" in program.read(), "a word on the offload")
        program.end()
        self.assertEqual(program.read().count("rocestat: b1: frames beyond its MTU of 1500 come: the receive"
                                              " offload"), 1)
        self.assertIn("ethtool -K b1 gro off lro off", program.read())

    def test_wrong_usage(self):
        def says(*args):
            done = subprocess.run([net.BIN / "rocestat", *args], capture_output=True, text=True, timeout=30)
            return done.returncode, done.stderr
        name = str(net.capture("cm_rping.pcap"))
        self.assertEqual(says("-r", name, "-i", "b0"), (2, "rocestat: -i and -r exclude each other; leave one out\n"))
        self.assertEqual(says("--listen", "9100", name)[0], 2)
        self.assertEqual(says("--textfile", "/tmp/x", name)[0], 2)
        self.assertEqual(says("-i", "b0", "--listen", "localhost")[0], 2)
        self.assertEqual(says("-i", "b0", "--listen", "127.0.0.1:99999")[0], 2)
        self.assertEqual(says("-i", "b0", "--listen", "::1:9100")[0], 2)
        self.assertEqual(says("-i", "b0", "--listen", "192.0.2.1:9100")[0], 1)


def send_merged(interface):
    """Three datagrams of 1,000 bytes as one frame, as the receive offload builds them: struct virtio_net_hdr with
    NEEDS_CSUM and VIRTIO_NET_HDR_GSO_UDP_L4 (5) in front of an IPv4 frame to UDP port 4791."""
    import socket
    import struct
    udp = struct.pack("!HHHH", 50000, 4791, 3008, 0)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 3028, 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    frame = bytes.fromhex("02000000000b02000000000a0800") + head + udp + bytes(3000)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.setsockopt(263, 15, 1)  # SOL_PACKET, PACKET_VNET_HDR
        s.bind((interface, 0))
        s.send(struct.pack("=BBHHHH", 1, 5, 42, 1000, 34, 6) + frame)


if __name__ == "__main__":
    net.main()
