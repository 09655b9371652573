# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of rocesim share: running it, reading what it wrote without any code of the project."""
import argparse
import csv
import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest
import zlib

ROCESIM = ROCESTAT = WORK = None
EPOCH_NS = 10**18


def run(*args, status=0):
    done = subprocess.run([ROCESIM, *map(str, args)], capture_output=True, timeout=280, stdin=subprocess.DEVNULL,
                          env=os.environ | {"LC_ALL": "C"})
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}, not {status}: {done.stderr.decode()}")
    return done


def summary(*args):
    return json.loads(run("--json", *args).stdout)


def port(result, name):
    return next(p for p in result["ports"] if p["port"] == name)


def queue(result, name, priority=3):
    return next(p for p in port(result, name)["priorities"] if p["priority"] == priority)["queue_bytes"]


def flow(result, name):
    return next(f for f in result["flows"] if f["name"] == name)


def paused_ms(result):
    return result["paused_ns"] / 1e6


def findings(path):
    done = subprocess.run([ROCESTAT, "--json", "--findings", "--link-speed=40G", path], capture_output=True,
                          timeout=120)
    return {f["kind"] for f in json.loads(done.stdout)["findings"]}


def rocestat(path, *args):
    return json.loads(subprocess.run([ROCESTAT, "--json", *args, path], check=True, capture_output=True,
                                     timeout=120).stdout)


def frames(path):
    """(time in ns since the start, bytes) of a little-endian pcapng file with ns time stamps"""
    data, at = pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low, caplen, _ = struct.unpack_from("<IIII", data, at + 12)
            yield (high << 32 | low) - EPOCH_NS, data[at + 28:at + 28 + caplen]
        at += length


def is_ipv4(frame):
    return frame[12:14] == b"\x08\x00"


def icrc_is_right(frame):
    """IBTA annex A17.3.3, for IPv4 without options."""
    ip = bytearray(frame[14:14 + int.from_bytes(frame[16:18], "big")])
    ip[1] = ip[8] = ip[10] = ip[11] = ip[26] = ip[27] = ip[32] = 0xFF
    return zlib.crc32(b"\xff" * 8 + ip[:-4]) == int.from_bytes(ip[-4:], "little")


def checksum_is_right(frame):
    total = sum(struct.unpack(">10H", frame[14:34]))
    return (total & 0xFFFF) + (total >> 16) in (0xFFFF, 0x1FFFE)


def truth(directory):
    with open(directory / "truth.ndjson", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def rows(path):
    with open(path, encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocesim", required=True)
    parser.add_argument("--rocestat", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args, rest = parser.parse_known_args()
    module = sys.modules["sim"]
    module.ROCESIM, module.ROCESTAT = os.path.abspath(args.rocesim), os.path.abspath(args.rocestat)
    module.WORK = args.work.resolve()
    module.WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(module="__main__", argv=[sys.argv[0]] + rest)
