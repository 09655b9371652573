#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gen and serve over a veth pair between two network namespaces of the test's own; needs root, skipped without."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import common
from common import rocestat, tshark

SKIPPED = 77
PATIENCE = 20
CM = {"req": 0x10, "rep": 0x13, "dreq": 0x15}  # attributes, IBTA 16.7.2
NAMES = [f"rocereplay-{os.getpid()}-{end}" for end in "ab"]
GEN, SERVE = "10.99.0.1", "10.99.0.2"


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True)


def network():
    """a (gen) and b (serve), MTU 4200; false where that cannot be had."""
    if os.geteuid() != 0:
        return False
    try:
        for name in NAMES:
            ip("netns", "add", name)
        ip("link", "add", "v0", "netns", NAMES[0], "type", "veth", "peer", "name", "v0", "netns", NAMES[1])
        ip("link", "add", "bare", "netns", NAMES[1], "type", "veth", "peer", "name", "erab", "netns", NAMES[1])
        ip("-n", NAMES[1], "link", "set", "bare", "up")
        ip("-n", NAMES[1], "addr", "flush", "dev", "bare")
        for i, name in enumerate(NAMES):
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "v0", "mtu", "4200", "up")
            ip("-n", name, "addr", "add", f"10.99.0.{i + 1}/24", "dev", "v0")
            ip("-n", name, "addr", "add", f"fd99::{i + 1}/64", "dev", "v0", "nodad")
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def remove():
    for name in NAMES:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def command(end, *args):
    return ["ip", "netns", "exec", NAMES[end], str(common.BIN / "rocereplay"), *map(str, args)]


def gen(*args, status=0):
    done = subprocess.run(command(0, "gen", "-i", "v0", "--json", *args), capture_output=True, timeout=60, text=True,
                          env=common.ENV)
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if done.stdout else done.stderr


class Serve:
    """rocereplay serve while the block runs; it has to end by itself, or by SIGINT, with |status|."""

    def __init__(self, *args, status=0, interrupt=False):
        self.args, self.status, self.interrupt = args, status, interrupt

    def __enter__(self):
        args = self.args if self.interrupt else ("--once", *self.args)
        self.process = subprocess.Popen(command(1, "serve", "-i", "v0", *args), stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True,
                                        env=common.ENV)
        self.first = self.process.stderr.readline()
        return self

    def __exit__(self, kind, value, trace):
        if self.interrupt or kind:
            self.process.send_signal(signal.SIGINT)
        try:
            _, self.said = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
        if not kind and self.process.returncode != self.status:
            raise AssertionError(f"serve: status {self.process.returncode}: {self.first}{self.said}")


