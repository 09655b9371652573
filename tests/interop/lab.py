#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest with Linux soft-RoCE beside this machine, in a network namespace of its own.

    lab.py up DIR           make the guest if need be, boot it; DIR/state.json says where it is
    lab.py run DIR COMMAND  run a shell command in the guest
    lab.py host DIR COMMAND run one in the namespace, beside the guest
    lab.py down DIR         end the guest, remove the namespace

The host has 10.77.0.1 and fd77::1 on roce0, the guest 10.77.0.2 and fd77::2 on eth0 with rxe0; between them are a bridge
and the guest's tap0, where captures see both directions. Exit 77: no QEMU here.
"""
import base64
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
HOST, GUEST = "10.77.0.1", "10.77.0.2"
HOST6, GUEST6 = "fd77::1", "fd77::2"
MAC = "52:54:00:77:00:02"
MTU = 4200  # room for a path MTU of 4096
AGENT = 5000
LIFETIME = 1800  # seconds after which a forgotten guest ends by itself
SKIP = 77


class Unavailable(Exception):
    """This machine cannot run the lab."""


class Failed(Exception):
    """The lab should run here and does not."""


def sh(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def alive(pid, needle):
    """Process |pid| runs and is the one meant: numbers are used again."""
    try:
        return needle in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


class Lab:
    def __init__(self, directory):
        self.dir = pathlib.Path(directory).resolve()
        self.state_file = self.dir / "state.json"
        self.state = json.loads(self.state_file.read_text()) if self.state_file.exists() else {}

    # ---- life ----
    def up(self):
        self.down()
        try:
            self.make()
        except BaseException:
            self.down()
            raise

    def make(self):
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            raise Unavailable("needs root and /dev/net/tun")
        if not shutil.which("qemu-system-x86_64"):
            raise Unavailable("qemu-system-x86_64 is missing (scripts/install-deps test)")
        self.dir.mkdir(parents=True, exist_ok=True)
        self.state = {"netns": f"roce-interop-{os.getpid()}"}
        try:
            sh("ip", "netns", "add", self.state["netns"])
        except Failed as reason:
            raise Unavailable(f"no network namespace can be made: {reason}") from None
        self.save()
        made = subprocess.run([HERE / "build-guest", self.dir / "guest"], check=False)
        if made.returncode == SKIP:
            raise Unavailable("the guest cannot be made")
        if made.returncode != 0:
            raise Failed("build-guest failed: are Debian's packages within reach?")
        self.network()
        self.boot()

    def save(self):
        self.state_file.write_text(json.dumps(self.state))

    def network(self):
        ns = self.state["netns"]
        silent = [f"sysctl -qw net.ipv6.conf.{name}.disable_ipv6=1" for name in ("br0", "tap0", "port0")]
        members = [f"ip link set {name} mtu {MTU} master br0 up" for name in ("tap0", "port0")]
        for line in ("ip link set lo up", "ip link add br0 type bridge mcast_snooping 0 stp_state 0 forward_delay 0",
                     "ip tuntap add tap0 mode tap", f"ip link add roce0 mtu {MTU} type veth peer name port0 mtu {MTU}",
                     *silent, *members, "ip link set br0 up", f"ip addr add {HOST}/24 dev roce0",
                     f"ip addr add {HOST6}/64 dev roce0 nodad", "ip link set roce0 up"):
            sh("ip", "netns", "exec", ns, *line.split())

    def boot(self):
        guest, console = self.dir / "guest", self.dir / "console"
        console.write_bytes(b"")
        # Frames go as soft-RoCE makes them: no offload puts them together or leaves sums open.
        plain = ",".join(f"{side}{what}=off" for side in ("guest_", "host_") for what in ("tso4", "tso6", "ufo", "ecn"))
        command = ["timeout", str(LIFETIME), "qemu-system-x86_64", "-accel", "tcg", "-machine", "pc,usb=off",
                   "-cpu", "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand", "-m", "640", "-smp", "1", "-nodefaults",
                   "-display", "none", "-no-reboot", "-serial", f"file:{console}",
                   "-kernel", str(guest / "vmlinux"), "-initrd", str(guest / "initrd.cpio"),
                   "-append", "console=ttyS0 quiet loglevel=4 cryptomgr.notests mitigations=off tsc=reliable nokaslr panic=-1 "
                              f"random.trust_cpu=on rdinit=/init ip4={GUEST}/24 ip6={GUEST6}/64 mtu={MTU}",
                   "-netdev", "tap,id=data,ifname=tap0,script=no,downscript=no,vhost=off",
                   "-device", f"virtio-net-pci,netdev=data,mac={MAC},romfile=,csum=off,guest_csum=off,gso=off,{plain}"]
        with open(self.dir / "qemu.log", "wb") as log:
            qemu = subprocess.Popen(["ip", "netns", "exec", self.state["netns"], *command], stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, start_new_session=True)
        self.state["qemu"] = qemu.pid  # `ip netns exec` and `timeout` become it, qemu is the child
        self.save()
        end = time.monotonic() + 180
        while b"guest: ready" not in console.read_bytes():
            if qemu.poll() is not None:
                raise Failed(f"qemu ended: {(self.dir / 'qemu.log').read_text().strip()}")
            if time.monotonic() > end:
                raise Failed(f"the guest does not boot, see {console}")
            time.sleep(0.1)
        self.enter()
        self.guest("rdma link show rxe0/1 | grep -q ACTIVE", timeout=60)

    def down(self):
        pid = self.state.get("qemu")
        if pid and alive(pid, str(self.dir / "guest").encode()):
            os.killpg(pid, signal.SIGTERM)
            end = time.monotonic() + 10
            while alive(pid, b"qemu") and time.monotonic() < end:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    pass
                time.sleep(0.05)
        ns = self.state.get("netns")
        if ns and re.search(rf"^{ns}\b", sh("ip", "netns", "list"), re.M):
            sh("ip", "netns", "del", ns)
        self.state_file.unlink(missing_ok=True)
        self.state = {}

    # ---- use ----
    def enter(self):
        """This process and its children are in the namespace from now on."""
        with open(f"/run/netns/{self.state['netns']}", "rb") as ns:
            setns(ns.fileno())

    def guest(self, command, timeout=60, check=True):
        """Runs |command| in the guest. Returns (exit status, output)."""
        with connect((GUEST, AGENT), timeout) as agent:
            agent.sendall(base64.b64encode(command.encode()) + b"\n")
            output = b""
            try:
                while data := agent.recv(65536):
                    output += data
            except TimeoutError:
                raise Failed(f"guest: no end of {command!r} after {timeout} s\n{output.decode(errors='replace')}") from None
        text = output.decode(errors="replace")
        head, mark, status = text.rpartition("\nexit=")
        if not mark:
            raise Failed(f"guest: {command!r} was cut off\n{text}")
        if check and int(status) != 0:
            raise Failed(f"guest: {command!r} gave {status.strip()}\n{head}")
        return int(status), head

    def counters(self, prepare=""):
        """rxe0's counters by name, behind the command |prepare|."""
        _, text = self.guest(f"{prepare}\nrdma statistic show link rxe0/1")
        return counters_of(text)


