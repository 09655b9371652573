# SPDX-License-Identifier: GPL-2.0-or-later
"""rocedump on interfaces: what is sent is what it shows and writes."""
import ctypes.util
import json
import os
import signal
import subprocess
import unittest

import net


class Live(net.Case):
    def test_written_frames_are_those_sent(self):
        sent = net.frames(net.capture("rc_all_ops.pcap"))
        file = net.WORK / "written.pcap"
        program = self.start("rocedump", "-i", "b0", "-w", file)
        net.send(sent)
        net.until(lambda: program.counted() == len(sent), "all frames")
        program.end()
        self.assertEqual(net.frames(file), sent)
        self.assertIn(f"{len(sent)} packets captured, {len(sent)} written, 0 dropped by the kernel, 0 by the interface",
                      program.read())

    def test_lines_appear_before_more_frames_come(self):
        sent = net.frames(net.capture("cm_rping.pcap"))
        program = self.start("rocedump", "-i", "b0")
        net.send(sent[:1])
        net.until(lambda: "CM REQ" in program.read("out"), "the first line")
        net.send(sent[1:])
        out = program.end()
        self.assertEqual(out.count("\n"), len(sent))

    def test_all_that_came_before_the_signal_is_shown(self):
        sent = net.frames(net.capture("loss5_egress_send.pcap"))
        program = self.start("rocedump", "-i", "b0", "--ndjson", "-a")
        net.send(sent)
        lines = program.end(how=signal.SIGTERM).splitlines()
        self.assertEqual([json.loads(line)["frame"] for line in lines], list(range(1, len(sent) + 1)))

    def test_count_ends_it(self):
        program = self.start("rocedump", "-i", "b0", "-c", 3)
        net.send(net.frames(net.capture("rc_all_ops.pcap")))
        self.assertEqual(program.wait().count("\n"), 3)

    def test_kernel_filter_and_snap_length(self):
        sent = net.frames(net.capture("cm_rping.pcap"))
        program = self.start("rocedump", "-i", "b0", "-s", 60, "--ndjson", "src", "host", "192.168.77.2")
        net.send(sent)
        records = [json.loads(line) for line in program.end().splitlines()]
        self.assertEqual(len(records), sum(frame[26:30] == bytes([192, 168, 77, 2]) for frame in sent))
        self.assertEqual({r["captured"] for r in records}, {60})
        self.assertEqual({r["src"] for r in records}, {"192.168.77.2"})

    def test_vlan_tags_are_shown(self):
        plain = net.frames(net.capture("rc_all_ops.pcap"))
        sent = [f[:12] + bytes([0x81, 0, 0x60, 7]) + f[12:] for f in plain if f[12:14] == b"\x08\x00"]
        program = self.start("rocedump", "-i", "b0", "--ndjson")
        net.send(sent)
        records = [json.loads(line) for line in program.end().splitlines()]
        self.assertGreater(len(records), 50)
        self.assertEqual({(r["vlan"], r["pcp"]) for r in records}, {(7, 3)})
        self.assertEqual({r["icrc"]["status"] for r in records}, {"ok"})

    def test_directions_on_two_ports_are_merged(self):
        sent = net.frames(net.capture("rc_pingpong_ipv6.pcap"))
        program = self.start("rocedump", "-i", "b0", "-i", "b1", "-w", net.WORK / "merged.pcap")
        for frame in sent:
            net.send([frame], "a0" if frame[6:12] == sent[0][6:12] else "a1")
        net.until(lambda: program.counted() == len(sent), "all frames")
        program.end()
        self.assertEqual(net.frames(net.WORK / "merged.pcap"), sent)

    def test_closed_pipe_ends_it_quietly(self):
        program = self.start("rocedump", "-i", "b0")
        net.send(net.frames(net.capture("cm_rping.pcap"))[:5])
        net.until(lambda: program.read("out").count("\n") > 0, "a line")
        program.process.stdout.close()
        program.process.stdout = open(os.devnull, "rb")
        net.send(net.frames(net.capture("rc_all_ops.pcap")))
        program.wait()

    def test_lists_interfaces_without_root(self):
        done = subprocess.run([net.BIN / "rocedump", "-D"], capture_output=True, check=True, text=True, user=65534)
        rows = {line.split()[0]: line.split()[1:3] for line in done.stdout.splitlines()[1:]}
        self.assertEqual(rows["b0"], ["up", "9000"])
        self.assertIn("lo", rows)

    def test_says_what_helps(self):
        def says(*args, **kwargs):
            done = subprocess.run([net.BIN / "rocedump", *args], capture_output=True, text=True, timeout=30, **kwargs)
            return done.returncode, done.stderr
        self.assertEqual(says("-i", "b0", user=65534),
                         (1, "rocedump: b0: no permission to capture; run rocedump as root, or once:"
                          " setcap cap_net_raw+ep rocedump\n"))
        self.assertEqual(says("-i", "b0", "-Z", "nobody", user=65534)[0], 1)
        net.ip("link", "set", "b1", "down")
        self.assertEqual(says("-i", "b1"), (1, "rocedump: b1: the interface is down; ip link set dev b1 up\n"))
        net.ip("link", "set", "b1", "up")
        self.assertEqual(says("-i", "b0", "udp", "prt")[0], 2)
        self.assertEqual(says("-i", "b0", "-j", "adapter"),
                         (1, "rocedump: b0: the adapter does not give all frames a time; leave out -j adapter\n"))
        self.assertEqual(says("-i", "b0", "-Z", "no such"),
                         (1, "rocedump: -Z: there is no user 'no such'; name another\n"))

    def test_kernel_filter_needs_libpcap(self):
        name = ctypes.util.find_library("pcap")
        (net.WORK / name).write_bytes(b"")
        env = {"LD_LIBRARY_PATH": str(net.WORK)}
        done = subprocess.run([net.BIN / "rocedump", "-i", "b0", "udp"], capture_output=True, text=True, timeout=30,
                              env=os.environ | env)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"rocedump: b0: no filter: libpcap does not load ({net.WORK}/{name}: file too short);"
                          " install it\n"))
        program = self.start("rocedump", "-i", "b0", "-c", 3, env=env)
        net.send(net.frames(net.capture("rc_all_ops.pcap")))
        self.assertEqual(program.wait().count("\n"), 3)

    def test_interface_that_vanishes_ends_it(self):
        net.ip("link", "add", "a2", "type", "veth", "peer", "name", "b2")
        net.ip("link", "set", "a2", "up", "arp", "off")
        net.ip("link", "set", "b2", "up", "arp", "off")
        program = self.start("rocedump", "-i", "b2")
        net.send(net.frames(net.capture("cm_rping.pcap"))[:9], "a2")
        net.until(lambda: program.counted() == 9, "all frames")
        net.ip("link", "del", "a2")
        self.assertEqual(program.wait(status=1).count("\n"), 9)
        self.assertIn("rocedump: b2: the interface is gone; packets captured before: 9", program.read())