class Runs(unittest.TestCase):
    def good(self, result, messages):
        self.assertEqual(result["status"], "success")
        self.assertEqual(result["mismatches"], 0)
        self.assertEqual(result["sent"]["messages"], messages)
        if "peer_report" in result:
            self.assertEqual(result["peer_report"]["mismatches"], 0)

    def test_each_operation(self):
        with Serve(interrupt=True):
            for op in ("send", "send_imm", "write", "write_imm", "read", "cas", "fadd", "atomic_write"):
                with self.subTest(op=op):
                    result = gen("--connect", f"rocereplay:{SERVE}", "--op", op, "--verify", "-n", 200, "--size", 5000)
                    self.good(result, 200)

    def test_paths(self):
        """Each way of sending, path MTU, both kinds of address, several QPs, both directions."""
        with Serve("--address", "fd99::2", interrupt=True):
            for args in (["--mtu", 4096], ["--tx", "ring"], ["--qp", 5], ["--bidirectional"], ["--busy-poll"]):
                with self.subTest(args=args):
                    result = gen("--connect", "rocereplay:[fd99::2]", "--op", "send", "--verify", "-n", 100, *args)
                    self.good(result, 100 * result["qps"])

    def test_tagged(self):
        """The kernel takes tags away on arrival: the port puts them back."""
        record = common.WORK / "tagged.pcap"
        for tx in ("auto", "ring"):
            with Serve("--vlan", "100:3", "--tx", tx):
                result = gen("--connect", f"rocereplay:{SERVE}", "--op", "read", "--verify", "-n", 20, "--vlan", "100:3",
                             "--tx", tx, "-w", record)
            self.good(result, 20)
            rows = tshark(record, "vlan.id", "vlan.priority")
            self.assertEqual({tuple(row) for row in rows}, {("100", "3")})

    def test_root_is_given_up(self):
        with Serve(interrupt=True) as serve:
            status = pathlib.Path(f"/proc/{serve.process.pid}/status").read_text()
            self.assertNotIn("\nUid:\t0", status)
            self.assertIn("\nCapEff:\t0000000000000000", status)
            self.assertIn("\nNoNewPrivs:\t1", status)
            self.good(gen("--connect", f"rocereplay:{SERVE}", "-n", 5), 5)

    def test_programs_exchanges(self):
        for accept, connect in (
                (["pingpong"], ["pingpong"]),
                (["pingpong", "--service", "uc"], ["pingpong", "--service", "uc"]),
                (["pingpong", "--service", "ud", "--size", 1024], ["pingpong", "--service", "ud", "--size", 1024]),
                (["perftest", "--op", "send"], ["perftest", "--op", "send"]),
                (["perftest", "--op", "write", "--qp", 2], ["perftest", "--op", "write", "--qp", 2]),
                (["perftest", "--op", "read"], ["perftest", "--op", "read"]),
                (["perftest", "--op", "atomic"], ["perftest", "--op", "fadd"]),
                (["perftest", "--op", "send", "--latency"], ["perftest", "--op", "send", "--latency"]),
                (["perftest", "--op", "write", "--latency"], ["perftest", "--op", "write", "--latency"]),
                (["perftest", "--op", "read", "--latency"], ["perftest", "--op", "read", "--latency"]),
                (["cm", "--app", "rping"], ["cm", "--app", "rping"]),
                (["cm", "--app", "echo"], ["cm", "--app", "echo"]),
                (["cm", "--app", "udaddy"], ["cm", "--app", "udaddy"]),
                (["cm"], ["cm", "--qp", 3, "--op", "send"]),
                (["cm"], ["cm", "--op", "read", "--verify"])):
            with self.subTest(accept=accept, connect=connect):
                with Serve("--accept", *accept, "-n", 200):
                    result = gen("--connect", f"{connect[0]}:{SERVE}", *connect[1:], "-n", 200)
                self.good(result, 200 * result["qps"])

    def test_pingpong_of_many(self):
        """The count is of all QPs together."""
        with Serve("--accept", "pingpong", "--srq", "--qp", 3, "-n", 200):
            result = gen("--connect", f"pingpong:{SERVE}", "--srq", "--qp", 3, "-n", 200)
        self.assertEqual(result["qps"], 3)
        self.assertEqual(result["received"], 200)

    def test_last_ack_of_a_pingpong_is_lost(self):
        # The server's three messages have PSNs 1000 to 1002, the client's 5000 to 5002: towards 0x77 there is 1002 in ACKs alone.
        lost = ",".join(f"0x77:1002:{i}" for i in range(1, 5))
        fixed = ("--timeout", 10, "-n", 3, "--size", 64)
        with Serve("--accept", "pingpong", "--own-qpn", "0x77", "--own-psn", 1000, "--retry-cnt", 2, "--drop", lost,
                   "--fault-dir", "rx", *fixed) as serve:
            result = gen("--connect", f"pingpong:{SERVE}", "--own-psn", 5000, "--op", "send", *fixed)
        self.assertEqual(result["received"], 3)
        self.assertIn("the last message was not acknowledged: the peer has gone", serve.said)

    def test_peer_without_receives(self):
        # The server has one receive: the second message is refused until the client loses patience.
        with Serve("--accept", "cm", "--app", "echo", "-n", 1, "--size", 64, interrupt=True):
            said = gen("--connect", f"cm:{SERVE}:7471", "--op", "send", "-n", 3, "--size", 64, status=1)
        self.assertIn("no message was taken for 5 s, after 1; does the peer post receives?", said)

    def test_perftest_by_cm(self):
        """One server tells TCP, -z and -R apart. With -R there is a connection request for each QP and one for the records,
        which alone travel by CM with -z; what they say is counted by tshark."""
        record = common.WORK / "perftest.pcap"
        with Serve("--accept", "perftest", "--op", "write", "--qp", 2, interrupt=True):
            for how, requests in ((["-z"], 1), ([], 0), (["-R"], 3)):
                with self.subTest(how=how):
                    result = gen("--connect", f"perftest:{SERVE}", "--op", "write", "--qp", 2, "-n", 50, "--rate-limit", "1G", *how, "-w", record)
                    self.good(result, 100)
                    self.assertLess(result["sent"]["bandwidth_bps"], 1e9)
                    seen = [int(row[0], 0) for row in tshark(record, "infiniband.mad.attributeid", display="infiniband.mad")]
                    for message in CM.values():
                        self.assertEqual(seen.count(message), requests, hex(message))
        with Serve("--accept", "perftest", "--op", "send", "--service", "ud"):
            result = gen("--connect", f"perftest:{SERVE}", "--op", "send", "--service", "ud", "-R", "-n", 50, "--rate-limit", "10M")
            self.good(result, 50)
            self.assertLess(result["sent"]["bandwidth_bps"], 1e7)
        with Serve("--accept", "cm"):
            result = gen("--connect", f"cm:{SERVE}", "--op", "send", "-n", 50, "--size", 1024, "--rate-limit", "10M")
            self.good(result, 50)
            self.assertLess(result["sent"]["bandwidth_bps"], 1e7)

    def test_path_mtu_of_the_peer_is_too_large(self):
        """By rdma_cm the peer decides: it is rejected with the reason of the standard, and both sides say why."""
        record = common.WORK / "mtu.pcap"
        for accept, connect in ((["cm"], [f"cm:{SERVE}", "--op", "send"]), (["perftest"], [f"perftest:{SERVE}", "-R", "--op", "send"])):
            with self.subTest(accept=accept):
                with Serve("--accept", *accept, "--mtu", 1024, interrupt=True) as server:
                    said = gen("--connect", *connect, "--mtu", 4096, "-n", 1, "-w", record, status=1)
                self.assertIn("the peer refuses the connection: invalid path MTU", said)
                self.assertEqual(server.said.count(f"a connection request of {GEN} is rejected: its path MTU is 4096, at most 1024 is taken (--mtu)"),
                                 1, server.said)
                self.assertEqual(tshark(record, "infiniband.cm.rej.reason", display="infiniband.mad.attributeid == 0x12"), [["0x001a"]])

    def test_last_ack_of_perftest_records_is_lost(self):
        """The server answers the last record and leaves, long before the client's timeout for the ACK of it."""
        truth, lost = common.WORK / "records.json", []
        for again in range(2):
            with Serve("--accept", "perftest", "--op", "write", "--timeout", 8, "--seed", 5, "-n", 20):
                result = gen("--connect", f"perftest:{SERVE}", "--op", "write", "-z", "-n", 20, "--timeout", 18, "--seed", 6, "--truth", truth,
                             *lost)
            self.good(result, 20)
            told = json.loads(truth.read_text())
            self.assertEqual(told["fault_counts"]["drop"], again)
            records = next(qp for qp in told["qps"] if qp["msgs_received"] > 1)
            self.assertEqual(records["retransmitted"], again)  # the server was still there to answer
            lost = ["--fault-dir", "rx", "--drop", f"{records['qpn']}:{records['starting_psn'] + records['msgs_sent'] - 1}"]

    def test_perftest_both_ways_and_all_sizes(self):
        """2 to 8 MiB are 23 sizes; who serves tells of its own part, too."""
        for op, tool in (("send", "send"), ("write", "write"), ("read", "read"), ("fadd", "atomic")):
            for how in ([], ["-R"]):
                with self.subTest(op=op, how=how), Serve("--accept", "perftest", "--op", tool, "--bidirectional", "-n", 40):
                    self.good(gen("--connect", f"perftest:{SERVE}", "--op", op, "--bidirectional", "-n", 40, *how), 40)
        with Serve("--accept", "perftest", "--op", "send", "-a", "-n", 2):
            done = subprocess.run(command(0, "gen", "-i", "v0", "--connect", f"perftest:{SERVE}", "--op", "send", "-a", "-n", 2, "--json"),
                                  capture_output=True, timeout=60, text=True, env=common.ENV)
            results = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([r["size"] for r in results], [2 ** k for k in range(1, 24)])
            for result in results:
                self.good(result, 2)

    def test_reads_asked_again_are_told(self):
        """Two requests are lost. What tshark counts beyond those asked for, and the lost ones, was sent again; what an earlier size had
        to send again is not told of the later ones."""
        record = common.WORK / "again.pcap"
        for sizes, args, lost in (([64], ["--size", 64], "#1:+0,#1:+9"), ([2 ** k for k in range(1, 24)], ["-a"], "#1:+0,#1:+4")):
            n = 20 if len(sizes) == 1 else 2
            with self.subTest(args=args), Serve("--accept", "perftest", "--op", "read", "-n", n, *args):
                done = subprocess.run(command(0, "gen", "-i", "v0", "--connect", f"perftest:{SERVE}", "--op", "read", "-n", n, "--json",
                                              "--mtu", 4096, "--timeout", 18, "--drop", lost, "-w", record, *args),
                                      capture_output=True, timeout=60, text=True, env=common.ENV)
            results = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([r["size"] for r in results], sizes, done.stderr)
            for result in results:
                self.good(result, n)
            self.assertEqual([r["faults"]["drop"] for r in results][:3], [2] if len(sizes) == 1 else [1, 0, 1])
            again = len(tshark(record, "frame.number", display="infiniband.bth.opcode == 12")) - n * len(sizes) + 2
            self.assertGreaterEqual(again, 2)
            self.assertEqual(sum(r["retransmitted"] for r in results), again)

    def test_contents_survive_losses(self):
        with Serve("--drop", "1%", "--seed", 5, interrupt=True):
            for op in ("send", "write", "read", "fadd"):
                with self.subTest(op=op):
                    result = gen("--connect", f"rocereplay:{SERVE}", "--op", op, "--verify", "-n", 100, "--drop", "1%",
                                 "--timeout", 13, "--seed", 6)
                    self.good(result, 100)
        with Serve("--accept", "cm", "--app", "rping", "--drop", "2%", "--dup", "2%", "--seed", 5):
            self.good(gen("--connect", f"cm:{SERVE}", "--app", "rping", "-n", 100), 100)

    def test_wire_and_truth(self):
        """What both ends say of themselves, what was recorded, and what the wire showed is the same."""
        record, ours, theirs = common.WORK / "wire.pcap", common.WORK / "gen.json", common.WORK / "serve.json"
        with Serve("--truth", theirs):
            result = gen("--connect", f"rocereplay:{SERVE}", "--op", "write", "-n", 50, "--size", 8192, "-w", record,
                         "--truth", ours, "--drop", "#1:+9,#1:+100")
        self.good(result, 50)
        gen_truth, serve_truth = json.loads(ours.read_text()), json.loads(theirs.read_text())
        a, b = gen_truth["qps"][0], serve_truth["qps"][0]
        self.assertEqual((a["qpn"], a["remote_qpn"]), (b["remote_qpn"], b["qpn"]))
        self.assertEqual(a["naks_received"], b["naks_sent"])
        self.assertEqual(len(gen_truth["faults"]), 2)
        self.assertEqual(a["tx_packets"] - 2, b["rx_packets"])
        self.assertEqual(a["rx_packets"], b["tx_packets"])
        report = rocestat(record)
        self.assertEqual(report["icrc"]["bad"], 0)
        self.assertEqual(report["icrc"]["ok"], b["rx_packets"] + b["tx_packets"])
        rows = tshark(record, "frame.number", display="udp.dstport == 4791")
        self.assertEqual(len(rows), b["rx_packets"] + b["tx_packets"])

    def test_by_hand(self):
        serve = subprocess.Popen(
            command(1, "serve", "-i", "v0", "--peer-ip", GEN, "--qpn", "0x123", "--psn", "77", "--own-qpn", "0x456",
                    "--own-psn", "88"), stderr=subprocess.PIPE, text=True, env=common.ENV)
        numbers = serve.stderr.readline().split(": own numbers: ")[1].split()
        self.assertEqual(numbers[:6], ["--peer-ip", SERVE, "--qpn", "0x456", "--psn", "0x58"])
        self.good(gen(*numbers, "--own-qpn", "0x123", "--own-psn", "77", "--op", "write", "--verify", "-n", 50), 50)
        serve.send_signal(signal.SIGINT)
        serve.communicate(timeout=PATIENCE)
        self.assertEqual(serve.returncode, 0)

    def check(self, serve, connect, only, unseen):
        """Cases against a program of which rocereplay plays the part: none fails, |unseen| are beyond what it carries."""
        with Serve(*serve, interrupt=True):
            done = subprocess.run(command(0, "check", "-i", "v0", "--patience", "50ms", "--timeout", 10, "--json", "--only", only,
                                          *connect), capture_output=True, timeout=60, text=True, env=common.ENV)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        verdicts = {case["id"]: case["verdict"] for case in json.loads(done.stdout)["cases"]}
        self.assertEqual([name for name, verdict in verdicts.items() if verdict == "fail"], [])
        self.assertEqual({name for name, verdict in verdicts.items() if verdict != "pass"}, unseen)

    def test_check_by_programs(self):
        """The handshake decides which cases can be judged: rping tells of no memory and takes its own messages alone;
        the ping-pong allows no operation on its memory."""
        self.check(["--accept", "cm"], ["--connect", f"cm:{SERVE}"],
                   "ack.request,nak.gap,dup.read_part,read.segments,psn.wrap,nak.qp_rights,atomic.result,drop.icrc",
                   {"psn.wrap", "nak.qp_rights"})
        self.check(["--accept", "cm", "--app", "rping", "--size", 8192],
                   ["--connect", f"cm:{SERVE}", "--app", "rping", "--size", 8192],
                   "ack.request,ack.zero_length,nak.rkey,retry.count,read.resume,ghost.ack,read.segments,rnr.nak",
                   {"ack.zero_length", "read.segments", "rnr.nak"})
        self.check(["--accept", "perftest", "--op", "write"], ["--connect", f"perftest:{SERVE}"],
                   "psn.wrap,dup.write,rnr.nak,nak.read_rkey", {"nak.read_rkey"})

    def test_check_by_hand(self):
        """Each of the peer's QPs serves one case."""
        serve = subprocess.Popen(
            command(1, "serve", "-i", "v0", "--peer-ip", GEN, "--qpn", "0x100,0x101", "--psn", "7", "--own-qpn", "0x400"),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=common.ENV)
        numbers = serve.stderr.readline().split(": own numbers: ")[1].split()
        done = subprocess.run(command(0, "check", "-i", "v0", *numbers, "--own-qpn", "0x100", "--own-psn", "7", "--patience", "50ms",
                                      "--json", "--only", "ack.request,dup.write,read.segments"),
                              capture_output=True, timeout=60, text=True, env=common.ENV)
        serve.send_signal(signal.SIGINT)
        serve.communicate(timeout=PATIENCE)
        self.assertEqual([case["verdict"] for case in json.loads(done.stdout)["cases"]], ["pass", "pass", "not_observable"])

    def test_check_interrupted(self):
        """A case that a signal cuts short has no verdict in the evidence, whatever it has seen so far."""
        evidence = common.WORK / "interrupted.pcapng"
        before = self.counter("Udp", "NoPorts")
        check = subprocess.Popen(
            command(0, "check", "-i", "v0", "--peer-ip", SERVE, "--qpn", "0x10", "--psn", "7", "--own-qpn", "0x100", "--own-psn", "7",
                    "--patience", "60s", "--only", "ack.request,psn.wrap", "-w", evidence),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=common.ENV)
        deadline = time.monotonic() + PATIENCE
        while self.counter("Udp", "NoPorts") == before and time.monotonic() < deadline:
            pass  # nobody is there to take its first frame
        check.send_signal(signal.SIGINT)
        _, said = check.communicate(timeout=PATIENCE)
        self.assertEqual((check.returncode, said.splitlines()[1:]), (1, ["rocereplay: interrupted"]))
        notes = [row[0] for row in tshark(evidence, "frame.comment") if row[0]]
        self.assertEqual(len(notes), 1)
        self.assertRegex(notes[0], r"^[a-z.]+: not judged: the run was cut short$")

    def test_kernel_keeps_quiet(self):
        """No "port unreachable" for a frame that the port takes; the guard holds UDP port 4791."""
        with Serve(interrupt=True):
            before = self.counter("Icmp", "OutDestUnreachs")
            self.good(gen("--connect", f"rocereplay:{SERVE}", "-n", 10), 10)
            self.assertEqual(self.counter("Icmp", "OutDestUnreachs"), before)

    def counter(self, protocol, name):
        text = subprocess.run(["ip", "netns", "exec", NAMES[1], "cat", "/proc/net/snmp"], capture_output=True,
                              text=True, check=True).stdout
        keys, values = [line.split() for line in text.splitlines() if line.startswith(f"{protocol}:")]
        return int(dict(zip(keys, values))[name])


