#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Single facts, worked out by hand from the captures (their .json files say what was done)."""
import functools
import json
import re
import unittest

from common import parse_tables, place, rows, tshark


ANALYSIS = ["rocev2.aeth.kind", "rocev2.aeth.nak", "rocev2.aeth.nak_text", "rocev2.analysis.nak_for_frame",
            "rocev2.analysis.nak_va", "rocev2.analysis.nak_rkey", "rocev2.analysis.nak_length", "rocev2.reth.va",
            "rocev2.reth.rkey", "rocev2.reth.dma_length", "_ws.col.Info", "rocev2.analysis.acked_in", "rocev2.message",
            "rocev2.message.completed_in", "rocev2.message.time", "rocev2.message.bytes", "rocev2.analysis.acks_frame",
            "rocev2.analysis.ack_rtt", "rocev2.pairing", "rocev2.src_qp", "rocev2.connection", "rocev2.stream",
            "rocev2.stream.peer", "rocev2.operation", "rocev2.analysis.response_in", "rocev2.message.operation",
            "rocev2.analysis.request_in", "rocev2.analysis.response_time", "rocev2.payload_length"]


@functools.cache
def analysed(name):
    """What two passes tell of every frame of a capture."""
    return [dict(zip(ANALYSIS, values)) for values in rows(place().capture(name), ANALYSIS, "-2")]


def facts(name, frame, fields):
    return [analysed(name)[frame - 1][field] for field in fields]


