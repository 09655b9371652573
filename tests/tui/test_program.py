#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What screens do not show of rocetop: JSON, configuration, limits, the manual page."""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
CAPTURE = SOURCE / "pcaps" / "loss5_egress_send.pcap"
PROGRAM = ""


def rocetop(*args, env=None, stdin=subprocess.DEVNULL):
    base = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "XDG_CONFIG_HOME")}
    return subprocess.run([PROGRAM, *map(str, args)], env=base | {"TZ": "UTC", "LC_ALL": "C"} | (env or {}), stdin=stdin,
                          capture_output=True, text=True, timeout=60)


class Json(unittest.TestCase):
    def test_one_document(self):
        done = rocetop("--json", CAPTURE)
        self.assertEqual(done.returncode, 0, done.stderr)
        doc = json.loads(done.stdout)
        self.assertEqual(doc["schema"], "rocetop/1")
        self.assertEqual(list(doc), ["schema", "capture", "totals", "rates_seconds", "rates", "qps", "qps_left_out", "pfc",
                                     "events", "events_left_out", "hosts"])
        self.assertIsNone(doc["pfc"])  # no pause frame seen is not none sent
        self.assertIsNone(doc["capture"]["dropped_kernel"])
        self.assertEqual([q["dest_qp"] for q in doc["qps"]], [0xC1, 0xC2])

    def test_one_a_refresh(self):
        done = rocetop("--ndjson", "-d", "0.5", "-n", "3", CAPTURE)
        docs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(docs), 3)
        times = [d["capture"]["now_ns"] for d in docs]
        self.assertEqual([b - a for a, b in zip(times, times[1:])], [500000000] * 2)

    def test_sorted_and_filtered(self):
        doc = json.loads(rocetop("--json", "--sort=PKTS", "-Y", "op==ack", CAPTURE).stdout)
        self.assertEqual([q["dest_qp"] for q in doc["qps"]], [0xC2])
        self.assertEqual(doc["qps_left_out"], 1)

    def test_csv(self):
        """529 RoCE frames, 10 NAKs: pcaps/README.md."""
        done = rocetop("--csv", "--sort=PKTS", CAPTURE)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual([r["dest_qp"] for r in rows], [str(0xC1), str(0xC2)])
        self.assertEqual(sum(int(r["packets"]) for r in rows), 529)
        self.assertEqual([r["naks"] for r in rows], ["0", "10"])
        self.assertEqual(rows[1]["gap_events"], "")  # ACKs have no PSNs of their own
        done = rocetop("--csv", "--ndjson", CAPTURE)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("exclude each other", done.stderr)

    def test_write(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "written.pcap"
            done = rocetop("--batch", "-w", path, CAPTURE)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            want, have = CAPTURE.read_bytes(), path.read_bytes()
            self.assertEqual(len(have), len(want))  # the same frames; the stamps are finer
            self.assertEqual(have[40:40 + 64], want[40:40 + 64])
            self.assertEqual(rocetop("--csv", path).stdout, rocetop("--csv", CAPTURE).stdout)
        for place, status in (("-", 2), (CAPTURE, 2), ("/nowhere/x", 1)):
            self.assertEqual(rocetop("--batch", "-w", place, CAPTURE).returncode, status)

    def test_flow_limit(self):
        doc = json.loads(rocetop("--json", "--max-flows=1", CAPTURE).stdout)
        self.assertEqual(len(doc["qps"]), 1)
        self.assertGreater(doc["capture"]["evicted"], 0)

    def test_no_terminal(self):
        done = rocetop(CAPTURE)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "rocetop: no terminal; --batch prints screens as text\n")

    def test_closed_pipe(self):
        done = subprocess.run(f"{PROGRAM} --batch -n 1000 -d 10ms --size 200x100 {CAPTURE} | head -1", shell=True,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")


class Configuration(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.home.name) / "rocekit" / "rocetop.conf"
        self.path.parent.mkdir()
        self.env = {"XDG_CONFIG_HOME": self.home.name}

    def tearDown(self):
        self.home.cleanup()

    def dump(self, *args):
        done = rocetop("--dump-config", *args, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        section, values = "", {}
        for line in done.stdout.splitlines():
            if line.startswith("["):
                section = line[1:-1] + "."
            elif line and not line.startswith("#"):
                key, value = line.split("=", 1)
                values[section + key.strip()] = value.strip()
        return done.stdout, values

    def test_file_then_options(self):
        self.path.write_text("# mine\nsort = REX\ninterval = 250ms\n\n[events]\nlevel = err\n")
        _, values = self.dump("-o", "sort=NAK", "-o", "events.cnp_rate=7", "-d", "2")
        self.assertEqual(values["sort"], "NAK")
        self.assertEqual(values["interval"], "2s")
        self.assertEqual(values["events.level"], "err")
        self.assertEqual(values["events.cnp_rate"], "7")

    def test_dump_is_a_configuration_file(self):
        text, values = self.dump("-o", "units=bytes", "-o", "columns=DQPN,GAP", "-o", "events.ce_percent=9")
        self.path.write_text(text)
        self.assertEqual(self.dump(), (text, values))

    def test_mistakes_name_the_line(self):
        self.path.write_text("sort = GAP\nunits = miles\n")
        done = rocetop("--dump-config", env=self.env)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"rocetop: {self.path}: line 2: units: 'miles' is none of bits|bytes\n")
        self.path.write_text("nonsense\n")
        self.assertIn("line 1: a line is: key = value", rocetop("--dump-config", env=self.env).stderr)
        self.path.write_text("[events\n")
        self.assertIn("line 1: a section ends with ]", rocetop("--dump-config", env=self.env).stderr)

    def test_file_that_is_named_must_be_there(self):
        done = rocetop("--config", self.path, "--dump-config", env=self.env)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No such file", done.stderr)
        self.assertEqual(rocetop("--dump-config", env=self.env).returncode, 0)


class Manual(unittest.TestCase):
    def test_options_settings_columns_and_keys(self):
        page = (SOURCE / "man" / "rocetop.1").read_text().replace("\\-", "-").replace("\\&", "")
        plain = re.sub(r"\s+", " ", page)
        help_text = rocetop("--help").stdout
        for line in help_text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        for name in re.findall(r"^  (?:-\w, |    )--([\w-]+)", help_text, re.M):
            self.assertRegex(plain, rf"Fl -{name}\b", name)
        for key in re.findall(r"^([\w.]+) =", rocetop("--dump-config", "--config=/dev/null").stdout, re.M):
            self.assertRegex(plain, rf"\b{key}\b", key)
        for line in rocetop("--sort=help").stdout.splitlines():
            self.assertIn(line.split()[0], plain)
        for word in re.findall(r'^LOG\(\w+, \w+, "([\w-]+)"', (SOURCE / "tui" / "log.def").read_text(), re.M):
            self.assertRegex(plain, rf"\b{word}\b", word)

    def test_help_and_version(self):
        self.assertEqual(rocetop("--help").returncode, 0)
        self.assertRegex(rocetop("--version").stdout, r"^rocetop \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
