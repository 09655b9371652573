#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""libpcap is loaded when it is needed, and not before; without it, whoever needs it says so."""
import argparse
import ctypes.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

CAPTURE = pathlib.Path(__file__).resolve().parent.parent.parent / "pcaps" / "cm_rping.pcap"
NAME = ctypes.util.find_library("pcap")
FILES = WORK = None
READERS = (("rocedump",), ("rocestat",), ("rocetop", "--batch"))


def run(program, *args, library=None):
    """Status, output and errors of a program that finds |library| where it looks for libpcap."""
    file = next(f for f in FILES if f.name == program)
    env = os.environ | ({} if library is None else {"LD_LIBRARY_PATH": str(library)})
    done = subprocess.run([file, *args], capture_output=True, text=True, timeout=60, env=env, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def empty():
    folder = WORK / "empty"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_bytes(b"")
    return folder


def another():
    """A library without a function of libpcap: the C library in its place."""
    folder = WORK / "another"
    folder.mkdir(parents=True, exist_ok=True)
    maps = pathlib.Path("/proc/self/maps").read_text()
    (folder / NAME).unlink(missing_ok=True)
    (folder / NAME).symlink_to(re.search(r"/\S+/libc[.-]\S+", maps).group())
    return folder


class Libpcap(unittest.TestCase):
    def test_nothing_is_linked_with_it(self):
        for file in FILES:
            text = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
            needed = re.findall(r"\(NEEDED\).*\[(.+)\]", text)
            self.assertIn("libc.so.6", needed)
            self.assertNotIn(NAME, needed, file)

    def test_files_do_not_need_it(self):
        for words in READERS:
            want = run(*words, CAPTURE)
            self.assertEqual(want[0], 0)
            self.assertEqual(run(*words, CAPTURE, library=empty()), want)

    def test_expressions_need_it(self):
        why = f"libpcap does not load ({empty()}/{NAME}: file too short); install it\n"
        for words in READERS:
            self.assertEqual(run(*words, CAPTURE, "udp", library=empty()), (1, "", f"{words[0]}: BPF expression: {why}"))
            self.assertEqual(run(*words, "--roce-filter", CAPTURE, library=empty()),
                             (1, "", f"{words[0]}: --roce-filter: {why}"))

    def test_interfaces_without_a_ring_need_it(self):
        why = f"libpcap does not load ({empty()}/{NAME}: file too short); install it\n"
        self.assertEqual(run("rocedump", "-i", "any", library=empty()), (1, "", f"rocedump: any: {why}"))

    def test_another_library_is_not_taken_for_it(self):
        status, _, text = run("rocedump", CAPTURE, "udp", library=another())
        self.assertEqual(status, 1)
        self.assertRegex(text, r"libpcap does not load \(\S+: undefined symbol: pcap_\w+\); install it\n$")


parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("files", type=pathlib.Path, nargs="+")
options = parser.parse_args()
WORK, FILES = options.work, options.files
unittest.main(argv=sys.argv[:1])