class Fields(unittest.TestCase):
    def test_refused_write(self):
        """Frame 13 begins a WRITE of 3000 bytes with a bad rkey; frame 15 refuses it."""
        capture = "rc_nak_badrkey_write.pcap"
        fields = ["rocev2.aeth.kind", "rocev2.aeth.nak", "rocev2.aeth.nak_text", "rocev2.analysis.nak_for_frame",
                  "rocev2.analysis.nak_va", "rocev2.analysis.nak_rkey", "rocev2.analysis.nak_length"]
        self.assertEqual(facts(capture, 15, fields),
                         ["NAK", "2", "remote access error", "13", "0x00007fba99265000", "0x00ff7630", "3000"])
        self.assertEqual(facts(capture, 13, ["rocev2.reth.va", "rocev2.reth.rkey", "rocev2.reth.dma_length"]),
                         ["0x00007fba99265000", "0x00ff7630", "3000"])
        info = facts(capture, 15, ["_ws.col.Info"])[0]
        self.assertTrue(info.endswith("[refuses va 0x00007fba99265000 rkey 0x00ff7630]"), info)

    def test_acknowledged_send(self):
        capture = "rc_nak_badrkey_write.pcap"
        request = facts(capture, 11, ["rocev2.analysis.acked_in", "rocev2.message", "rocev2.message.completed_in",
                                      "rocev2.message.time", "rocev2.message.bytes"])
        # 0.033976 s - 0.033272 s
        self.assertEqual(request, ["12", "1", "12", "0.000704000", "100"])
        answer = facts(capture, 12, ["rocev2.analysis.acks_frame", "rocev2.analysis.ack_rtt"])
        self.assertEqual(answer, ["11", "0.000704000"])

    def test_connection_by_cm(self):
        """REQ and REP name QP 0x15 on both hosts."""
        capture = place().capture("cm_rping.pcap")
        got = rows(capture, ["rocev2.cm.message", "rocev2.cm.local_qpn", "rocev2.cm.starting_psn", "rocev2.cm.port"], "-c", "3")
        self.assertEqual(got, [["REQ", "0x000015", "13366838", "7174"], ["REP", "0x000015", "1808301", ""], ["RTU", "", "", ""]])
        fields = ["rocev2.pairing", "rocev2.src_qp", "rocev2.connection", "rocev2.stream", "rocev2.stream.peer"]
        self.assertEqual(facts("cm_rping.pcap", 4, fields), ["cm", "0x000015", "2", "2", "3"])
        self.assertEqual(facts("cm_rping.pcap", 5, fields), ["cm", "0x000015", "2", "3", "2"])

    def test_read(self):
        """Frame 6 reads 400 bytes, frame 7 brings them."""
        request = facts("cm_rping.pcap", 6, ["rocev2.operation", "rocev2.analysis.response_in", "rocev2.message.operation",
                                             "rocev2.message.bytes"])
        self.assertEqual(request, ["RC RDMA READ Request", "7", "read", "400"])
        # 0.208939 s - 0.204403 s
        answer = facts("cm_rping.pcap", 7, ["rocev2.analysis.request_in", "rocev2.analysis.response_time",
                                            "rocev2.payload_length"])
        self.assertEqual(answer, ["6", "0.004536000", "400"])

    def test_rejected_connection(self):
        capture = place().capture("cm_rping_rej_noserver.pcap")
        got = rows(capture, ["rocev2.cm.reject_reason", "rocev2.cm.reject_text", "_ws.expert.severity"],
                   "-Y", "rocev2.expert.cm_rejected")
        self.assertEqual(len(got), 1)
        self.assertEqual(got[0][0], "8")  # IBTA table 108: invalid service id
        self.assertIn("invalid service id", got[0][1])

    def test_receiver_not_ready(self):
        """44 RNR NAKs of timer code 20: 10.24 ms (IBTA table 45)."""
        capture = place().capture("rc_rnr_then_ok.pcap")
        got = rows(capture, ["rocev2.aeth.rnr_timer", "rocev2.analysis.rnr_wait", "rocev2.analysis.nak_for_frame"], "-2",
                   "-Y", "rocev2.expert.nak_rnr")
        self.assertEqual({r[0] for r in got}, {"0.010240000"})
        self.assertEqual(len(got), 44)
        waits = [float(r[1]) for r in got if r[1]]
        self.assertGreater(len(waits), 30)
        self.assertGreaterEqual(min(waits), 0.01024)

    def test_links_are_links(self):
        """Frame numbers are of a type that Wireshark makes clickable, and lead where they should."""
        kinds = {line.split("\t")[2]: line.split("\t")[3] for line in tshark("-G", "fields").splitlines()
                 if line.startswith("F\t") and line.split("\t")[2].startswith("rocev2.")}
        for name in ("acked_in", "acks_frame", "request_in", "response_in", "nak_for_frame", "first_in", "ce_frame"):
            self.assertEqual(kinds["rocev2.analysis." + name], "FT_FRAMENUM")
        for name in ("first", "last", "completed_in"):
            self.assertEqual(kinds["rocev2.message." + name], "FT_FRAMENUM")

    def test_links_agree(self):
        """Where a response names a request, the request lies in the peer stream and came before."""
        capture = place().capture("loss5_egress_read.pcap")
        stream, psn = {}, {}
        fields = ["frame.number", "rocev2.stream", "rocev2.stream.peer", "rocev2.bth.psn", "rocev2.analysis.request_in",
                  "rocev2.analysis.acks_frame", "rocev2.analysis.nak_for_frame"]
        linked = 0
        for frame, own, peer, number, *links in rows(capture, fields, "-2", "-Y", "rocev2.stream"):
            stream[frame], psn[frame] = own, number
            for link in filter(None, links):
                self.assertLess(int(link), int(frame))
                self.assertEqual(stream[link], peer)
                linked += 1
        self.assertGreater(linked, 100)

    def test_checksum(self):
        """A byte of the payload turned: bad, expected value as before; what is not captured is not judged."""
        good = place().capture("rc_tos_ect0.pcap")
        data = bytearray(good.read_bytes())
        first = rows(good, ["frame.number", "rocev2.icrc"], "-Y", "rocev2.payload_length > 0")[0]
        offset = 24
        for _ in range(int(first[0]) - 1):
            offset += 16 + int.from_bytes(data[offset + 8:offset + 12], "little")
        data[offset + 16 + 60] ^= 1
        bad = place().path / "out" / "bad.pcap"
        bad.write_bytes(data)
        bad.chmod(0o644)
        got = rows(bad, ["frame.number", "rocev2.icrc", "_ws.col.Info"], "-Y", 'rocev2.icrc.status == "Bad"')
        self.assertEqual([r[:2] for r in got], [first])
        self.assertIn("[ICRC bad]", got[0][2])
        cut = rows(place().capture("snap64_rc_all_ops.pcap"), ["rocev2.icrc.status"], "-Y", "rocev2.error")
        self.assertEqual({r[0] for r in cut}, {"2"})

    def test_bytes_are_pointed_at(self):
        """Each header field lies on its bytes: the raw bytes of -T json are the field's value."""
        text = tshark("-n", "-r", place().capture("rc_nak_badrkey_write.pcap"), "-T", "json", "-x", "-Y", "frame.number == 13",
                      "-J", "rocev2")
        layer = json.loads(text)[0]["_source"]["layers"]["rocev2"]
        bth = layer["Base Transport Header"]
        self.assertEqual(bth["rocev2.bth.dqpn_raw"][0], "0000b4")
        self.assertEqual(bth["rocev2.bth.psn_raw"][0], "%06x" % 16777201)
        reth = layer["RDMA Extended Transport Header"]
        self.assertEqual(reth["rocev2.reth.va_raw"][0], "00007fba99265000")
        self.assertEqual(reth["rocev2.reth.rkey_raw"][0], "00ff7630")
        self.assertEqual(reth["rocev2.reth.dma_length_raw"][0], "%08x" % 3000)

    def test_qp_of_either_end(self):
        capture = place().capture("loss5_egress_send.pcap")
        everything = rows(capture, ["frame.number"], "-2", "-Y", "rocev2")
        self.assertEqual(rows(capture, ["frame.number"], "-2", "-Y", "rocev2.qp == 0xc2"), everything)