class Failures(unittest.TestCase):
    """One line for each thing that may be wrong with the network or the peer."""

    def one_line(self, text, *args):
        said = gen(*args, status=1)
        said = said if isinstance(said, str) else said["status"]
        self.assertIn(text, said)

    def test_peers(self):
        self.one_line("Connection refused", "--connect", f"rocereplay:{SERVE}:9")
        self.one_line("no answer to ARP", "--peer-ip", "10.99.0.77", "--qpn", 5)
        self.one_line("no route to", "--peer-ip", "fd98::1", "--qpn", 5)
        with Serve("--accept", "cm"):
            self.one_line("nobody listens", "--connect", f"cm:{SERVE}:1234")
            self.good_end()

    def good_end(self):
        gen("--connect", f"cm:{SERVE}", "-n", 1)

    def test_interrupted_while_nobody_answers(self):
        """ARP takes three seconds to fail; a signal does not wait for that."""
        for connect in (("--peer-ip", "10.99.0.77", "--qpn", 5), ("--connect", "cm:10.99.0.78"), ("--connect", "rocereplay:10.99.0.79")):
            with self.subTest(connect=connect):
                process = subprocess.Popen(command(0, "gen", "-i", "v0", *connect), stderr=subprocess.PIPE, text=True, env=common.ENV)
                status = pathlib.Path(f"/proc/{process.pid}/status")
                deadline = time.monotonic() + PATIENCE
                while not self.catches_interrupts(status) and time.monotonic() < deadline:
                    pass
                begun = time.monotonic()
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=PATIENCE)
                self.assertLess(time.monotonic() - begun, 2)
                self.assertEqual(process.returncode, 1)
                self.assertRegex(said, "(?i)interrupted")

    def catches_interrupts(self, status):
        caught = int(re.search(r"SigCgt:\t(\w+)", status.read_text())[1], 16)
        return caught & 1 << signal.SIGINT - 1

    def test_transport(self):
        done = subprocess.run(command(0, "gen", "-i", "v0", "--peer-ip", SERVE, "--qpn", 5, "--timeout", 8, "--retry-cnt",
                                      1, "-n", 1), capture_output=True, text=True, timeout=60, env=common.ENV)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the peer did not answer", done.stderr)

    def test_interface(self):
        cases = {("bare",): "the interface has no IP address; give it one", ("none",): "no such interface",
                 ("v0", "--address", "10.99.0.9"): "is no address of the interface"}
        for (name, *rest), text in cases.items():
            done = subprocess.run(command(1, "serve", "-i", name, *rest), capture_output=True, text=True, timeout=60,
                                  env=common.ENV)
            self.assertEqual(done.returncode, 1)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        ip("-n", NAMES[0], "link", "set", "v0", "mtu", "1500")
        try:
            self.one_line("MTU 1500 is too small for path MTU 2048", "--connect", f"rocereplay:{SERVE}", "--mtu", 2048)
        finally:
            ip("-n", NAMES[0], "link", "set", "v0", "mtu", "4200")

    def test_user(self):
        """play and check become another user once the interface is open, too."""
        capture = common.pathlib.Path(__file__).resolve().parent.parent.parent / "pcaps" / "rc_all_ops.pcap"
        for args in (("check",), ("play", capture)):
            with Serve(interrupt=True):
                done = subprocess.run(command(0, *args, "-i", "v0", "--connect", f"rocereplay:{SERVE}", "-Z", "no-such-user"),
                                      capture_output=True, text=True, timeout=60, env=common.ENV)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no-such-user", done.stderr)

    def test_port_is_taken(self):
        with Serve(interrupt=True):
            done = subprocess.run(command(1, "serve", "-i", "v0"), capture_output=True, text=True, timeout=60,
                                  env=common.ENV)
        self.assertEqual(done.returncode, 1)
        self.assertIn("UDP port 4791 of 10.99.0.2 is taken", done.stderr)


def setUpModule():
    if not network():
        remove()
        print("skipped: no network namespaces can be made here (root is needed)")
        sys.stdout.flush()
        os._exit(SKIPPED)


def tearDownModule():
    remove()


if __name__ == "__main__":
    common.main()
