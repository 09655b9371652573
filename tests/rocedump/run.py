#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs rocedump over TESTLIST and compares with the golden files; --update rewrites them."""
import argparse
import difflib
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


def tests(path):
    for line in path.read_text().splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words[0], words[1], words[2], words[3:]


def run(program, work, capture, options):
    command = [program]
    stdin = subprocess.DEVNULL
    if capture.startswith("<"):
        stdin = open(work / capture[1:], "rb")
        command += options + ["-"]
    else:
        command += (["-r", capture] if capture != "-" else []) + options
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TZ": "UTC", "LC_ALL": "C"}
    done = subprocess.run(command, cwd=work, env=env, stdin=stdin, capture_output=True, timeout=60)
    text = done.stdout
    if done.stderr:
        text += b"--- standard error\n" + done.stderr
    if done.returncode != 0:
        text += b"--- status %d\n" % done.returncode
    return text


def main(program, here, golden_folder, options_of=lambda options: options):
    """Runs |program| over |here|/TESTLIST and compares with the files in |golden_folder|."""
    parser = argparse.ArgumentParser()
    parser.add_argument(f"--{program}", dest="path", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for made captures")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()

    subprocess.run([sys.executable, HERE / "make_captures.py", args.work / "made"], check=True)
    link = args.work / "pcaps"
    if not link.is_symlink():
        link.symlink_to(SOURCE / "pcaps")
    failed = count = 0
    updated = set()
    for name, capture, golden, options in tests(here / "TESTLIST"):
        if args.names and name not in args.names:
            continue
        count += 1
        text = run(os.path.abspath(args.path), args.work, capture, options_of(options))
        path = golden_folder / golden
        if args.update and golden not in updated:
            updated.add(golden)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            continue
        want = path.read_bytes() if path.exists() else b""
        if text == want:
            continue
        failed += 1
        print(f"FAILED {name}: {program} {capture} {shlex.join(options)}")
        sys.stdout.writelines(difflib.unified_diff(
            want.decode(errors="replace").splitlines(keepends=True),
            text.decode(errors="replace").splitlines(keepends=True), golden, "now"))
    print(f"{count} tests, {failed} failed")
    sys.exit(failed > 0 or count == 0)


if __name__ == "__main__":
    main("rocedump", HERE, HERE.parent / "golden" / "rocedump")
