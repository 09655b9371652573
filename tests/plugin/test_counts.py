#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's numbers are rocestat's, for every flow of every capture, and its packets add up to them."""
import collections
import functools
import json
import subprocess
import unittest

from common import PCAPS, ROCEDUMP, ROCESTAT, merged, place, rows_and_tables

OPS = ("send", "write", "read", "atomic", "flush", "atomic_write")

# column of the streams table: what rocestat says
COLUMNS = {
    "Source": lambda f: f["src"],
    "Destination": lambda f: f["dst"],
    "Source QP": lambda f: "" if f["src_qp"] is None else "0x%06x" % f["src_qp"],
    "Dest QP": lambda f: "0x%06x" % f["dest_qp"],
    "Transport": lambda f: f["transport"],
    "Paired by": lambda f: f["pairing"],
    "Packets": lambda f: f["packets"],
    "Bytes": lambda f: f["bytes"],
    "Payload": lambda f: f["payload_bytes"],
    "Requests": lambda f: f["requests"],
    "Responses": lambda f: f["responses"],
    "ACKs": lambda f: f["acks"],
    "NAKs": lambda f: sum(f["naks"].values()),
    "RNR NAKs": lambda f: f["rnr_naks"],
    "CNPs": lambda f: f["cnps"],
    "CE": lambda f: f["ce"],
    "Gaps": lambda f: f["gap_events"] or 0,
    "Missing": lambda f: f["gap_psns"] or 0,
    "Retrans": lambda f: f["retransmitted"] or 0,
    "Dup": lambda f: f["retransmitted_dup"] or 0,
    "Fill": lambda f: f["retransmitted_fill"] or 0,
    "OOO": lambda f: f["out_of_order"] or 0,
    "Lost up": lambda f: f["loss"]["upstream"] or 0,
    "Lost down": lambda f: f["loss"]["downstream"] or 0,
    "Lost capture": lambda f: f["loss"]["capture"] or 0,
    "Lost unknown": lambda f: f["loss"]["unknown"] or 0,
    "Messages": lambda f: sum(f["messages"][op]["completed"] or 0 for op in OPS),
}

# findings that need frames which are no RoCE
OTHER_TRAFFIC = ("capture.no_roce", "mirror.sampled")


# what the tests ask of the packets
FIELDS = ["frame.number", "rocev2.stream", "rocev2.analysis.gap", "rocev2.analysis.missing",
          "rocev2.analysis.out_of_order", "rocev2.analysis.mirror_duplicate", "rocev2.expert.nak_rnr", "rocev2.expert.cnp",
          "rocev2.expert.ce", "rocev2.analysis.acked_in", "rocev2.analysis.response_in", "rocev2.message", "rocev2.analysis.expected_psn",
          "rocev2.analysis.in_flight"]


# A start of tshark takes longer than most captures.
GROUPS = 5


@functools.cache
def everything():
    """All captures behind each other, whose QPs meet again."""
    return merged(place().capture(pcap.name) for pcap in PCAPS)


@functools.cache
def groups():
    """Captures of like names, which often have QPs in common, go to different groups."""
    return [merged((place().capture(pcap.name) for pcap in PCAPS[i::GROUPS]), f"group{i}") for i in range(GROUPS)]


@functools.cache
def run(capture, *args):
    packets, statistics = rows_and_tables(capture, FIELDS, ("rocev2,streams", "rocev2,findings"), *args)
    return [dict(zip(FIELDS, values)) for values in packets], statistics


def runs():
    """(capture, packets, tables): some in one pass, and all in two."""
    for group in groups():
        yield (group, *run(group))
    yield (everything(), *run(everything(), "-2"))


