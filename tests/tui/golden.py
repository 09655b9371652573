#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs rocetop over TESTLIST in batch mode and compares with tests/screens; --update rewrites them."""
import argparse
import difflib
import importlib.util
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SCREENS = HERE.parent / "screens"

spec = importlib.util.spec_from_file_location("rocedump_run", HERE.parent / "rocedump" / "run.py")
rocedump_run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rocedump_run)


def options_of(words):
    """A screen's options: batch mode, no one's own settings; words behind the capture are a BPF expression."""
    return ["--batch", "--config=/dev/null"] + words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocetop", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for made captures")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()

    program = os.path.abspath(args.rocetop)
    subprocess.run([sys.executable, HERE.parent / "rocedump" / "make_captures.py", args.work / "made"], check=True)
    link = args.work / "pcaps"
    if not link.is_symlink():
        link.symlink_to(SOURCE / "pcaps")
    failed = count = 0
    for name, capture, golden, options in rocedump_run.tests(HERE / "TESTLIST"):
        if args.names and name not in args.names:
            continue
        count += 1
        text = rocedump_run.run(program, args.work, capture, options_of(options))
        path = SCREENS / golden
        if args.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            continue
        want = path.read_bytes() if path.exists() else b""
        if text == want:
            continue
        failed += 1
        print(f"FAILED {name}: rocetop {capture} {shlex.join(options)}")
        sys.stdout.writelines(difflib.unified_diff(
            want.decode(errors="replace").splitlines(keepends=True),
            text.decode(errors="replace").splitlines(keepends=True), golden, "now"))
    print(f"{count} tests, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
