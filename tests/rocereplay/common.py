# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the programs, for the tests of rocereplay."""
import argparse
import json
import os
import pathlib
import subprocess
import unittest

BIN = WORK = None
ENV = os.environ | {"LC_ALL": "C", "NO_COLOR": "1"}


def run(*args, status=0, timeout=60):
    """rocereplay ARGS; returns what it printed on both outputs."""
    done = subprocess.run([BIN / "rocereplay", *map(str, args)], capture_output=True, timeout=timeout, text=True,
                          stdin=subprocess.DEVNULL, env=ENV)
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    return done


def rocestat(path):
    done = subprocess.run([BIN / "rocestat", "--json", str(path)], capture_output=True, timeout=60, text=True, env=ENV)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tshark(path, *fields, display=None):
    """Rows of these fields of the frames of |path|, as tshark reads them."""
    command = ["tshark", "-n", "-r", str(path), "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    if display:
        command += ["-Y", display]
    done = subprocess.run(command, capture_output=True, timeout=120, text=True, env=ENV)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def main():
    global BIN, WORK
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args, rest = parser.parse_known_args()
    BIN, WORK = args.bin.resolve(), args.work.resolve()
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(module="__main__", argv=["test", *rest])
