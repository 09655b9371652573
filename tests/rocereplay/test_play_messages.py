#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocereplay play: the recorded messages again, in this process and to a rocereplay serve over a veth pair."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from play_frames import inner_packet, read_pcap

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
REPLAY = STAT = WORK = None
CAPTURES = sorted((SOURCE / "pcaps").glob("*.pcap"))
# Nothing in these that could be sent again: connections refused, or one way of the control plane.
EMPTY = {"cm_rping_rej_noserver"}
OPS = {"send": ("send", "send_imm"), "write": ("write", "write_imm"), "read": ("read",), "atomic": ("cas", "fadd")}


def run(program, *args, status=0, prefix=()):
    done = subprocess.run([*prefix, program, *map(str, args)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}: {done.stderr}")
    return done


def play(*args, **kwargs):
    return run(REPLAY, "play", *args, **kwargs)


def play_json(*args, **kwargs):
    return json.loads(play("--json", *args, **kwargs).stdout)


def stat(path):
    return json.loads(run(STAT, "--json", path).stdout)


def recorded(doc):
    """Messages of all flows but the control plane's, by operation."""
    flows = [f for f in doc["flows"] if f["dest_qp"] != 1]
    return {op: sum(f["messages"][op]["started"] for f in flows) for op in OPS}


def out(name):
    return WORK / name


def by_op(side):
    return {op: sum(side["operations"].get(n, 0) for n in names) for op, names in OPS.items()}


class InProcess(unittest.TestCase):
    def test_every_capture(self):
        """What rocestat counts in the recording, in our report, and in the frames that were made of it."""
        for path in CAPTURES:
            with self.subTest(capture=path.name):
                if path.stem in EMPTY:
                    self.assertIn("no message", play("-w", out("made.pcap"), path, status=1).stderr)
                    continue
                want = recorded(stat(path))
                if path.stem.startswith("snap64"):  # the length of a READ is behind the cut
                    want["read"] = 0
                result = play_json("-w", out("made.pcap"), "--seed", "5", path)
                self.assertEqual(by_op(result["recorded"]), want)
                self.assertEqual(by_op(result["reproduced"]), want)
                self.assertEqual(result["failed"], 0)
                made = stat(out("made.pcap"))
                self.assertEqual(recorded(made), want)
                self.assertEqual(made["icrc"]["bad"], 0)
                self.assertEqual([f["kind"] for f in made["findings"] if f["severity"] == "error"], [])

    def test_what_was_posted(self):
        """The .json names the operations of the recording with their lengths."""
        path = SOURCE / "pcaps" / "rc_all_ops.pcap"
        words = json.loads(path.with_suffix(".json").read_text())["cli"].split()
        posted = [w.split(":") for w in words if ":" in w]
        lengths = [8 if op in ("cas", "fadd") else int(arg.split("@")[0]) for op, arg in posted]
        result = play_json("-w", out("made.pcap"), path)
        self.assertEqual(result["reproduced"]["messages"], len(posted))
        self.assertEqual(result["reproduced"]["bytes"], sum(lengths))
        self.assertEqual((result["generated"], result["incomplete"], result["orphans"]), (0, 0, 0))

    def payloads(self, path):
        """SEND and WRITE payload in the order of the frames, by the lengths in the headers."""
        found = []
        for _, _, frame in read_pcap(path)[1]:
            packet = inner_packet(frame)
            if packet is None:
                continue
            opcode, pad = packet[28], packet[29] >> 4 & 3
            head = {0: 0, 1: 0, 2: 0, 4: 0, 3: 4, 5: 4, 6: 16, 7: 0, 8: 0, 9: 4, 10: 16, 11: 20}.get(opcode)
            if head is not None:
                found.append(packet[28 + 12 + head:len(packet) - 4 - pad])
        return b"".join(found)

    def test_payload_is_the_recorded(self):
        for name in ("rc_all_ops", "uc_ops"):
            path = SOURCE / "pcaps" / f"{name}.pcap"
            play("-q", "-w", out("made.pcap"), path)
            self.assertEqual(self.payloads(out("made.pcap")), self.payloads(path))

    def test_sliced_payload_is_made(self):
        path = SOURCE / "pcaps" / "snap64_rc_all_ops.pcap"
        result = play_json("-w", out("made.pcap"), path)
        self.assertGreater(result["generated"], 0)
        whole = play_json("-w", out("made2.pcap"), SOURCE / "pcaps" / "rc_all_ops.pcap")
        reads = sum(f["messages"]["read"]["bytes"] for f in stat(SOURCE / "pcaps" / "rc_all_ops.pcap")["flows"])
        self.assertEqual(result["reproduced"]["bytes"], whole["reproduced"]["bytes"] - reads)

    def test_resent_messages_count_once(self):
        """Recordings with losses: as many messages as the program sent, 60 of 4096 bytes."""
        result = play_json("-w", out("made.pcap"), SOURCE / "pcaps" / "loss5_egress_send.pcap")
        self.assertEqual(result["reproduced"]["operations"], {"send": 60})
        self.assertEqual(result["reproduced"]["bytes"], 60 * 4096)
        self.assertGreater(result["recorded"]["retransmitted"], 0)
        self.assertGreater(result["recorded"]["naks"], 0)
        self.assertEqual(result["reproduced"]["retransmitted"], 0)

    def test_same_seed_same_bytes(self):
        path = SOURCE / "pcaps" / "nvme_rdma.pcap"
        for seed in ("1", "1", "2"):
            play("-q", "-w", out(f"seed{seed}.pcap"), "--seed", seed, path)
            if out("first.pcap").exists():
                same = out("first.pcap").read_bytes() == out(f"seed{seed}.pcap").read_bytes()
                self.assertEqual(same, seed == "1")
            else:
                out(f"seed{seed}.pcap").rename(out("first.pcap"))
        out("first.pcap").unlink()

    def test_timing(self):
        path = SOURCE / "pcaps" / "rc_all_ops.pcap"
        lasts = {}
        for args in ((), ("-x", "10"), ("-t",)):
            result = play_json("-w", out("made.pcap"), "--seed", "1", *args, path)
            lasts[args] = result["seconds"]
        frames = [(t, inner_packet(f)) for t, _, f in read_pcap(path)[1]]
        requests = [t for t, p in frames if p is not None and p[28] in (0, 4, 5, 6, 10, 11, 12, 19, 20)]
        span = (requests[-1] - requests[0]) / 1e9
        # Behind the last request only its own round trip is left: microseconds on the computed link.
        self.assertAlmostEqual(lasts[()], span, delta=1e-4)
        self.assertAlmostEqual(lasts["-x", "10"], span / 10, delta=1e-4)
        self.assertLess(lasts["-t",], 1e-3)

    def test_passes_and_limits(self):
        path = SOURCE / "pcaps" / "rc_all_ops.pcap"
        self.assertEqual(play_json("-w", out("made.pcap"), "-l", "3", path)["reproduced"]["messages"], 90)
        self.assertEqual(play_json("-w", out("made.pcap"), "-L", "7", path)["reproduced"]["messages"], 7)
        self.assertEqual(self.payloads(out("made.pcap")), self.payloads(path)[:len(self.payloads(out("made.pcap")))])

    def test_one_host(self):
        path = SOURCE / "pcaps" / "cm_rping.pcap"
        one = play_json("-w", out("made.pcap"), "--host", "192.168.77.2", path)
        other = play_json("-w", out("made.pcap"), "--host", "192.168.77.3", path)
        both = play_json("-w", out("made.pcap"), path)
        self.assertEqual(one["recorded"]["messages"] + other["recorded"]["messages"], both["recorded"]["messages"])
        self.assertEqual((one["qps"], other["qps"], both["qps"]), (1, 1, 2))

    def test_faults_are_repaired(self):
        """Losses on the way: all messages arrive, the report and rocestat say what it took."""
        path = SOURCE / "pcaps" / "rc_all_ops.pcap"
        result = play_json("-w", out("made.pcap"), "--seed", "2", "--drop", "#1:+2", "--truth", out("truth.json"), path)
        self.assertEqual(result["reproduced"]["messages"], 30)
        self.assertEqual(result["faults"]["drop"], 1)
        self.assertGreater(result["reproduced"]["retransmitted"], 0)
        doc = stat(out("made.pcap"))
        self.assertEqual(sum(f["retransmitted"] or 0 for f in doc["flows"]), result["reproduced"]["retransmitted"])
        self.assertEqual(len(json.loads(out("truth.json").read_text())["faults"]), 1)

    def test_cut_short(self):
        whole = (SOURCE / "pcaps" / "rc_all_ops.pcap").read_bytes()
        out("short.pcap").write_bytes(whole[:-10])
        done = play("--json", "-w", out("made.pcap"), out("short.pcap"), status=1)
        self.assertGreater(json.loads(done.stdout)["reproduced"]["messages"], 20)

    def test_messages(self):
        path = SOURCE / "pcaps" / "rc_all_ops.pcap"
        for args, word in (((path, "--map-ip", "10.0.0.0/8=11.0.0.0/8"), "--raw"), (("-l", "0", path), "passes"),
                           (("-i", "lo", path), "no peer"), (("--connect", "rocereplay:localhost", path), "-i"),
                           (("-i", "lo", "--peer-ip", "127.0.0.1", "--qpn", "5,6", "--psn", "1,2,3", path), "each of --qpn"),
                           (("--host", "here", path), "IP address"), ((path, path), "more than one")):
            with self.subTest(args=args):
                self.assertIn(word, play(*args, status=2).stderr)


    def test_nothing_carried(self):
        """rping takes its own messages alone: one line, before anything is sent."""
        path = SOURCE / "pcaps" / "loss5_egress_send.pcap"
        self.assertEqual(play("-i", "lo", "--connect", "cm:localhost", "--app", "rping", path, status=1).stderr,
                         "rocereplay: none of the messages can be carried: rping takes messages of its own kind alone\n")
        self.assertIn("ibv_rc_pingpong has 1 QP, the capture 2 that send",
                      play("-i", "lo", "--connect", "pingpong:localhost", SOURCE / "pcaps" / "cm_rping.pcap", status=1).stderr)


@unittest.skipUnless(os.geteuid() == 0, "interfaces of its own need root")
class OverVeth(unittest.TestCase):
    SPACES = (f"rrp{os.getpid()}a", f"rrp{os.getpid()}b")

    @classmethod
    def setUpClass(cls):
        def ip(*words):
            subprocess.run(["ip", *words], check=True, capture_output=True)
        a, b = cls.SPACES
        try:
            ip("netns", "add", a)
            ip("netns", "add", b)
        except (OSError, subprocess.CalledProcessError) as why:
            raise unittest.SkipTest(f"no network namespaces: {why}")
        ip("-n", a, "link", "add", "v0", "mtu", "4300", "type", "veth", "peer", "name", "v1", "netns", b, "mtu", "4300")
        for space, name, address in ((a, "v0", "10.77.3.1/24"), (b, "v1", "10.77.3.2/24")):
            ip("-n", space, "address", "add", address, "dev", name)
            ip("-n", space, "link", "set", name, "up")

    @classmethod
    def tearDownClass(cls):
        for space in cls.SPACES:
            subprocess.run(["ip", "netns", "delete", space], check=False, capture_output=True)

    def serve(self, *args):
        server = subprocess.Popen(["ip", "netns", "exec", self.SPACES[1], REPLAY, "serve", "-i", "v1", "--once", *args],
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.send_signal, signal.SIGINT)
        self.assertIn("waiting", server.stderr.readline())
        return server

    def replay(self, *args, **kwargs):
        return play_json("-i", "v0", "--connect", "rocereplay:10.77.3.2", *args,
                         prefix=("ip", "netns", "exec", self.SPACES[0]), **kwargs)

    def test_captures(self):
        for name in ("rc_all_ops", "nvme_rdma", "ud_pingpong", "uc_ops", "rc_all_ops_mtu4096", "loss5_egress_send"):
            path = SOURCE / "pcaps" / f"{name}.pcap"
            with self.subTest(capture=name):
                server = self.serve("--truth", str(out("served.json")))
                result = self.replay("-x", "20", path)
                self.assertEqual(server.wait(timeout=20), 0)
                want = recorded(stat(path))
                self.assertEqual(by_op(result["recorded"]), want)
                if name not in ("ud_pingpong", "uc_ops"):  # others may lose some
                    self.assertEqual(by_op(result["reproduced"]), want)
                    taken = sum(result["reproduced"]["operations"].get(n, 0) for n in ("send", "send_imm", "write_imm"))
                    self.assertEqual(result["peer_report"]["messages"], taken)

    def to_target(self, accept, connect, *args, said="waiting"):
        server = subprocess.Popen(["ip", "netns", "exec", self.SPACES[1], REPLAY, "serve", "-i", "v1", *accept],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.send_signal, signal.SIGINT)
        line = server.stderr.readline()
        self.assertIn(said, line)
        numbers = line.split(": own numbers: ")[1].split() if "own numbers" in line else []
        return play_json("-i", "v0", "-t", *connect, *numbers, *args, prefix=("ip", "netns", "exec", self.SPACES[0])), server

    def test_programs_that_were_not_made_for_it(self):
        """What each program's handshake gives decides what is carried; the rest is counted."""
        all_ops, losses = SOURCE / "pcaps" / "rc_all_ops.pcap", SOURCE / "pcaps" / "loss5_egress_send.pcap"
        want = play_json("-w", out("made.pcap"), all_ops)["recorded"]["operations"]
        for accept, connect, path, kept in (
                (("cm",), ("cm",), all_ops, set(want)),
                (("perftest", "--op", "write"), ("perftest",), all_ops, {"write"}),
                (("perftest", "--op", "read"), ("perftest", "--op", "read"), all_ops, {"read"}),
                (("perftest", "--op", "atomic"), ("perftest", "--op", "fadd"), all_ops, {"cas", "fadd"}),
                (("pingpong", "-n", "60"), ("pingpong",), losses, {"send"})):
            with self.subTest(accept=accept):
                result, server = self.to_target(("--once", "--accept", *accept), ("--connect", f"{connect[0]}:10.77.3.2",
                                                                                 *connect[1:]), path)
                self.assertEqual(server.wait(timeout=20), 0)
                due = {"send": 60} if path == losses else {op: n for op, n in want.items() if op in kept}
                self.assertEqual(result["reproduced"]["operations"], due)
                self.assertEqual(result["not_carried"], result["recorded"]["messages"] - sum(due.values()))
                self.assertEqual(result["reproduced"]["retransmitted"], 0)

    def test_several_by_hand(self):
        """Both ends know all numbers beforehand; the last of a list stands for the QPs that follow."""
        path = SOURCE / "pcaps" / "cm_rping.pcap"
        result, _ = self.to_target(("--peer-ip", "10.77.3.1", "--qpn", "0x100,0x101", "--psn", "7", "--own-qpn", "0x400"), (),
                                   "--own-qpn", "0x100", "--own-psn", "7", "-w", out("hand.pcap"), path, said="own numbers")
        self.assertEqual(by_op(result["reproduced"]), recorded(stat(path)))
        doc = stat(out("hand.pcap"))
        self.assertEqual({f["dest_qp"] for f in doc["flows"]}, {0x100, 0x101, 0x400, 0x401})
        self.assertEqual([f["kind"] for f in doc["findings"] if f["severity"] == "error"], [])

    def test_each_its_service(self):
        """RC, UC and UD QPs in one capture: each is replayed as what it was."""
        parts = [(SOURCE / "pcaps" / f"{name}.pcap").read_bytes() for name in ("rc_all_ops", "uc_ops", "ud_ops")]
        self.assertEqual(len({part[:24] for part in parts}), 1)
        out("mixed.pcap").write_bytes(parts[0] + parts[1][24:] + parts[2][24:])
        server = self.serve("--truth", str(out("served.json")))
        result = self.replay("-t", "-w", out("live.pcap"), out("mixed.pcap"))
        self.assertEqual(server.wait(timeout=20), 0)
        self.assertEqual(by_op(result["recorded"]), recorded(stat(out("mixed.pcap"))))
        self.assertEqual(result["failed"], 0)
        services = {f["transport"] for f in stat(out("live.pcap"))["flows"]}
        self.assertEqual(services, {"rc", "uc", "ud"})

    def test_faults_at_the_peer(self):
        """NAKs and CNPs that the peer's end makes of its answers reach us, and the peer's list names each."""
        server = self.serve("--nak", "#1:+3@psn_sequence_error", "--cnp", "#1:+6", "--truth", str(out("served.json")))
        result = self.replay("-x", "20", "-w", out("live.pcap"), SOURCE / "pcaps" / "rc_all_ops.pcap")
        self.assertEqual(server.wait(timeout=20), 0)
        truth = json.loads(out("served.json").read_text())
        self.assertEqual(sorted(f["type"] for f in truth["faults"]), ["cnp", "nak"])
        self.assertEqual(result["reproduced"]["naks"], 1)
        self.assertEqual(result["reproduced"]["cnps"], 1)
        self.assertEqual(result["reproduced"]["messages"], 30)
        doc = stat(out("live.pcap"))
        self.assertEqual(sum(f["naks"]["psn_sequence_error"] for f in doc["flows"]), 1)
        self.assertEqual(sum(f["cnps"] for f in doc["flows"]), 1)

    def test_raw_to_an_interface(self):
        """What arrives is what was sent, byte by byte, by either kind of socket."""
        path = SOURCE / "pcaps" / "rc_all_ops.pcap"
        sent = [f[2] for f in read_pcap(path)[1]]
        for kind in ("auto", "ring"):
            dump = subprocess.Popen(["ip", "netns", "exec", self.SPACES[1], "tcpdump", "-Z", "root", "-n", "-U", "-i", "v1",
                                     "-B", "32768", "-c", str(len(sent)), "-w", str(out("arrived.pcap")),
                                     "ether host 52:54:00:77:00:02"], stderr=subprocess.PIPE, text=True)
            self.addCleanup(dump.stderr.close)
            try:
                while "listening" not in dump.stderr.readline():
                    self.assertIsNone(dump.poll())
                result = play_json("--raw", "-i", "v0", "-t", "--tx", kind, path,
                                   prefix=("ip", "netns", "exec", self.SPACES[0]))
                dump.wait(timeout=20)
            finally:
                dump.kill()
                dump.wait()
            with self.subTest(socket=kind):
                self.assertEqual(result["frames"], len(sent))
                self.assertEqual([f[2] for f in read_pcap(out("arrived.pcap"))[1]], sent)


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
