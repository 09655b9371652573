#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocereplay without a network: help, mistakes, and files that gen writes, read back by tshark and rocestat."""
import contextlib
import json
import os
import re
import signal
import subprocess
import time
import unittest

import common
from common import rocestat, run, tshark

PATIENCE = 20


def gen(name, *args, status=0):
    """(file, JSON result, truth) of a run into a file"""
    path, truth = common.WORK / name, common.WORK / (name + ".json")
    done = run("gen", "-w", path, "--json", "--truth", truth, "--seed", "7", *args, status=status)
    return path, json.loads(done.stdout), json.loads(truth.read_text())


def findings(report):
    return [f["kind"] for f in report["findings"] if f["severity"] in ("error", "warning")]


class Words(unittest.TestCase):
    """--help, --version and one line for each mistake."""

    def test_help_has_80_columns(self):
        for args in (["--help"], ["gen", "--help"], ["serve", "--help"], ["peers", "--help"], ["peers"]):
            lines = run(*args).stdout.splitlines()
            self.assertGreater(len(lines), 3)
            self.assertLessEqual(max(map(len, lines)), 80, args)

    def test_version(self):
        for args in (["--version"], ["gen", "--version"], ["serve", "--version"], ["peers", "--version"]):
            self.assertRegex(run(*args).stdout, r"^rocereplay[ a-z]* \d+\.\d+\.\d+\n$")

    def test_peers_json(self):
        peers = json.loads(run("peers", "--json").stdout)
        self.assertEqual(peers["schema"], "rocereplay-peers/1")
        self.assertIn("ibv_rc_pingpong", [p["program"] for p in peers["peers"]])

    def test_mistakes(self):
        mistakes = {
            (): "no command",
            ("fly",): "unknown command 'fly'",
            ("gen", "--op", "erase"): "'erase' is none of",
            ("gen", "--mtu", "1500"): "1500 is no path MTU",
            ("gen", "--vlan", "4095"): "'4095' is not a VLAN",
            ("gen", "--vlan", "5:8"): "'5:8' is not a VLAN",
            ("gen", "--tclass", "256"): "'256' is not a number from 0 to 255",
            ("gen", "--retry-cnt", "8"): "'8' is not a number from 0 to 7",
            ("gen", "--drop", "5"): "'5' is not a fault",
            ("gen", "--delay", "1%"): "'1%' is not a fault",
            ("gen", "--duration", "5"): "'5' is not a time",
            ("gen", "--connect", "telnet:h", "-i", "x"): "'telnet:h' is not HOW:HOST",
            ("gen", "--connect", "pingpong:h:0", "-i", "x"): "",
            ("gen", "--connect", "pingpong:[::1", "-i", "x"): "is not HOW:HOST",
            ("gen", "--connect", "perftest:fd77::2:5", "-i", "x"): "an IPv6 address stands in brackets: perftest:[fd77::2:5]",
            ("gen", "--connect", "pingpong:h", "-R", "-i", "x"): "--rdma-cm, --com-rdma-cm: ways of perftest",
            ("gen", "--connect", "perftest:h", "-R", "--service", "uc", "--op", "send", "-i", "x"): "perftest has no UC over it",
            ("gen", "--connect", "perftest:h", "-R", "--service", "ud", "--op", "send", "--latency", "-i", "x"): "UD goes one way",
            ("gen", "--srq"): "--srq: a way of pingpong over rc",
            ("serve", "-i", "lo", "--accept", "pingpong", "--srq", "--service", "ud"): "--srq: a way of pingpong over rc",
            ("gen", "--connect", "pingpong:h", "--srq", "--verify", "-i", "x"): "share one buffer; leave --verify out",
            ("gen", "--connect", "pingpong:h", "--srq", "--qp", "257", "-i", "x"): "257",
            ("gen", "-a"): "--all: a way of perftest",
            ("gen", "--connect", "perftest:h", "-a", "--size", "5", "-i", "x"): "--all: leave --latency",
            ("gen", "--connect", "pingpong:h"): "needs an interface",
            ("gen", "-i", "lo"): "no peer on lo",
            ("gen", "--qpn", "1"): "needs -i, --peer-ip and --qpn",
            ("gen", "--service", "ud", "--op", "send", "--size", "1025"): "a UD message is one packet",
            ("gen", "--service", "uc", "--op", "read"): "UC does send and write",
            ("gen", "--size", "2G"): "'2G' is not a size in bytes",
            ("gen", "--inline", "--size", "257"): "at most 256 bytes",
            ("gen", "extra"): "'extra' is not an option",
            ("serve",): "no interface",
            ("serve", "-i", "lo", "--accept", "smtp"): "'smtp' is none of",
            ("peers", "x"): "'x' is not an option",
            ("play", "--loop", "99999999999999999999", "x"): "'99999999999999999999' is not a number of passes",
            ("play",): "no capture; name a file",
            ("play", "-r", "x", "x"): "more than one capture",
            ("play", "--loop", "-1", "x"): "'-1' is not a number of passes",
            ("play", "--duration", " 5", "x"): "' 5' is not a time",
            ("play", "--duration", "0x5", "x"): "'0x5' is not a time",
            ("play", "--pps", "nan", "x"): "'nan' is not a number above 0",
            ("play", "--raw", "--host", "10.0.0.1", "-w", "x.pcap", "x"): "leave it out with --raw",
        }
        for args, text in mistakes.items():
            done = run(*args, status=2)
            self.assertEqual(done.stdout, "")
            self.assertIn(text, done.stderr)
            if text:
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("rocereplay: ") or not text)

    def test_capture_by_option(self):
        capture = str(common.pathlib.Path(__file__).resolve().parent.parent.parent / "pcaps" / "rc_pingpong_1B.pcap")
        written = []
        for words in ((capture,), ("-r", capture), (f"--read={capture}",)):
            run("play", "--raw", "-t", "-w", common.WORK / "again.pcap", *words)
            written.append((common.WORK / "again.pcap").read_bytes())
        self.assertEqual(len(set(written)), 1)

    def test_failures(self):
        failures = {
            ("gen", "-w", "/nowhere/x.pcap"): "/nowhere/x.pcap: No such file or directory; check",
            ("serve", "-i", "no-such-iface"): "no-such-iface: no such interface; ip link lists them",
            ("gen", "--truth", "/nowhere/x.json", "-n", "1"): "/nowhere/x.json: No such file",
        }
        for args, text in failures.items():
            done = run(*args, status=1)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Files(unittest.TestCase):
    """A run into a file is a capture without fault, and says the same as the run."""

    def check(self, name, *args, messages=50, kind=None):
        path, result, truth = gen(name, "--verify", "-n", messages, *args)
        self.assertEqual(result["status"], "success")
        self.assertEqual(result["mismatches"], 0)
        self.assertEqual(result["peer_report"]["mismatches"], 0)
        self.assertEqual(result["sent"]["messages"], messages * result["qps"])
        report = rocestat(path)
        self.assertEqual(findings(report), [])
        self.assertEqual(report["icrc"]["bad"], 0)
        self.assertEqual(report["icrc"]["ok"], report["capture"]["packets"])
        self.assertEqual(report["capture"]["packets"], truth["device"]["tx_packets"] + truth["device"]["rx_packets"])
        if kind:
            self.assertEqual(sum(f["messages"][kind]["started"] for f in report["flows"]), messages * result["qps"])
        return path, result, report

    def test_each_operation(self):
        for op, kind in (("send", "send"), ("send_imm", "send"), ("write", "write"), ("write_imm", "write"),
                         ("read", "read"), ("cas", "atomic"), ("fadd", "atomic"), ("atomic_write", "atomic_write")):
            with self.subTest(op=op):
                self.check(f"{op}.pcap", "--op", op, "--size", "5000", kind=kind)

    def test_sizes_and_mtus(self):
        for mtu in (256, 512, 1024, 2048, 4096):
            for size in (0, 1, mtu - 1, mtu, mtu + 1, 3 * mtu + 2):
                with self.subTest(mtu=mtu, size=size):
                    self.check("sizes.pcap", "--op", "send", "--mtu", mtu, "--size", size, messages=5, kind="send")

    def test_services(self):
        for service in ("uc", "ud"):
            with self.subTest(service=service):
                self.check(f"{service}.pcap", "--op", "send", "--service", service, "--size", "900", kind="send")

    def test_many_qps_both_ways(self):
        path, result, report = self.check("many.pcapng", "--op", "send", "--qp", "8", "--bidirectional", messages=20)
        self.assertEqual(result["received"], 160)
        self.assertEqual(len(report["connections"]), 8)

    def test_tshark_agrees(self):
        path, result, _ = self.check("tshark.pcap", "--op", "write", "--size", "3000", "--vlan", "100:3",
                                     "--tclass", "106", "--sport", "50000", "--ttl", "9", "--own-psn", "0xfffffe")
        rows = tshark(path, "vlan.id", "vlan.priority", "ip.dsfield", "udp.srcport", "ip.ttl", "infiniband.bth.opcode",
                      "infiniband.bth.psn", display="ip.src==192.0.2.1")
        self.assertTrue(all(row[:5] == ["100", "3", "0x6a", "50000", "9"] for row in rows), rows[0])
        # WRITE First, Middle, Last, then the READ that checks it, whose answers take three PSNs too
        self.assertEqual([row[5] for row in rows[:4]], ["6", "7", "8", "12"])
        self.assertEqual([int(row[6]) for row in rows[:5]], [0xfffffe, 0xffffff, 0, 1, 4])
        malformed = tshark(path, "frame.number", display="_ws.malformed || ip.checksum.status == 0")
        self.assertEqual(malformed, [])

    def test_same_seed_same_bytes(self):
        args = ("--qp", "3", "-n", "50", "--drop", "1%", "--delay", "2%@20us", "--fault-dir", "both")
        first = gen("first.pcap", *args)[0].read_bytes()
        self.assertEqual(first, gen("second.pcap", *args)[0].read_bytes())
        path = common.WORK / "other.pcap"
        run("gen", "-w", path, "--seed", "8", *args)
        self.assertNotEqual(first, path.read_bytes())

    def test_rate_limit(self):
        """At 1 Gb/s a million bits of payload and more take a millisecond and more."""
        for extra in ([], ["--burst-size", "4"], ["--service", "ud", "--op", "send"]):
            _, result, _ = gen("rate.pcap", "--rate-limit", "1G", "--size", "1000", "-n", "1250", *extra)
            self.assertGreater(result["sent"]["seconds"], 0.0095)
            self.assertLess(result["sent"]["seconds"], 0.013)

    def test_duration(self):
        _, result, _ = gen("duration.pcap", "--duration", "2ms", "--size", "4096")
        self.assertGreater(result["sent"]["seconds"], 0.0019)
        self.assertLess(result["sent"]["seconds"], 0.0022)


