# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of rocestat share: running it, captures, JSON without double keys."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
PROGRAM = WORK = None


def rocestat(*args, stdin=None, env=(), status=0):
    done = subprocess.run([PROGRAM, *map(str, args)], input=stdin, capture_output=True, timeout=120,
                          stdin=subprocess.DEVNULL if stdin is None else None,
                          env=os.environ | {"TZ": "UTC", "LC_ALL": "C"} | dict(env))
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}, not {status}: {done.stderr.decode()}")
    return done


def no_duplicates(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key occurs twice: {keys}")
    return dict(pairs)


def parse(text):
    return json.loads(text, object_pairs_hook=no_duplicates)


def json_of(*args, **kwargs):
    return parse(rocestat(*args, **kwargs).stdout.decode())


def made(name):
    return WORK / "made" / name


def CAPTURES():
    found = sorted(p for p in (SOURCE / "pcaps").iterdir() if p.suffix in (".pcap", ".pcapng"))
    made_ones = [made(n) for n in ("odd.pcap", "pause.pcap", "two_links.pcapng", "no_roce.pcap", "no_packets.pcap")]
    return found[::int(os.environ.get("ROCE_EVERY", "1"))] + made_ones


def main():
    global PROGRAM, WORK
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocestat", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args, rest = parser.parse_known_args()
    # The test modules hold this module under its own name.
    module = sys.modules["common"]
    module.PROGRAM, module.WORK = os.path.abspath(args.rocestat), args.work.resolve()
    subprocess.run([sys.executable, HERE.parent / "rocedump" / "make_captures.py", args.work / "made"], check=True)
    unittest.main(module="__main__", argv=[sys.argv[0]] + rest)
