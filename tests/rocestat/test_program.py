#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What golden files cannot show of rocestat: threads, CSV, time series, limits, pipes, signals, saved counters."""
import csv
import gzip
import io
import os
import random
import re
import signal
import struct
import subprocess
import unittest

import common
from common import CAPTURES, SOURCE, json_of, rocestat

ALL = ["--findings", "--connections", "--flows", "--hosts", "--pfc", "--messages", "--events", "--link-speed=100G"]
INTERVAL_KEYS = ["packets", "bytes", "payload_bytes", "requests", "responses", "acks", "rnr_naks", "cnps", "ect", "ce",
                 "gap_events", "gap_psns", "retransmitted", "retransmitted_dup", "retransmitted_fill",
                 "read_response_dup", "read_response_gap_events"]


def pcaps(name):
    return SOURCE / "pcaps" / name


def pcap_frames(path):
    """(header, [record]) of a little-endian pcap file"""
    data, at, frames = path.read_bytes(), 24, []
    while at < len(data):
        n = struct.unpack("<I", data[at + 8:at + 12])[0]
        frames.append(data[at:at + 16 + n])
        at += 16 + n
    return data[:24], frames


class Jobs(unittest.TestCase):
    """The result does not depend on the number of threads."""

    def same(self, *args, stdin=None, several=(2, 4)):
        want = rocestat(*args, stdin=stdin).stdout
        for jobs in several:
            self.assertEqual(rocestat("--jobs", jobs, *args, stdin=stdin).stdout, want)

    def test_every_capture(self):
        for capture in CAPTURES():
            with self.subTest(capture=capture.name):
                self.same("--ndjson", *ALL, "--interval=100ms", capture, several=(4,))
                self.same(*ALL, capture, several=(2,))

    def test_streams_and_selection(self):
        data = pcaps("loss5_egress_send.pcap").read_bytes()
        self.same("--json", "-", stdin=gzip.compress(data))
        self.same("--json", "-c", "100", "-", stdin=data)
        self.same("--json", "-s", "100", "-Y", "psn > 100", pcaps("loss5_egress_send.pcap"), "udp")

    def test_long_capture(self):
        """Many batches: all captures with the same link type behind each other, some times."""
        header, frames = pcap_frames(pcaps("rc_all_ops.pcap"))
        for name in ("loss5_egress_read", "rc_rnr_then_ok", "reorder_egress", "nvme_rdma", "dup_egress"):
            frames += pcap_frames(pcaps(f"{name}.pcap"))[1]
        long = common.WORK / "long.pcap"
        long.write_bytes(header + b"".join(frames * 20))
        self.same("--ndjson", *ALL, long)
        self.same("--json", "--max-flows", "5", long)

    def test_ends_early(self):
        """Threads that have just begun to wait for more frames hear that no more are wanted."""
        header, frames = pcap_frames(pcaps("rc_all_ops.pcap"))
        long = common.WORK / "early.pcap"
        long.write_bytes(header + b"".join(frames * (100000 // len(frames))))
        for count in range(3000, 15000, 200):
            self.assertEqual(json_of("--jobs", 3, "--json", "-c", count, long)["capture"]["packets"], count)

    def test_cut_short(self):
        header, frames = pcap_frames(pcaps("nvme_rdma.pcap"))
        cut = common.WORK / "cut.pcap"
        cut.write_bytes(header + b"".join(frames * 10)[:-5])
        want = rocestat("--json", cut, status=1)
        self.assertTrue(common.parse(want.stdout.decode())["capture"]["cut_short"])
        for jobs in (2, 3):
            done = rocestat("--json", "--jobs", jobs, cut, status=1)
            self.assertEqual((done.stdout, done.stderr), (want.stdout, want.stderr))
        self.assertEqual(want.stderr.count(b"\n"), 1)


class Csv(unittest.TestCase):
    def table(self, name, capture):
        text = rocestat("--csv", name, capture).stdout.decode()
        rows = list(csv.reader(io.StringIO(text)))
        self.assertTrue(all(len(r) == len(rows[0]) for r in rows))
        self.assertEqual(len(set(rows[0])), len(rows[0]))
        return [dict(zip(rows[0], r)) for r in rows[1:]]

    def compare(self, row, record, path=""):
        for key, value in record.items():
            name = path + key
            if name == "opcodes":
                value = " ".join(f"{k}:{v}" for k, v in value.items())
            if isinstance(value, dict):
                self.compare(row, value, name + ".")
            elif isinstance(value, list):
                self.assertEqual(row[name], " ".join(map(str, value)))
            elif value is None:
                inside = [k for k in row if k == name or k.startswith(name + ".")]
                self.assertGreater(len(inside), 0)
                self.assertTrue(all(row[k] == "" for k in inside))
            elif isinstance(value, bool):
                self.assertEqual(row[name], str(value).lower())
            elif isinstance(value, str):
                self.assertEqual(row[name], value)
            else:
                self.assertEqual(float(row[name]), float(value))

    def test_tables_hold_what_json_holds(self):
        for capture in CAPTURES():
            doc = json_of("--json", *ALL[:-1], capture)
            for name in ("flows", "connections", "events"):
                with self.subTest(capture=capture.name, table=name):
                    rows = self.table(name, capture)
                    self.assertEqual(len(rows), len(doc[name]))
                    for row, record in zip(rows, doc[name]):
                        self.compare(row, record)
            rows = self.table("messages", capture)
            self.assertEqual(len(rows), len(doc["messages"]))

    def test_limit_and_order(self):
        rows = list(csv.DictReader(io.StringIO(
            rocestat("--csv", "flows", "--sort", "bytes", "--top", "2", pcaps("nvme_rdma.pcap")).stdout.decode())))
        every = self.table("flows", pcaps("nvme_rdma.pcap"))
        largest = sorted((int(r["bytes"]) for r in every), reverse=True)[:2]
        self.assertEqual([int(r["bytes"]) for r in rows], largest)


class Series(unittest.TestCase):
    def test_intervals_sum_up_to_the_flows(self):
        for name in ("loss5_egress_send", "loss5_egress_read", "rc_rnr_then_ok", "ecn_ce", "rc_all_ops", "nvme_rdma",
                     "uc_ops", "loss_acks_nth5"):
            with self.subTest(capture=name):
                doc = json_of("--json", "--interval=50ms", "--flows", pcaps(f"{name}.pcap"))
                for key in INTERVAL_KEYS:
                    want = sum(f[key] or 0 for f in doc["flows"])
                    self.assertEqual(sum(i[key] for i in doc["intervals"]), want, key)
                    inner = sum(f[key] for i in doc["intervals"] for f in i["flows"])
                    self.assertEqual(inner, want, key)
                naks = sum(sum(f["naks"].values()) for f in doc["flows"])
                self.assertEqual(sum(i["naks"] for i in doc["intervals"]), naks)
                self.assertEqual(sum(i["frames"] for i in doc["intervals"]), doc["capture"]["packets"])

    def test_bounds(self):
        doc = json_of("--json", "--interval=50ms", pcaps("rc_rnr_then_ok.pcap"))
        starts = [i["start_ns"] for i in doc["intervals"]]
        first, last = doc["capture"]["first_ts_ns"], doc["capture"]["last_ts_ns"]
        self.assertEqual(starts[0], first - first % 50_000_000)
        self.assertEqual(starts[-1], last - last % 50_000_000)
        self.assertTrue(all(b > a and (b - a) % 50_000_000 == 0 for a, b in zip(starts, starts[1:])))
        self.assertEqual([i["index"] for i in doc["intervals"]], [(s - starts[0]) // 50_000_000 for s in starts])


class Write(unittest.TestCase):
    CAPTURE = "loss5_egress_send.pcap"

    def test_all_frames(self):
        want = [f[16:] for f in pcap_frames(pcaps(self.CAPTURE))[1]]
        for jobs in (1, 3):
            path = common.WORK / "written.pcap"
            done = rocestat("--jobs", jobs, "-w", path, pcaps(self.CAPTURE))
            self.assertEqual(done.stdout, rocestat(pcaps(self.CAPTURE)).stdout)
            self.assertEqual([f[16:] for f in pcap_frames(path)[1]], want)

    def test_those_that_are_counted(self):
        """10 NAKs: pcaps/README.md."""
        path = common.WORK / "naks.pcap"
        rocestat("-w", path, "-Y", "aeth==nak", pcaps(self.CAPTURE))
        self.assertEqual(len(pcap_frames(path)[1]), 10)

    def test_places_that_do_not_do(self):
        path = common.WORK / "itself.pcap"
        path.write_bytes(pcaps(self.CAPTURE).read_bytes())
        for place, status, text in ((path, 2, "is the capture that is read"), ("-", 2, "name a file"),
                                    ("/nowhere/x", 1, "choose another place")):
            done = rocestat("-w", place, path, status=status)
            self.assertEqual(done.stdout, b"")
            self.assertIn(text, done.stderr.decode())
        self.assertEqual(path.read_bytes(), pcaps(self.CAPTURE).read_bytes())


class Limits(unittest.TestCase):
    def hostile(self, n):
        """Every packet opens another QP."""
        header, frames = pcap_frames(pcaps("rc_pingpong_1B.pcap"))
        packet = next(f for f in frames if f[16 + 12:16 + 14] == b"\x08\x00" and f[16 + 23] == 17)
        at = 16 + 14 + 20 + 8 + 5
        return header + b"".join(packet[:at] + struct.pack(">I", i)[1:] + packet[at + 3:] for i in range(2, n + 2))

    def test_new_qp_with_every_packet(self):
        path = common.WORK / "hostile.pcap"
        path.write_bytes(self.hostile(20000))
        doc = json_of("--json", "--max-flows", "1000", "--no-icrc", path)
        self.assertLessEqual(doc["table"]["flows"], 1000)
        self.assertEqual(doc["table"]["flows"] + doc["table"]["evicted"], 20000)
        text = rocestat("--max-flows", "1000", "--no-icrc", path).stdout.decode()
        self.assertIn(f"{doc['table']['evicted']} flows were evicted; raise --max-flows", text)

    def test_top_limits_every_list(self):
        doc = json_of("--json", *ALL, "--top=2", pcaps("nvme_rdma.pcap"))
        for key in ("flows", "connections", "messages", "events"):
            self.assertEqual(len(doc[key]), 2)
            self.assertGreater(doc[f"{key}_left_out"], 0)
        every = json_of("--json", *ALL, pcaps("nvme_rdma.pcap"))
        self.assertEqual(doc["messages"], every["messages"][:2])
        self.assertEqual(doc["events"], every["events"][:2])

    def test_mutated_captures_end_well(self):
        """Bytes are changed at random: never a crash, always whole JSON."""
        generator = random.Random(7)
        for name in ("loss5_egress_read", "rc_all_ops", "cm_rping"):
            header, frames = pcap_frames(pcaps(f"{name}.pcap"))
            for _ in range(15):
                mutated = []
                for frame in frames:
                    frame = bytearray(frame)
                    for _ in range(generator.choice((0, 0, 1, 3))):
                        frame[generator.randrange(16, len(frame))] = generator.randrange(256)
                    mutated.append(bytes(frame))
                data = header + b"".join(mutated)
                common.parse(rocestat("--json", *ALL, "-", stdin=data).stdout.decode())


class Saved(unittest.TestCase):
    """The guests of loss5_egress_send counted out_of_seq_request 10 on vm2 and rcvd_seq_err 6 on vm1."""

    def saved(self, text, host="192.168.77.3="):
        path = common.WORK / "saved.txt"
        path.write_text(text)
        doc = json_of("--json", "--hosts", "--diff-counters", f"{host}{path}", pcaps("loss5_egress_send.pcap"))
        return {h["addr"]: h["saved_counters"] for h in doc["hosts"]}

    def test_layouts(self):
        for text in ("out_of_sequence 10\nnp_cnp_sent 0\n", "     out_of_sequence: 10\n     np_cnp_sent: 0\n",
                     "link mlx5_0/1 rx_write_requests 0 out_of_sequence 10 np_cnp_sent 0 \n",
                     "/sys/class/infiniband/rxe0/ports/1/hw_counters/out_of_seq_request:10\nx/np_cnp_sent:0\n",
                     '[{"out_of_sequence":10,"np_cnp_sent":0}]'):
            with self.subTest(text=text):
                hosts = self.saved(text)
                self.assertEqual(hosts["192.168.77.3"]["out_of_sequence"], 10)
                self.assertEqual(hosts["192.168.77.3"]["np_cnp_sent"], 0)
                self.assertIsNone(hosts["192.168.77.3"]["packet_seq_err"])
                self.assertIsNone(hosts["192.168.77.2"])

    def test_two_snapshots_are_subtracted(self):
        hosts = self.saved("out_of_sequence 990\nnp_cnp_sent 7\nout_of_sequence 1000\nnp_cnp_sent 3\n")
        self.assertEqual(hosts["192.168.77.3"]["out_of_sequence"], 10)
        self.assertIsNone(hosts["192.168.77.3"]["np_cnp_sent"])

    def test_host_that_fits_best(self):
        hosts = self.saved("out_of_sequence 10\n", host="")
        self.assertIsNotNone(hosts["192.168.77.3"])
        hosts = self.saved("packet_seq_err 10\n", host="")
        self.assertIsNotNone(hosts["192.168.77.2"])

    def test_difference_is_shown(self):
        path = common.WORK / "saved.txt"
        path.write_text("packet_seq_err 6\n")
        text = rocestat("--hosts", "--diff-counters", f"192.168.77.2={path}",
                        pcaps("loss5_egress_send.pcap")).stdout.decode()
        self.assertRegex(text, r"packet_seq_err +10 +6  differs\n")

    def test_unknown_host(self):
        path = common.WORK / "saved.txt"
        path.write_text("packet_seq_err 6\n")
        done = rocestat("--hosts", "--diff-counters", f"10.9.8.7={path}", pcaps("uc_ops.pcap"))
        self.assertIn(b"no host of that address in the capture", done.stderr)


class Text(unittest.TestCase):
    def test_80_columns(self):
        for capture in CAPTURES():
            for line in rocestat(*ALL, "--interval=100ms", capture).stdout.decode().splitlines():
                self.assertLessEqual(len(line), 80, capture.name)
                self.assertEqual(line, line.rstrip(), capture.name)
        for line in rocestat("--help").stdout.decode().splitlines():
            self.assertLessEqual(len(line), 80)

    def test_verdict_comes_first_and_alone_with_q(self):
        for capture in CAPTURES():
            brief = rocestat("-q", capture).stdout
            self.assertTrue(rocestat(capture).stdout.startswith(brief))
            verdict = json_of("--json", capture)["verdict"]
            self.assertEqual(" ".join(brief.decode().split()), " ".join(verdict.split()))

    def test_colour_changes_nothing_else(self):
        plain = rocestat(pcaps("rc_rnr_then_ok.pcap")).stdout
        colour = rocestat("--color=always", pcaps("rc_rnr_then_ok.pcap")).stdout
        self.assertNotEqual(plain, colour)
        self.assertEqual(re.sub(rb"\x1b\[\d+m", b"", colour), plain)

    def test_summary(self):
        error = rocestat("-v", "-q", pcaps("uc_ops.pcap")).stderr.decode()
        self.assertRegex(error, r"^rocestat: 33 packets read, 33 counted; flows 1, connections 0, evicted 0; "
                                r"\d+ bytes of state, at most \d+ a flow; 0 dropped by the capturer\n$")


class Streams(unittest.TestCase):
    def setUp(self):
        self.data = pcaps("rc_all_ops.pcap").read_bytes()

    def test_standard_input_plain_and_gzip(self):
        want = json_of("--json", pcaps("rc_all_ops.pcap"))
        for data in (self.data, gzip.compress(self.data)):
            doc = json_of("--json", "-", stdin=data)
            self.assertEqual(doc["capture"].pop("file"), "-")
            self.assertEqual(doc, want | {"capture": doc["capture"]})

    def test_closed_pipe_is_quiet(self):
        for args in (["--csv", "messages"], ["--json"], []):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([common.PROGRAM, *args, pcaps("rc_all_ops.pcap")], stdout=write,
                                  stderr=subprocess.PIPE, timeout=60)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([common.PROGRAM, pcaps("rc_all_ops.pcap")], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output: No space left on device", done.stderr)

    def start(self, *args):
        """Gives the program more than a pipe holds: when that is written, it has been reading for a while."""
        done = subprocess.Popen([common.PROGRAM, *args, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        header, frames = pcap_frames(pcaps("rc_all_ops.pcap"))
        done.stdin.write(header + b"".join(frames) * 20)
        done.stdin.flush()
        return done, frames

    def test_interrupt_prints_the_report_so_far(self):
        for jobs in ("1", "3"):
            done, frames = self.start("--json", "--jobs", jobs)
            # The answer comes with the next packets.
            done.send_signal(signal.SIGUSR1)
            done.stdin.write(b"".join(frames))
            done.stdin.flush()
            line = done.stderr.readline().decode()
            self.assertRegex(line,
                             r"^rocestat: \d+ packets captured, \d+ processed, \d+ dropped by the capturer\n$")
            done.send_signal(signal.SIGINT)
            text, error = done.communicate(timeout=60)
            self.assertEqual((done.returncode, error), (0, b""))
            packets = common.parse(text.decode())["capture"]["packets"]
            self.assertGreaterEqual(packets, int(line.split()[1]))
            self.assertLessEqual(packets, 21 * len(frames))


if __name__ == "__main__":
    common.main()