class Faults(unittest.TestCase):
    """Faults are in the file where the truth says, and the contents survive them."""

    def test_drop_is_missing_in_the_file(self):
        path, result, truth = gen("drop.pcap", "--verify", "--op", "send", "--size", "4096", "-n", "100", "--drop",
                                  "#1:+5,#1:+77,#1:+77:2")
        self.assertEqual([(f["type"], f["iter"]) for f in truth["faults"]], [("drop", 1), ("drop", 1), ("drop", 2)])
        first = truth["qps"][0]["starting_psn"]
        self.assertEqual([(f["psn"] - first) % 2**24 for f in truth["faults"]], [5, 77, 77])
        self.assertEqual(truth["qps"][0]["naks_received"], 2)
        self.assertEqual(truth["qps"][0]["timeouts"], 1) # for the second loss of one frame
        sent = [int(row[0]) for row in tshark(path, "infiniband.bth.psn", display="ip.src==192.0.2.1")]
        self.assertEqual(sent.count((first + 5) % 2**24), 1) # only as a retransmission
        self.assertEqual(sent.count((first + 77) % 2**24), 1)
        report = rocestat(path)
        self.assertEqual(report["icrc"]["bad"], 0)
        self.assertIn("loss.network", findings(report))

    def test_bad_icrc_is_seen(self):
        path, result, truth = gen("bad.pcap", "--verify", "--op", "write", "-n", "50", "--bad-icrc", "1%")
        self.assertGreater(result["faults"]["bad_icrc"], 5)
        self.assertEqual(rocestat(path)["icrc"]["bad"], result["faults"]["bad_icrc"])
        self.assertEqual(result["mismatches"], 0)

    def test_ce_makes_cnps(self):
        path, result, truth = gen("ce.pcap", "--tclass", "2", "--op", "write", "-n", "50", "--ce", "2%")
        marked = tshark(path, "frame.number", display="ip.dsfield.ecn == 3")
        self.assertEqual(len(marked), result["faults"]["ce"])
        self.assertGreater(result["cnps_received"], 0)
        self.assertEqual(len(tshark(path, "frame.number", display="infiniband.bth.opcode == 0x81")),
                         result["cnps_received"])

    def test_evidence_names_its_cases(self):
        """tshark reads the case and its verdict at the first frame of each."""
        path = common.WORK / "evidence.pcapng"
        report = json.loads(run("check", "--json", "--only", "nak,dup,retry.count", "-w", path).stdout)
        want = [(str(case["first_frame"]), f"{case['id']}: {case['verdict']}") for case in report["cases"]]
        found = [(frame, comment) for frame, comment in tshark(path, "frame.number", "frame.comment", display="frame.comment")]
        self.assertEqual([(frame, ": ".join(comment.split(": ")[:2])) for frame, comment in found], want)
        self.assertEqual(int(tshark(path, "frame.number")[-1][0]), report["cases"][-1]["last_frame"])

    def test_a_mark_is_no_mark_on_what_is_added(self):
        """A frame that is marked and followed by a made CNP: the mark is its own, as the truth says."""
        for direction in ("tx", "rx"):
            path, result, truth = gen("mark.pcap", "--tclass", "2", "--op", "write", "-n", "20", "--ce", "#1:+63", "--cnp", "#1:+63",
                                      "--fault-dir", direction)
            self.assertEqual(sorted(f["type"] for f in truth["faults"]), ["ce", "cnp"])
            self.assertEqual(len(tshark(path, "frame.number", display="infiniband.bth.opcode == 0x81 && ip.dsfield.ecn == 3")), 0)

    def test_contents_survive_everything(self):
        for op in ("send", "write", "read", "fadd", "cas"):
            for seed in range(3):
                with self.subTest(op=op, seed=seed):
                    _, result, _ = gen("all.pcap", "--seed", seed, "--verify", "--op", op, "--size", "3000", "-n", "200",
                                       "--qp", "2", "--drop", "1%", "--dup", "1%", "--reorder", "1%", "--bad-icrc", "1%",
                                       "--delay", "1%@50us", "--fault-dir", "both")
                    self.assertEqual(result["status"], "success")
                    self.assertEqual(result["mismatches"] + result["peer_report"]["mismatches"], 0)
                    self.assertEqual(result["sent"]["messages"], 400)

    def test_nothing_comes_through(self):
        done = run("gen", "-w", common.WORK / "dead.pcap", "--seed", "1", "--drop", "100%", "--timeout", "8",
                   "--retry-cnt", "2", "-n", "1", "--size", "100", status=1)
        self.assertRegex(done.stderr, r"^rocereplay: QP 0x[0-9a-f]+: .*retr.*; the peer did not answer")
        # 4.096 us * 2^8 = 1.05 ms, three times
        self.assertEqual(done.stderr.count("\n"), 1)


