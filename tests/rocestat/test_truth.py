#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters against what is known of the soft-RoCE captures: an independent script's counts and the guests' own counters.

Definitions differ in one place. The script calls a request "resent" (req_retx) when its PSN had been captured before, which
is retransmitted_dup here; retransmitted counts the resends that fill a gap as well. Its psn_jumps counts every step of the
PSN that is not +1, backwards too, and knows nothing of the PSNs that a READ takes; there is no counter like it.
"""
import collections
import ipaddress
import json
import unittest

import common
from common import SOURCE, json_of, rocestat

OPS = {"SEND_FIRST": "send_first", "SEND_MIDDLE": "send_middle", "SEND_LAST": "send_last",
       "SEND_LAST_IMM": "send_last_with_immediate", "SEND_ONLY": "send_only", "SEND_ONLY_IMM": "send_only_with_immediate",
       "WRITE_FIRST": "rdma_write_first", "WRITE_MIDDLE": "rdma_write_middle", "WRITE_LAST": "rdma_write_last",
       "WRITE_LAST_IMM": "rdma_write_last_with_immediate", "WRITE_ONLY": "rdma_write_only",
       "WRITE_ONLY_IMM": "rdma_write_only_with_immediate", "READ_REQ": "rdma_read_request",
       "READ_RESP_FIRST": "rdma_read_response_first", "READ_RESP_MIDDLE": "rdma_read_response_middle",
       "READ_RESP_LAST": "rdma_read_response_last", "READ_RESP_ONLY": "rdma_read_response_only", "ACK": "acknowledge",
       "ATOMIC_ACK": "atomic_acknowledge", "CMP_SWAP": "cmp_swap", "FETCH_ADD": "fetch_add",
       "SEND_LAST_INV": "send_last_with_invalidate", "SEND_ONLY_INV": "send_only_with_invalidate"}
NAKS = ["psn_sequence_error", "invalid_request", "remote_access_error", "remote_operational_error"]


def captures():
    for path in sorted((SOURCE / "pcaps").glob("*.json")):
        truth = json.loads(path.read_text())
        if "check" in truth:
            yield path.stem, path.with_suffix(".pcap"), truth


def qp(address, number):
    """As the script writes it: IPv6 addresses as plain digits."""
    return f"{ipaddress.ip_address(address).packed.hex() if ':' in address else address}:{number:#x}"


def total(flows, key):
    return sum(f[key] or 0 for f in flows)


class Counters(unittest.TestCase):
    def test_script(self):
        compared = 0
        for name, path, truth in captures():
            check = truth["check"]
            doc = json_of("--json", path)
            flows = doc["flows"]
            with self.subTest(capture=name):
                self.assertEqual(doc["capture"]["packets"], check["frames"])
                self.assertEqual(doc["capture"]["roce_packets"], check["S"]["roce"])
                self.assertEqual(total(flows, "packets"), check["S"]["roce"])
                self.assertEqual(doc["icrc"]["ok"], check["S"].get("icrc_ok", 0))
                self.assertEqual(doc["icrc"]["bad"], check["S"].get("icrc_bad", 0))
                self.assertEqual(doc["icrc"]["unchecked"], check["S"].get("icrc_n/a", 0))
                self.assertEqual({qp(f["dst"], f["dest_qp"]) for f in flows}, set(check["qps"]))

                opcodes = collections.Counter()
                for flow in flows:
                    opcodes.update(flow["opcodes"])
                    self.assertEqual(sum(flow["opcodes"].values()), flow["packets"])
                wanted = {}
                for op, count in check["ops"].items():
                    service, op = op.split(" ")
                    wanted[f"{service.lower()}_{OPS[op]}"] = count
                self.assertEqual(dict(opcodes), wanted)

                naks = {f"NAK code={i}": sum(f["naks"][n] for f in flows) for i, n in enumerate(NAKS)}
                naks = {k: v for k, v in naks.items() if v > 0}
                self.assertEqual(naks, {k: v for k, v in check["naks"].items() if k.startswith("NAK")})
                rnr = {int(k.split("=")[1]): v for k, v in check["naks"].items() if k.startswith("RNR")}
                self.assertEqual(total(flows, "rnr_naks"), sum(rnr.values()))
                # IBTA table 45: code 14 is 1.28 ms, code 20 is 10.24 ms.
                timers = {f["rnr_timer_ms"] for f in flows if f["rnr_naks"] > 0}
                self.assertEqual(timers, {{14: 1.28, 20: 10.24}[code] for code in rnr})

                ecn = collections.Counter()
                for tos, count in check["tos"].items():
                    ecn[int(tos) & 3] += count
                self.assertEqual(total(flows, "ce"), ecn[3])
                self.assertEqual(total(flows, "ect"), ecn[1] + ecn[2])
                rc = [f for f in flows if f["transport"] == "rc"]
                self.assertEqual(total(rc, "retransmitted_dup"), check["req_retx"])
                compared += 1
        self.assertGreater(compared, 30)

    def test_sums_within_a_flow(self):
        for name, path, _ in captures():
            for flow in json_of("--json", path)["flows"]:
                with self.subTest(capture=name, flow=flow["id"]):
                    self.assertEqual(sum(flow["icrc"].values()), flow["packets"])
                    self.assertEqual(flow["not_ect"] + flow["ect"] + flow["ce"], flow["packets"])
                    if flow["retransmitted"] is not None:
                        self.assertEqual(flow["retransmitted_dup"] + flow["retransmitted_fill"], flow["retransmitted"])
                    self.assertLessEqual(flow["requests"] + flow["responses"] + flow["cnps"], flow["packets"])

    def test_guests(self):
        """vm1 and vm2 counted, too; what netem dropped before the capture point is not in the capture."""
        for name, hosts in (("rc_rnr_then_ok", {"vm1": "192.168.77.2", "vm2": "192.168.77.3"}),
                            ("loss5_egress_send", {"vm1": "192.168.77.2", "vm2": "192.168.77.3"})):
            truth = json.loads((SOURCE / "pcaps" / f"{name}.json").read_text())["counters"]
            doc = json_of("--json", "--hosts", SOURCE / "pcaps" / f"{name}.pcap")
            wire = {h["addr"]: h["hw_counters"] for h in doc["hosts"]}
            with self.subTest(capture=name):
                self.assertEqual(wire[hosts["vm2"]]["out_of_sequence"], truth["vm2"]["out_of_seq_request"])
                self.assertEqual(wire[hosts["vm1"]]["rnr_nak_retry_err"], truth["vm1"].get("rcvd_rnr_err", 0))
                self.assertEqual(wire[hosts["vm2"]]["out_of_buffer"], truth["vm2"].get("send_rnr_err", 0))

    def test_duplicates_of_the_network(self):
        """netem repeated frames on vm1's way out, some of them before it was clear that the mirror does not."""
        truth = json.loads((SOURCE / "pcaps" / "dup_egress.json").read_text())
        doc = json_of("--json", "--hosts", SOURCE / "pcaps" / "dup_egress.pcap")
        wire = {h["addr"]: h["hw_counters"] for h in doc["hosts"]}
        self.assertEqual(wire["192.168.77.3"]["duplicate_request"], truth["counters"]["vm2"]["duplicate_request"])
        flows = json_of("--json", SOURCE / "pcaps" / "dup_egress.pcap")["flows"]
        self.assertEqual(sum(sum(f["retransmission_cause"].values()) for f in flows), truth["check"]["req_retx"])

    def test_upstream_loss_is_netems(self):
        """Every frame that netem dropped on vm1's way out was lost before the mirror; those it dropped of resends leave
        no hole, so fewer may show."""
        truth = json.loads((SOURCE / "pcaps" / "loss5_egress_send.json").read_text())
        dropped = int(truth["post1_out"].split("dropped ")[1].split(",")[0])
        flows = json_of("--json", SOURCE / "pcaps" / "loss5_egress_send.pcap")["flows"]
        lost = sum(f["loss"]["upstream"] for f in flows)
        self.assertEqual(sum(f["loss"]["downstream"] + f["loss"]["capture"] for f in flows), 0)
        self.assertLessEqual(lost, dropped)
        self.assertGreaterEqual(lost, 10)

    def test_messages_are_those_the_program_posted(self):
        # The .json names the operations in order, each with its length: "sendimm:3000", "write:1025@8192", "fadd:5".
        for name in ("rc_all_ops", "rc_all_ops_mtu4096"):
            with open(SOURCE / "pcaps" / f"{name}.json") as f:
                command = json.load(f)["cli"].split()
            posted = []
            for word in command:
                op, _, argument = word.partition(":")
                kind = next((k for k in ("send", "write", "read") if op.startswith(k)), "atomic" if op in ("cas", "fadd") else None)
                if kind and argument:
                    posted.append((kind, 8 if kind == "atomic" else int(argument.split("@")[0])))
            lines = rocestat("--ndjson", "--messages", str(SOURCE / "pcaps" / f"{name}.pcap")).stdout.decode().splitlines()
            records = [r for r in map(json.loads, lines) if r["type"] == "message"]
            self.assertEqual([(r["op"], r["bytes"]) for r in sorted(records, key=lambda r: r["message"])], posted, name)

    def test_lost_parts_count_once_they_are_resent(self):
        # 60 SENDs of 4096 bytes, packets of which were lost before the mirror.
        lines = rocestat("--ndjson", "--messages", str(SOURCE / "pcaps/loss5_egress_send.pcap")).stdout.decode().splitlines()
        records = [r for r in map(json.loads, lines) if r["type"] == "message"]
        self.assertEqual([r["bytes"] for r in records], [4096] * 60)

    def test_clean_captures_raise_nothing(self):
        for name in ("rc_all_ops", "rc_all_ops_mtu4096", "rc_pipelined", "cm_rping", "nvme_rdma", "uc_ops", "ud_ops",
                     "ud_pingpong", "rc_pingpong_mtu256", "pf_write_bw_rdmacm", "rc_tos_ect0",
                     "rc_pingpong_ipv6"):
            with self.subTest(capture=name):
                done = rocestat("-q", "--fail-on", "warning", SOURCE / "pcaps" / f"{name}.pcap")
                self.assertTrue(done.stdout.startswith(b"clean: "))


if __name__ == "__main__":
    common.main()