@functools.cache
def rocestat(capture):
    done = subprocess.run([ROCESTAT, "--json", capture], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class Counts(unittest.TestCase):
    def test_streams(self):
        flows = 0
        for pcap, _, tables in runs():
            report = rocestat(pcap)
            got = {row["Stream"]: row for row in tables["rocev2,streams"]}
            self.assertEqual(set(got), {str(f["id"]) for f in report["flows"]}, pcap.name)
            for flow in report["flows"]:
                row = got[str(flow["id"])]
                for column, value in COLUMNS.items():
                    with self.subTest(capture=pcap.name, stream=flow["id"], column=column):
                        self.assertEqual(row[column], str(value(flow)))
                flows += 1
        self.assertGreater(flows, 150)

    def test_findings(self):
        for pcap, _, tables in runs():
            want = [(f["severity"], f["kind"], str(f["first_frame"] or 0), str(f["count"]), f["text"])
                    for f in rocestat(pcap)["findings"] if f["kind"] not in OTHER_TRAFFIC]
            got = [(r["Severity"], r["Kind"], r["First frame"], r["Count"], r["Finding"])
                   for r in tables["rocev2,findings"]]
            self.assertEqual(got, want, pcap.name)

    def test_fields_add_up(self):
        """The marks on packets are the counts of their stream."""
        marks = {"gap_events": "rocev2.analysis.gap", "out_of_order": "rocev2.analysis.out_of_order",
                 "rnr_naks": "rocev2.expert.nak_rnr", "cnps": "rocev2.expert.cnp", "ce": "rocev2.expert.ce"}
        packets, _ = run(everything(), "-2")
        sums = collections.defaultdict(collections.Counter)
        for row in packets:
            if row["rocev2.stream"] == "":
                continue
            s = sums[int(row["rocev2.stream"])]
            if row["rocev2.analysis.mirror_duplicate"]:
                s["mirror_duplicates"] += 1
                continue
            s["packets"] += 1
            s["gap_psns"] += int(row["rocev2.analysis.missing"] or 0)
            for key, field in marks.items():
                s[key] += row[field] != ""
        for flow in rocestat(everything())["flows"]:
            for key in ("packets", "gap_events", "gap_psns", "out_of_order", "rnr_naks", "cnps", "ce",
                        "mirror_duplicates"):
                with self.subTest(stream=flow["id"], key=key):
                    self.assertEqual(sums[flow["id"]][key], flow[key] or 0)

    def test_acked_in(self):
        """Acknowledgements are those that rocedump finds by looking ahead."""
        done = subprocess.run([ROCEDUMP, "-A", "--ndjson", "--fields", "frame,acked_in", everything()], check=True,
                              capture_output=True, text=True)
        want = {str(r["frame"]): str(r["acked_in"]) for r in map(json.loads, done.stdout.splitlines()) if "acked_in" in r}
        packets, _ = run(everything(), "-2")
        got = {row["frame.number"]: row["rocev2.analysis.acked_in"] or row["rocev2.analysis.response_in"] for row in packets}
        got = {frame: answer for frame, answer in got.items() if answer}
        self.assertEqual(got, want)
        self.assertGreater(len(want), 1500)

    def test_verdicts(self):
        """What is known when a packet is seen equals rocedump's, packet by packet."""
        names = {"stream": "rocev2.stream", "message": "rocev2.message", "expected_psn": "rocev2.analysis.expected_psn",
                 "missing": "rocev2.analysis.missing", "in_flight": "rocev2.analysis.in_flight"}
        for pcap in groups():
            done = subprocess.run([ROCEDUMP, "-Y", "stream >= 0", "--ndjson", "--fields",
                                   "frame,gap,retransmission," + ",".join(names), pcap],
                                  check=True, capture_output=True, text=True)
            want = [json.loads(line) for line in done.stdout.splitlines()]
            packets, _ = run(pcap)
            got = [[row[name] for name in ("frame.number", *names.values())] for row in packets if row["rocev2.stream"]]
            self.assertEqual(len(got), len(want), pcap.name)
            for theirs, (frame, *ours) in zip(want, got):
                with self.subTest(capture=pcap.name, frame=frame):
                    self.assertEqual(str(theirs["frame"]), frame)
                    for key, value in zip(names, ours):
                        if key == "expected_psn" and not (theirs.get("gap") or theirs.get("retransmission")):
                            continue
                        self.assertEqual(value, str(theirs.get(key, "")), key)


if __name__ == "__main__":
    unittest.main()