class Statistics(unittest.TestCase):
    def test_tree(self):
        text = tshark("-n", "-q", "-r", place().capture("rc_rnr_then_ok.pcap"), "-z", "rocev2,tree")
        counts = dict(re.findall(r"^ *(\S.*?) {2,}(\d+) ", text, re.MULTILINE))
        self.assertEqual(counts["RNR NAK"], "44")
        self.assertEqual(counts["PSN sequence error"], "44")
        self.assertEqual(counts["Operations"], "316")

    def test_conversations(self):
        text = tshark("-n", "-q", "-2", "-r", place().capture("loss5_egress_send.pcap"), "-z", "conv,rocev2",
                      "-z", "endpoints,rocev2")
        pairs = [line.split() for line in text.splitlines() if "<->" in line]
        self.assertEqual(len(pairs), 1)
        self.assertEqual(pairs[0][3:8], ["70", "4340", "bytes", "459", "496"])
        self.assertEqual(sorted(line.split()[:2] for line in text.splitlines()
                                if line.startswith("192.") and "<->" not in line),
                         [["192.168.77.2", "529"], ["192.168.77.3", "529"]])

    def test_latency(self):
        """Every completed message is in the service response times."""
        for name in ("rc_all_ops.pcap", "loss5_egress_send.pcap", "cm_rping.pcap"):
            capture = place().capture(name)
            text = tshark("-n", "-q", "-2", "-r", capture, "-z", "rocev2,srt", "-z", "rocev2,streams")
            calls = sum(int(line.split()[2]) for line in text.splitlines()
                        if "|" not in line and line.split()[:1] and line.split()[0].isdigit())
            self.assertEqual(calls, sum(int(r["Messages"]) for r in parse_tables(text)["rocev2,streams"]), name)

    def test_follow(self):
        """rping's SENDs carry an address, a key and a length: 16 bytes each way, the responder's all zero."""
        text = tshark("-n", "-q", "-2", "-r", place().capture("cm_rping.pcap"), "-z", "follow,rocev2,hex,2")
        sent = [line for line in text.splitlines() if line.startswith("000000")]
        self.assertTrue(sent[0].startswith("00000000  00 00 55 7b 29 f6 c7 60  00 00 0b 4d 00 00 01 90"), sent[0])
        self.assertEqual(len(sent), 10)

    def test_export(self):
        """rc_all_ops: payload of message k has byte i = (i * 7 + k * 13) & 255."""
        out = place().path / "out" / "objects"
        tshark("-n", "-q", "-2", "-r", place().capture("rc_all_ops.pcap"), "--export-objects", f"rocev2,{out}")
        files = sorted(out.iterdir())
        self.assertGreater(len(files), 20)
        lengths = set()
        for path in files:
            data = path.read_bytes()
            lengths.add(len(data))
            if "send" in path.name or "write" in path.name:
                k13 = data[0]
                self.assertEqual(data, bytes((i * 7 + k13) & 255 for i in range(len(data))), path.name)
        self.assertTrue({1023, 1024, 1025} <= lengths, lengths)


if __name__ == "__main__":
    unittest.main()
