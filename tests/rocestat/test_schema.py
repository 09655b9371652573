#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every record of every capture has the keys and types that docs/rocestat-json.md documents, and nulls where it says."""
import json
import re
import unittest

import common
from common import CAPTURES, SOURCE, json_of, rocestat

TABLES = ["--findings", "--connections", "--flows", "--hosts", "--pfc", "--messages", "--events"]


def documented():
    text = (SOURCE / "docs" / "rocestat-json.md").read_text()
    return json.loads(re.search(r"```json\n(.*?)```", text, re.S).group(1))


SCHEMA = documented()


def faults(value, shape, path):
    """What is wrong with |value|, as a list of strings."""
    if isinstance(shape, str):
        nullable = shape.endswith("?")
        if value is None:
            return [] if nullable else [f"{path}: null"]
        kinds = shape.rstrip("?")
        if kinds.startswith("record "):
            return faults(value, SCHEMA[kinds[7:]], path)
        fits = {"number": isinstance(value, (int, float)) and not isinstance(value, bool),
                "string": isinstance(value, str), "bool": isinstance(value, bool),
                "numbers": isinstance(value, list) and all(type(v) in (int, float) for v in value)}
        return [] if any(fits[k] for k in kinds.split("|")) else [f"{path}: {value!r} is no {shape}"]
    if not isinstance(value, dict):
        return [f"{path}: {value!r} is no object"]
    found = []
    if "*" in shape:
        for key, inner in value.items():
            found += faults(inner, shape["*"], f"{path}.{key}")
        return found
    wanted = {key.rstrip("?"): (key.endswith("?"), inner) for key, inner in shape.items()}
    if set(value) != set(wanted):
        return [f"{path}: keys {sorted(set(value) ^ set(wanted))}"]
    for key, inner in value.items():
        nullable, shape_of = wanted[key]
        if not (nullable and inner is None):
            found += faults(inner, shape_of, f"{path}.{key}")
    return found


class Shape(unittest.TestCase):
    def check(self, record, kind):
        self.assertEqual(faults(record, SCHEMA[kind], kind), [])

    def check_interval(self, interval):
        inner = [k for k in SCHEMA["interval"]][6:]
        for flow in interval.pop("flows", []):
            self.assertEqual(list(flow), ["id", "src", "dst", "dest_qp"] + inner)
            self.assertTrue(all(isinstance(flow[k], int) for k in inner))
        self.check(interval, "interval")

    def test_document(self):
        keys = {"schema", "verdict", "capture", "icrc", "table", "findings", "connections", "connections_left_out", "cm",
                "flows", "flows_left_out", "hosts", "pfc", "dscp", "intervals", "messages", "messages_left_out", "events",
                "events_left_out"}
        lists = {"findings": "finding", "connections": "connection", "cm": "cm", "flows": "flow", "hosts": "host",
                 "pfc": "pause", "dscp": "dscp", "messages": "message", "events": "event"}
        for capture in CAPTURES():
            for extra in ((), ("--link-speed=100G", "--no-icrc")):
                with self.subTest(capture=capture.name, extra=extra):
                    doc = json_of("--json", *TABLES, "--interval=10ms", *extra, capture)
                    self.assertEqual(set(doc), keys)
                    self.assertEqual(doc["schema"], "rocestat/1")
                    for finding in doc["findings"]:
                        if finding["kind"] != "capture.no_roce":
                            self.assertGreater(len(finding["frames"]), 0, finding)
                            self.assertEqual(finding["frames"], sorted(set(finding["frames"])))
                    for kind in ("capture", "icrc", "table"):
                        self.check(doc[kind], kind)
                    for key, kind in lists.items():
                        for record in doc[key] or []:
                            self.check(record, kind)
                    for interval in doc["intervals"]:
                        self.check_interval(interval)

    def test_lines(self):
        for capture in CAPTURES():
            with self.subTest(capture=capture.name):
                lines = rocestat("--ndjson", *TABLES, "--interval=10ms", capture).stdout.decode().splitlines()
                types = []
                for line in lines:
                    record = common.parse(line)
                    self.assertEqual(list(record)[:2], ["schema", "type"])
                    self.assertEqual(record.pop("schema"), "rocestat/1")
                    kind = record.pop("type")
                    types.append(kind)
                    if kind == "capture":
                        self.assertEqual(set(record), {"verdict", "capture", "icrc", "table"})
                    elif kind == "interval":
                        self.check_interval(record)
                    else:
                        self.check(record, kind)
                self.assertEqual(types.count("capture"), 1)

    def test_lines_hold_the_document(self):
        lists = {"findings": "finding", "connections": "connection", "flows": "flow", "hosts": "host", "events": "event",
                 "dscp": "dscp", "cm": "cm", "intervals": "interval"}
        for capture in CAPTURES():
            with self.subTest(capture=capture.name):
                doc = json_of("--json", *TABLES, "--interval=1s", capture)
                lines = [common.parse(x) for x in
                         rocestat("--ndjson", *TABLES, "--interval=1s", capture).stdout.decode().splitlines()]
                for key, kind in lists.items():
                    of_kind = [{k: v for k, v in x.items() if k not in ("schema", "type")} for x in lines
                               if x["type"] == kind]
                    self.assertEqual(doc[key], of_kind)
                messages = [x for x in lines if x["type"] == "message"]
                self.assertEqual(len(doc["messages"]), len(messages))
                slowest = sorted((x["latency_us"] for x in messages), reverse=True)
                self.assertEqual([x["latency_us"] for x in doc["messages"]], slowest)

    def test_only_chosen_tables(self):
        doc = json_of("--json", "--hosts", CAPTURES()[0])
        self.assertEqual(set(doc), {"schema", "verdict", "capture", "icrc", "table", "hosts"})


