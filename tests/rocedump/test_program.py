#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What golden files cannot show of rocedump: well-formed JSON, written captures, pipes, signals, time zones."""
import argparse
import csv
import gzip
import io
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
PROGRAM = WORK = None


def rocedump(*args, stdin=None, env=(), status=0):
    done = subprocess.run([PROGRAM, *map(str, args)], input=stdin, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL if stdin is None else None,
                          env=os.environ | {"TZ": "UTC", "LC_ALL": "C"} | dict(env))
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}, not {status}: {done.stderr.decode()}")
    return done


def out(*args, **kwargs):
    return rocedump(*args, **kwargs).stdout.decode()


def captures():
    found = sorted(p for p in (SOURCE / "pcaps").iterdir() if p.suffix in (".pcap", ".pcapng"))
    return found[::int(os.environ.get("ROCE_EVERY", "1"))] + [WORK / "made" / n for n in ("odd.pcap", "pause.pcap", "two_links.pcapng")]


def no_duplicates(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key occurs twice: {keys}")
    return dict(pairs)


def parse(text):
    return json.loads(text, object_pairs_hook=no_duplicates)


def leaves(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    else:
        yield path, value


def fields(analysis=False):
    """name: type, as --list-fields tells them; those of flow state with -A only"""
    return dict(line.split()[:2] for line in out("--list-fields").splitlines() if analysis or "[analysis]" not in line)


def read_pcap(data):
    """[(time in ns, original length, bytes)] of a little-endian pcap file"""
    magic, linktype = struct.unpack("<I16xI", data[:24])
    scale = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[magic]
    frames, at = [], 24
    while at < len(data):
        sec, frac, captured, length = struct.unpack("<IIII", data[at:at + 16])
        frames.append((sec * 10**9 + frac * scale, length, data[at + 16:at + 16 + captured]))
        at += 16 + captured
    return linktype, frames


class Analysis(unittest.TestCase):
    """What -A says of captures whose course is known (pcaps/*.json, tshark)."""

    def rows(self, capture, names):
        text = out("--fields", names, SOURCE / "pcaps" / capture)
        return [line.split("\t") for line in text.splitlines()]

    def test_every_request_of_a_clean_capture_is_acknowledged(self):
        # rc_all_ops waits for each completion: a request is acknowledged before the next message begins.
        rows = self.rows("rc_all_ops.pcap", "frame,response,psn,acked_in,request_frame,retransmission")
        self.assertEqual(len(rows), 79)
        for frame, response, psn, acked_in, request, again in rows:
            self.assertEqual(again, "false")
            self.assertEqual(acked_in == "", response == "true", frame)
            if response == "false":
                self.assertEqual(request, "", frame)
        # Which request a response answers is known once the two directions are paired.
        self.assertEqual([row[0] for row in rows if row[1] == "true" and not row[4]][2:], [])
        acknowledged = {row[3] for row in rows if row[3]}
        self.assertTrue(acknowledged <= {row[0] for row in rows if row[1] == "true"})

    def test_retransmissions_are_those_of_the_truth(self):
        # dup_egress: netem copied frames, which the .json counts as PSNs seen again; cm_rping has none.
        for capture in ("dup_egress", "cm_rping", "rc_rnr_exceeded", "rc_timeout_exceeded"):
            with open(SOURCE / "pcaps" / (capture + ".json")) as f:
                truth = json.load(f)["check"]["req_retx"]
            rows = self.rows(capture + ".pcap", "frame,retransmission,mirror_duplicate")
            found = [r for r in rows if "true" in r[1:]]
            self.assertEqual(len(found), truth, capture)

    def test_filter_and_columns_agree(self):
        path = SOURCE / "pcaps/loss5_egress_send.pcap"
        rows = self.rows("loss5_egress_send.pcap", "frame,gap,retransmission,acked_in")
        for expression, column in (("gap", 1), ("retransmission", 2)):
            want = [r[0] for r in rows if r[column] == "true"]
            self.assertEqual(out("-Y", expression, "--fields", "frame", path).split(), want)
            self.assertTrue(want)
        want = [r[0] for r in rows if r[3] and int(r[3]) > 200]
        self.assertEqual(out("-Y", "acked_in > 200", "--fields", "frame", path).split(), want)

    def test_json_gains_the_fields(self):
        names = set(fields(True)) - set(fields())
        self.assertIn("rtt", names)
        seen = set()
        for line in out("-A", "--ndjson", SOURCE / "pcaps/loss5_egress_send.pcap").splitlines():
            seen |= set(json.loads(line))
        self.assertTrue({"stream", "gap", "retransmission", "message", "acked_in", "rtt"} <= seen)

    def test_looking_ahead_needs_a_file(self):
        data = (SOURCE / "pcaps/cm_rping.pcap").read_bytes()
        done = rocedump("-Y", "acked_in > 3", "-", stdin=data, status=2)
        self.assertIn(b"acked_in looks ahead", done.stderr)


class Json(unittest.TestCase):
    def check_type(self, kind, value):
        if kind in ("number", "real"):
            self.assertIn(type(value), (int, float))
            self.assertLess(value, 2**63 if kind == "number" else 2**1000)
        elif kind == "bool":
            self.assertIs(type(value), bool)
        elif kind == "hex64":
            self.assertRegex(value, r"^0x[0-9a-f]{1,16}$")
        elif kind in ("list", "reals"):
            self.assertTrue(all(isinstance(v, (int, float)) for v in value))
        elif kind == "word":
            self.assertRegex(value, r"^[A-Za-z0-9_]+$")
        else:
            self.assertIsInstance(value, str)

    def test_every_line_parses_and_has_only_listed_fields(self):
        known = fields()
        for capture in captures():
            with self.subTest(capture=capture.name):
                lines = out("--ndjson", "-a", "--link-speed=100G", capture).splitlines()
                self.assertGreater(len(lines), 0)
                for line in lines:
                    packet = parse(line)
                    self.assertEqual(packet.pop("schema"), "rocedump/1")
                    for path, value in leaves(packet):
                        self.assertIn(path, known)
                        self.check_type(known[path], value)

    def test_document_holds_the_lines(self):
        for capture in captures()[::4]:
            document = parse(out("--json", capture))
            self.assertEqual(document["schema"], "rocedump/1")
            lines = [parse(line) for line in out("--ndjson", capture).splitlines()]
            self.assertEqual(document["packets"], [{k: v for k, v in p.items() if k != "schema"} for p in lines])

    def test_document_is_whole_for_cut_and_empty_captures(self):
        for name, status in (("cut_short", 1), ("no_packets", 0), ("no_roce", 0)):
            done = rocedump("--json", WORK / "made" / f"{name}.pcap", status=status)
            self.assertEqual(len(parse(done.stdout)["packets"]), 1 if status else 0)

    def test_csv_says_the_same(self):
        for capture in captures()[::3]:
            names = list(fields())
            rows = list(csv.reader(io.StringIO(out("--csv", "--fields", ",".join(names), capture), newline="")))
            self.assertEqual(rows[0], names)
            packets = [dict(leaves(parse(line))) for line in out("--ndjson", capture).splitlines()]
            self.assertEqual(len(rows) - 1, len(packets))
            for row, packet in zip(rows[1:], packets):
                for name, cell in zip(names, row):
                    value = packet.get(name, "")
                    if isinstance(value, bool):
                        value = "true" if value else "false"
                    elif isinstance(value, list):
                        value = " ".join(f"{v:.15g}" for v in value)
                    self.assertEqual(cell, str(value), name)

    def test_aliases_name_the_same_field(self):
        capture = SOURCE / "pcaps" / "rc_all_ops.pcap"
        self.assertEqual(out("--csv", "--fields", "qp,psn", capture), out("--csv", "--fields", "dest_qp,psn,qp", capture))


class Text(unittest.TestCase):
    def test_every_packet_is_one_line_in_every_form(self):
        for capture in captures():
            count = len(out("--ndjson", capture).splitlines())
            for form in ([], ["-q"], ["--fields=frame"], ["-t"], ["--color=always"]):
                self.assertEqual(len(out(*form, capture).splitlines()), count, (capture.name, form))

    def test_details_put_every_field_under_a_heading(self):
        for capture in captures():
            for line in out("-V", "-a", "--link-speed=25G", capture).splitlines():
                self.assertRegex(line, r"^( {0,5}\d+ \d\d:|  \S|    \S.*:  *\S)")

    def test_colour_changes_nothing_else(self):
        capture = WORK / "made" / "odd.pcap"
        coloured = out("--color=always", capture)
        self.assertIn("\033[", coloured)
        self.assertEqual(re.sub("\033\\[\\d+m", "", coloured), out(capture))

    def test_hex_is_the_frame(self):
        capture = SOURCE / "pcaps" / "rc_pingpong_1B.pcap"
        _, frames = read_pcap(capture.read_bytes())
        lines = out("-x", "-a", capture).splitlines()
        dump = b"".join(bytes.fromhex(line[10:60]) for line in lines if line.startswith("    0"))
        self.assertEqual(dump, b"".join(data for _, _, data in frames))

    def test_time_of_day_follows_tz(self):
        capture = WORK / "made" / "odd.pcap"  # starts at 22:13:20 UTC
        self.assertIn(" 22:13:20.000000 ", out("-c1", capture))
        self.assertIn(" 01:13:20.000000 ", out("-c1", capture, env={"TZ": "XYZ-3"}))
        self.assertIn(" 2023-11-15 01:13:20.000000 ", out("-c1", "-tttt", capture, env={"TZ": "XYZ-3"}))
        self.assertIn(" 1700000000.000000 ", out("-c1", "-tt", capture, env={"TZ": "XYZ-3"}))

    def test_help_fits_80_columns(self):
        text = out("--help")
        self.assertLess(max(map(len, text.splitlines())), 80)
        self.assertEqual(text, out("-h"))
        self.assertRegex(out("--version"), r"^rocedump \d+\.\d+\.\d+\n$")


class Hostile(unittest.TestCase):
    def test_mutated_frames_keep_every_form_well_formed(self):
        rng = random.Random(4791)
        seeds = [f[2] for p in captures() if p.suffix == ".pcap" and "nano" not in p.name
                 for f in read_pcap(p.read_bytes())[1][:40]]
        data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
        for i in range(4000):
            frame = bytearray(rng.choice(seeds))
            for _ in range(rng.choice((0, 1, 1, 2, 4, 16))):
                frame[rng.randrange(min(len(frame), 90))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            frame = frame[:rng.randrange(len(frame) + 1)] if rng.random() < 0.3 else frame
            data += struct.pack("<IIII", i, 0, len(frame), rng.choice((len(frame), 1500, 0))) + frame
        path = WORK / "mutated.pcap"
        path.write_bytes(data)
        for form in ([], ["-q"], ["--color=always", "--rd"], ["--fields=frame,opcode,error.text"]):
            self.assertEqual(len(out("-a", "--link-speed=1k", *form, path).splitlines()), 4000)
        for line in out("-a", "--ndjson", path).splitlines():
            parse(line)
        rocedump("-a", "-V", "-x", path)
        self.assertEqual(len(list(csv.reader(io.StringIO(out("-a", "--csv", path), newline="")))), 4001)


class Write(unittest.TestCase):
    def setUp(self):
        self.capture = SOURCE / "pcaps" / "rc_all_ops.pcap"
        self.linktype, self.frames = read_pcap(self.capture.read_bytes())

    def written(self, *args, name="written.pcap", status=0):
        path = WORK / name
        path.unlink(missing_ok=True)
        done = rocedump("-w", path, *args, self.capture, status=status)
        self.assertEqual(done.stdout, b"")
        return path

    def test_all_frames_are_copied(self):
        self.assertEqual(read_pcap(self.written().read_bytes()), (self.linktype, self.frames))

    def test_filter_chooses(self):
        data = read_pcap(self.written("-Y", "opcode == rc_acknowledge").read_bytes())[1]
        want = [f for f in self.frames if f[2][23] == 17 and f[2][36:38] == b"\x12\xb7" and f[2][42] == 0x11]
        self.assertGreater(len(want), 0)
        self.assertEqual(data, want)

    def test_bpf_chooses(self):
        path = WORK / "tcp.pcap"
        rocedump("-w", path, self.capture, "tcp")
        self.assertEqual(read_pcap(path.read_bytes())[1], [f for f in self.frames if f[2][23] == 6])

    def test_count_and_snaplen(self):
        data = read_pcap(self.written("-c", 20, "-s", 70).read_bytes())[1]
        self.assertEqual(data, [(t, n, d[:70]) for t, n, d in self.frames[:20]])

    def test_standard_output(self):
        done = rocedump("-w", "-", self.capture)
        self.assertEqual(read_pcap(done.stdout), (self.linktype, self.frames))

    def test_pcapng_reads_back(self):
        path = self.written(name="written.pcapng")
        self.assertEqual(path.read_bytes()[:4], b"\x0a\x0d\x0d\x0a")
        self.assertEqual(out("-a", "--ndjson", path), out("-a", "--ndjson", self.capture))

    def test_two_link_types_need_pcapng(self):
        links = WORK / "made" / "two_links.pcapng"
        done = rocedump("-w", WORK / "links.pcap", links, status=1)
        self.assertIn(b"links.pcap: a pcap file holds one link type", done.stderr)
        rocedump("-w", WORK / "links.pcapng", links)
        self.assertEqual(out("-t", WORK / "links.pcapng"), out("-t", links))

    def test_input_is_not_overwritten(self):
        path = WORK / "same.pcap"
        path.write_bytes(self.capture.read_bytes())
        done = rocedump("-w", path, "-r", path, status=1)
        self.assertIn(b"is the capture that is read", done.stderr)
        self.assertEqual(path.read_bytes(), self.capture.read_bytes())

    def test_nothing_of_interest_is_said_on_standard_error(self):
        done = rocedump("-w", WORK / "none.pcap", WORK / "made" / "no_roce.pcap")
        self.assertIn(b"0 RoCE packets in 12: 5 TCP", done.stderr)
        self.assertEqual(len(read_pcap((WORK / "none.pcap").read_bytes())[1]), 12)

    def test_output_that_cannot_be_opened(self):
        done = rocedump("-w", WORK / "no" / "such" / "folder.pcap", self.capture, status=1)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(b"folder.pcap: No such file or directory", done.stderr)

    def test_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        done = rocedump("-w", "/dev/full", self.capture, status=1)
        self.assertIn(b"/dev/full: No space left on device", done.stderr)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, self.capture], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output: No space left on device", done.stderr)


class Streams(unittest.TestCase):
    def setUp(self):
        self.data = (SOURCE / "pcaps" / "rc_all_ops.pcap").read_bytes()

    def test_standard_input_plain_and_gzip(self):
        want = out(SOURCE / "pcaps" / "rc_all_ops.pcap")
        self.assertEqual(out("-", stdin=self.data), want)
        self.assertEqual(out("-r", "-", stdin=gzip.compress(self.data)), want)

    def test_unreadable_file(self):
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        path = WORK / "unreadable.pcap"
        path.write_bytes(self.data)
        path.chmod(0)
        self.assertIn(b"unreadable.pcap: Permission denied", rocedump(path, status=1).stderr)

    def test_closed_pipe_is_quiet(self):
        # More text than a pipe holds, so that writing goes on after the reader has left.
        large = self.data[:24] + self.data[24:] * 100
        done = subprocess.Popen([PROGRAM, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done.stdout.close()
        for send in (lambda: done.stdin.write(large), done.stdin.close):
            try:
                send()
            except BrokenPipeError:
                pass
        self.assertEqual(done.wait(timeout=60), 0)
        self.assertEqual(done.stderr.read(), b"")
        done.stderr.close()

    def test_interrupt_ends_cleanly(self):
        done = subprocess.Popen([PROGRAM, "--json", "--fields=frame", "-"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done.stdin.write(self.data)
        done.stdin.flush()
        # Everything that has come in is printed although the input has not ended.
        text = b""
        while text.count(b'"frame"') < 5:
            text += done.stdout.read1()
        done.send_signal(signal.SIGINT)
        rest, error = done.communicate(timeout=60)
        self.assertEqual((done.returncode, error), (0, b""))
        self.assertGreater(len(json.loads(text + rest)["packets"]), 4)

    def test_follow_waits_for_a_growing_file(self):
        path = WORK / "growing.pcap"
        frames = out("--fields=frame", "-r", "-", stdin=self.data).split()
        cut = len(self.data) // 2
        path.write_bytes(self.data[:cut])
        done = subprocess.Popen([PROGRAM, "-f", "--fields=frame", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seen = [done.stdout.readline().decode().strip()]
        with open(path, "ab") as f:
            f.write(self.data[cut:])
        while len(seen) < len(frames):
            seen.append(done.stdout.readline().decode().strip())
        done.send_signal(signal.SIGINT)
        rest, error = done.communicate(timeout=60)
        self.assertEqual((seen, rest, error, done.returncode), (frames, b"", b"", 0))

    def test_user_signal_tells_where_it_is(self):
        done = subprocess.Popen([PROGRAM, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done.stdin.write(self.data)
        done.stdin.flush()
        done.stdout.read1()
        done.send_signal(signal.SIGUSR1)
        _, error = done.communicate(timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(error.decode(), r"^rocedump: \d+ packets read, \d+ printed, 0 dropped by the capturer\n$")


def main():
    global PROGRAM, WORK
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocedump", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for made captures")
    args, rest = parser.parse_known_args()
    PROGRAM, WORK = os.path.abspath(args.rocedump), args.work.resolve()
    subprocess.run([sys.executable, HERE / "make_captures.py", WORK / "made"], check=True)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