class Privileges(net.Case):
    def ids(self, *args, env=()):
        program = self.start("rocedump", "-i", "b0", *args, env=env)
        status = dict(line.split(":\t", 1) for line in program.status().splitlines() if ":\t" in line)
        program.end()
        return status

    def test_root_becomes_nobody(self):
        status = self.ids(env={"SUDO_UID": "0"})
        self.assertEqual(status["Uid"].split(), ["65534"] * 4)
        self.assertEqual(status["Gid"].split(), ["65534"] * 4)
        self.assertEqual(int(status["CapPrm"], 16) | int(status["CapEff"], 16), 0)
        self.assertEqual(status["NoNewPrivs"], "1")

    def test_root_becomes_who_called_sudo(self):
        self.assertEqual(self.ids(env={"SUDO_UID": "1"})["Uid"].split(), ["1"] * 4)

    def test_root_becomes_the_user_named(self):
        status = self.ids("-Z", "daemon", env={"SUDO_UID": "2"})
        self.assertEqual(status["Uid"].split(), ["1"] * 4)
        self.assertEqual(status["Groups"].split(), ["1"])

    def test_root_stays_on_request(self):
        status = self.ids("-Z", "root")
        self.assertEqual((status["Uid"].split(), status["NoNewPrivs"]), (["0"] * 4, "1"))


if __name__ == "__main__":
    net.main()