class Nulls(unittest.TestCase):
    def test_unpaired_flows_have_no_latency(self):
        seen = set()
        for capture in CAPTURES():
            for flow in json_of("--json", capture)["flows"]:
                paired = flow["peer"] is not None
                seen.add(paired)
                if not paired or flow["transport"] in ("ud", "uc"):
                    self.assertIsNone(flow["latency"])
                    self.assertTrue(all(m["completed"] is None for m in flow["messages"].values()))
                else:
                    self.assertIsNotNone(flow["latency"])
                self.assertEqual(flow["pairing"] == "none", not paired)
        self.assertEqual(seen, {True, False})

    def test_pauses_are_null_unless_seen(self):
        self.assertIsNone(json_of("--json", SOURCE / "pcaps" / "rc_all_ops.pcap")["pfc"])
        pauses = json_of("--json", common.made("pause.pcap"))["pfc"]
        self.assertGreater(len(pauses), 0)
        self.assertTrue(all(p["paused_ns"] is None and p["storms"] is None for p in pauses))
        # 65535 quanta of 512 bits at 100 Gb/s, ended by XON 250.001 ms later: all of it.
        pauses = json_of("--json", "--link-speed=100G", common.made("pause.pcap"))["pfc"]
        first = next(p for p in pauses if p["priority"] == 3)
        self.assertEqual(first["paused_ns"], 65535 * 512 * 10**9 // 10**11)

    def test_one_direction_shows_no_peer(self):
        doc = json_of("--json", SOURCE / "pcaps" / "rc_all_ops.pcap", "src", "host", "192.168.77.2")
        self.assertEqual([f["peer"] for f in doc["flows"]], [None])
        self.assertIsNone(doc["flows"][0]["latency"])
        self.assertIsNone(doc["flows"][0]["src_qp"])
        hosts = {h["addr"]: h["hw_counters"] for h in doc["hosts"]}
        self.assertIsNone(hosts["192.168.77.2"]["packet_seq_err"])
        self.assertEqual(hosts["192.168.77.3"]["np_ecn_marked_roce_packets"], 0)

    def test_drops_are_null_unless_told(self):
        self.assertIsNone(json_of("--json", SOURCE / "pcaps" / "rc_all_ops.pcap")["capture"]["dropped"])


if __name__ == "__main__":
    common.main()
