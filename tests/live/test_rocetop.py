#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocetop on interfaces: the same counts as from the file, refreshes on a quiet port."""
import json
import subprocess
import unittest

import net

COUNTS = ("src", "dst", "dest_qp", "src_qp", "packets", "bytes", "payload_bytes", "gap_events", "gap_psns",
          "retransmitted", "retransmitted_dup", "naks", "rnr_naks", "cnps", "ce", "icrc_bad", "messages_completed")


def counts(document):
    return sorted([[flow[key] for key in COUNTS] for flow in document["qps"]], key=str)


def of_file(name):
    done = subprocess.run([net.BIN / "rocetop", "--config=/dev/null", "--json", name], capture_output=True, check=True)
    return json.loads(done.stdout)


class Live(net.Case):
    def watch(self, *args):
        return self.start("rocetop", "--config=/dev/null", *args)

    def documents(self, program):
        return [json.loads(line) for line in program.read("out").splitlines(True) if line.endswith("\n")]

    def check_same_as_file(self, name, *args, interface=lambda frame: "a0"):
        sent = net.frames(net.capture(name))
        program = self.watch("--json", "-i", "b0", *args)
        for frame in sent:
            net.send([frame], interface(frame))
        net.until(lambda: program.counted() == len(sent), "all frames")
        document = json.loads(program.end())
        self.assertEqual(counts(document), counts(of_file(net.capture(name))))
        self.assertEqual(document["capture"]["packets"], len(sent))
        self.assertEqual((document["capture"]["dropped_kernel"], document["capture"]["dropped_interface"]), (0, 0))
        self.assertTrue(document["capture"]["live"])

    def test_counts_are_those_of_the_file(self):
        self.check_same_as_file("loss5_egress_send.pcap")

    def test_split_mirror_is_one_capture(self):
        self.check_same_as_file("ecn_ce.pcap", "-i", "b1", interface=lambda f: "a0" if f[6:12] < f[0:6] else "a1")

    def test_quiet_port_goes_on(self):
        """Refreshes come before any frame, and intervals end without one."""
        program = self.watch("--ndjson", "-d", "100ms", "-i", "b0")
        net.until(lambda: len(self.documents(program)) >= 3, "refreshes of a quiet port")
        self.assertIsNone(self.documents(program)[-1]["rates"])
        net.send(net.frames(net.capture("rc_all_ops.pcap")))

        def passed():
            documents = self.documents(program)
            busy = [i for i, d in enumerate(documents) if d["rates"] and d["rates"]["packets"] > 0]
            return busy and documents[-1]["rates"]["packets"] == 0
        net.until(passed, "an interval without a frame behind one with some")
        program.end()

    def test_screen_tells_the_interface(self):
        program = self.watch("--batch", "-n", "2", "-d", "100ms", "-i", "b0")
        lines = program.wait().splitlines()
        self.assertRegex(lines[0], r"^ rocetop  b0  LIVE 00:00:0\d  bpf: - \(all\) +drop k0 if0  0\.1s$")
        self.assertEqual(len(lines), 2 * 24 + 1)

    def test_kernel_filter(self):
        sent = net.frames(net.capture("loss5_egress_send.pcap"))
        program = self.watch("--json", "-i", "b0", "src", "host", "192.168.77.3")
        net.send(sent)
        net.until(lambda: program.counted() == 83, "the frames of one host, as tcpdump counts them")
        self.assertEqual([q["src"] for q in json.loads(program.end())["qps"]], ["192.168.77.3"])

    def test_interface_that_goes_down_comes_again(self):
        sent = net.frames(net.capture("cm_rping.pcap"))[:9]
        self.addCleanup(net.ip, "link", "set", "b1", "up")
        programs = [self.watch("--json", "-i", "b1"), self.start("rocestat", "--json", "-i", "b1"),
                    self.start("rocedump", "-i", "b1")]
        net.ip("link", "set", "b1", "down")
        for program in programs:
            net.until(lambda: "b1: the interface went down; frames come again" in program.read(), "a word on it")
        net.ip("link", "set", "b1", "up")
        net.until(lambda: net.has_carrier("a1"), "a link")
        net.send(sent, "a1")
        for program in programs:
            net.until(lambda: program.counted() == len(sent), "all frames")
            program.end()
            self.assertEqual(program.read().count("went down"), 1)

    def test_interface_that_vanishes_ends_it(self):
        net.ip("link", "add", "a2", "type", "veth", "peer", "name", "b2")
        net.ip("link", "set", "a2", "up", "arp", "off")
        net.ip("link", "set", "b2", "up", "arp", "off")
        sent = net.frames(net.capture("cm_rping.pcap"))[:9]
        program = self.watch("--json", "-i", "b0", "-i", "b2")
        net.send(sent, "a2")
        net.until(lambda: program.counted() == len(sent), "all frames")
        net.ip("link", "del", "a2")
        document = json.loads(program.wait(status=1))
        self.assertEqual(document["capture"]["packets"], len(sent))
        self.assertIn("\nrocetop: b2: the interface is gone; the last screen shows what came before\n",
                      "\n" + program.read())

    def test_wrong_usage(self):
        def says(*args):
            done = subprocess.run([net.BIN / "rocetop", "--config=/dev/null", "--batch", *args],
                                  capture_output=True, text=True)
            return done.returncode, done.stderr
        status, text = says("-i", "nothing0")
        self.assertEqual(status, 1)
        self.assertIn("rocetop -D lists the interfaces", text)
        self.assertEqual(says("-i", "b0", "-r", "x")[0], 2)
        self.assertEqual(says("-i", "b0", "--speed", "2")[0], 2)
        status, text = says("-i", "b0", "port", "port")
        self.assertEqual(status, 2)
        self.assertIn("pcap-filter(7)", text)


if __name__ == "__main__":
    net.main()