class InProcess(unittest.TestCase):
    def test_loopback_on_the_clock(self):
        result = json.loads(run("gen", "--json", "--op", "send", "--size", "64", "-n", "2000", "--verify").stdout)
        self.assertEqual(result["sent"]["messages"], 2000)
        self.assertEqual(result["mismatches"], 0)
        self.assertGreater(result["sent"]["latency_us"]["min"], 0)
        self.assertLessEqual(result["sent"]["latency_us"]["typical"], result["sent"]["latency_us"]["p99"])

    def test_text(self):
        text = run("gen", "-n", "10").stdout
        self.assertIn("BW average[Gb/s]", text)
        self.assertIn("t_typical[usec]", text)
        self.assertIn("retransmitted 0", text)
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()))

    def test_closed_output(self):
        done = subprocess.run(f"{common.BIN}/rocereplay gen -n 1 > /dev/full", shell=True, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)


class StandardFiles(unittest.TestCase):
    WORDS = ("rocedump --help", "rocedump --version", "rocedump -D", "rocedump --list-fields", "rocedump --check-filter qp",
             "rocestat --help", "rocetop --help", "rocetop --dump-config", "rocetop --sort=help", "rocereplay --help",
             "rocereplay gen --help", "rocereplay peers", "rocereplay peers --json", "rocereplay check --list",
             "rocereplay gen -n 1", "rocereplay gen -n 1 --json", "rocesim --help", "rocesim --list")

    def shell(self, words):
        return subprocess.run(f"{common.BIN}/{words}", shell=True, capture_output=True, text=True, timeout=60, env=common.ENV)

    def test_full_device(self):
        for words in self.WORDS:
            with self.subTest(words=words):
                done = self.shell(words + " >/dev/full")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"^roce\w+: standard output: No space left on device[^\n]*\n$")

    def test_reader_that_goes_away(self):
        for words in self.WORDS:
            with self.subTest(words=words):
                self.assertEqual(self.shell(words + " | true").stderr, "")

    def test_captures_do_not_take_their_places(self):
        """A standard file that is closed is no capture's: not a byte of text in it."""
        whole, other = common.WORK / "whole.pcap", common.WORK / "other.pcap"
        words = "rocereplay gen -n 3 --seed 5 -w"
        self.assertEqual(self.shell(f"{words} {whole}").returncode, 0)
        for closed, status in ((">&-", 1), ("2>&-", 0), ("<&-", 0), ("<&- >&- 2>&-", 1)):
            with self.subTest(closed=closed):
                self.assertEqual(self.shell(f"{words} {other} {closed}").returncode, status)
                self.assertEqual(other.read_bytes(), whole.read_bytes())