def counters_of(text):
    words = text[text.index("link rxe0/1"):].split()
    return {name: int(value) for name, value in zip(words[2::2], words[3::2])}


def setns(fd):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, 0x40000000) != 0:  # CLONE_NEWNET; os.setns is younger than Debian 12's Python
        raise OSError(ctypes.get_errno(), "setns")


def connect(address, timeout):
    end = time.monotonic() + 20
    while True:
        try:
            found = socket.create_connection(address, timeout=5)
            found.settimeout(timeout)
            return found
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def main(verb, directory, *words):
    lab = Lab(directory)
    if verb == "up":
        lab.up()
        print(f"the guest runs in network namespace {lab.state['netns']}")
        return 0
    if verb == "down":
        lab.down()
        return 0
    if not lab.state:
        raise Failed("no guest runs")
    lab.enter()
    if verb == "run":
        status, text = lab.guest(" ".join(words), check=False, timeout=300)
        print(text)
        return status
    if verb == "host":
        return subprocess.run(" ".join(words), shell=True, check=False).returncode
    raise Failed(__doc__)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Unavailable as reason:
        print(f"lab: skipped: {reason}", file=sys.stderr)
        sys.exit(SKIP)
    except Failed as reason:
        print(f"lab: {reason}", file=sys.stderr)
        sys.exit(1)
