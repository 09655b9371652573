# SPDX-License-Identifier: GPL-2.0-or-later
"""A network of the test's own (a namespace with veth pairs a0-b0, a1-b1), frames sent into it, and programs that
capture."""
import argparse
import ctypes
import json
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = WORK = None
SKIPPED = 77
CLONE_NEWNET = 0x40000000
PATIENCE = 30  # seconds until a condition is given up


def libc(name, *args):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*args) != 0:
        raise OSError(ctypes.get_errno(), name)


def enter():
    if os.geteuid() != 0:
        return False
    try:
        libc("unshare", CLONE_NEWNET)
    except OSError:
        return False
    for which in ("all", "default"):
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6").write_text("1")
    try:
        for i in range(2):
            ip("link", "add", f"a{i}", "type", "veth", "peer", "name", f"b{i}")
            for end in "ab":
                ip("link", "set", f"{end}{i}", "mtu", "9000", "up", "arp", "off")
        ip("link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def ip(*args):
    subprocess.run(["ip", *args], check=True)


def frames(path):
    """The frames of a little-endian pcap file of Ethernet frames."""
    data = pathlib.Path(path).read_bytes()
    magic, _, _, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    assert magic in (0xa1b2c3d4, 0xa1b23c4d) and link == 1
    at, found = 24, []
    while at < len(data):
        captured = struct.unpack_from("<8xI", data, at)[0]
        found.append(data[at + 16:at + 16 + captured])
        at += 16 + captured
    return found


def capture(name):
    return SOURCE / "pcaps" / name


SOCKETS = {}  # closing a packet socket takes the kernel some ms


def send(these, interface="a0"):
    if interface not in SOCKETS:
        SOCKETS[interface] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        SOCKETS[interface].bind((interface, 0))
    for frame in these:
        SOCKETS[interface].send(frame)


def has_carrier(interface):
    shown = subprocess.run(["ip", "-o", "link", "show", interface], capture_output=True, check=True, text=True).stdout
    return " state UP " in shown


def until(condition, what):
    """Waits for something that another process does; polls, since there is nothing to wait on."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        select.select([], [], [], 0.02)
    raise AssertionError(f"not within {PATIENCE} s: {what}")


class Program:
    """A program that captures; its standard error is read line by line. What it prints goes to the file |out| if
    given."""

    def __init__(self, name, *args, env=(), out=None):
        command = [BIN / name, *map(str, args)]
        if out is not None:  # nobody reads a pipe while the traffic runs
            command = ["sh", "-c", 'exec "$@" >"$0"', out, *command]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=os.environ | {"TZ": "UTC", "LC_ALL": "C"} | dict(env))
        self.said = {"out": b"", "err": b""}
        for stream in (self.process.stdout, self.process.stderr):
            os.set_blocking(stream.fileno(), False)
        # No frame is missed once root is given up, which is done after the interfaces are open.
        until(lambda: self.process.poll() is not None or "NoNewPrivs:\t1" in self.status(), "the program captures")

    def status(self):
        return pathlib.Path(f"/proc/{self.process.pid}/status").read_text()

    def read(self, which="err"):
        stream = self.process.stdout if which == "out" else self.process.stderr
        while True:
            try:
                data = os.read(stream.fileno(), 65536)
            except BlockingIOError:
                break
            if not data:
                break
            self.said[which] += data
        return self.said[which].decode()

    def counted(self):
        """What it answers to SIGUSR1: frames so far."""
        before = len(re.findall("packets (?:captured|read), ", self.read()))
        self.process.send_signal(signal.SIGUSR1)
        until(lambda: len(re.findall("packets (?:captured|read), ", self.read())) > before, "an answer to SIGUSR1")
        return int(re.findall(r"(\d+) packets (?:captured|read), ", self.read())[-1])

    def end(self, status=0, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.wait(status)

    def wait(self, status=0):
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self.read("out")
            self.read("err")
            select.select([self.process.stdout, self.process.stderr], [], [], 0.05)
        if self.process.poll() is None:
            self.process.kill()
            raise AssertionError("the program does not end")
        self.read("out")
        self.read("err")
        assert self.process.returncode == status, (self.process.returncode, self.said["err"].decode())
        return self.said["out"].decode()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Case(unittest.TestCase):
    maxDiff = None

    def start(self, name, *args, env=(), out=None):
        program = Program(name, *args, env=env, out=out)
        self.addCleanup(program.kill)
        return program


def json_of(name):
    done = subprocess.run([BIN / "rocestat", "--json", name], capture_output=True, check=True)
    return json.loads(done.stdout)


def main():
    global BIN, WORK
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args, rest = parser.parse_known_args()
    module = sys.modules["net"]
    module.BIN, module.WORK = args.bin.resolve(), args.work.resolve()
    module.WORK.mkdir(parents=True, exist_ok=True)
    module.WORK.chmod(0o777)  # programs that gave up root write here, too
    if not enter():
        print("no network namespace can be made (needs root and iproute2): skipped")
        sys.exit(SKIPPED)
    unittest.main(module="__main__", argv=[sys.argv[0]] + rest)