class Signals(unittest.TestCase):
    """Whatever a program waits for, it can be ended."""
    CAPTURE = common.pathlib.Path(__file__).resolve().parent.parent.parent / "pcaps" / "loss5_egress_send.pcap"

    def start(self, *words, **how):
        """Starts a program; returns it once it has its handler of SIGINT."""
        process = subprocess.Popen([common.BIN / words[0], *map(str, words[1:])], stderr=subprocess.PIPE, text=True,
                                   env=common.ENV, **how)
        self.addCleanup(process.kill)
        status = common.pathlib.Path(f"/proc/{process.pid}/status")
        caught, deadline = 0, time.monotonic() + PATIENCE
        while not caught & 1 << signal.SIGINT - 1 and time.monotonic() < deadline:
            caught = int(re.search(r"SigCgt:\t(\w+)", status.read_text())[1], 16)
        return process

    def test_pipes_that_nobody_writes_to(self):
        fifo = common.WORK / "fifo"
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo)
        for words in (("rocedump",), ("rocestat",), ("rocestat", "--jobs=2"), ("rocetop", "--batch"), ("rocereplay", "play")):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(words=words, number=number):
                    process = self.start(*words, fifo, stdout=subprocess.DEVNULL)
                    process.send_signal(number)
                    _, said = process.communicate(timeout=PATIENCE)
                    self.assertEqual(process.returncode, 1)
                    self.assertEqual(said, f"{words[0]}: {fifo}: interrupted before a capture came\n")

    def test_output_that_nobody_reads(self):
        """The first signal waits for the output to go on, one that comes a second later does not."""
        reader, writer = os.pipe()
        process = self.start("rocedump", "-V", self.CAPTURE, stdout=writer)
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b" ")
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.1)
        process.stderr.close()
        os.close(reader)
        self.assertEqual(process.returncode, -signal.SIGINT)


if __name__ == "__main__":
    common.main()
