#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocereplay play against the guest's soft-RoCE: play.py LABDIR BINDIR.

Recorded messages are sent again to peer.c in the guest: its completions, the frames of the run and our report must tell the same."""
import json
import pathlib
import subprocess
import sys

import check
import lab
import wire

PCAPS = pathlib.Path(__file__).resolve().parent.parent.parent / "pcaps"
# Capture, speed, path MTU, and what tshark counts in it: messages that take a receive (SENDs and WRITEs with immediate), all.
RUNS = (("rc_all_ops", "2", 1024, 16, 30), ("nvme_rdma", "4", 4096, 116, 151), ("uc_ops", "1", 1024, 6, 8))


def replay(guest, bindir, name, speed, mtu, received, messages):
    record, truth = guest.dir / "play.pcap", guest.dir / "play.json"
    done = subprocess.run([bindir / "rocereplay", "play", "-i", "roce0", "--connect", f"rocereplay:{lab.GUEST}", "--tx", "ring", "-x", speed,
                           "-w", record, "--truth", truth, "--json", PCAPS / f"{name}.pcap"], capture_output=True, text=True, check=False,
                          timeout=60)
    if done.returncode != 0:
        return [f"{name}: status {done.returncode}: {done.stderr}"]
    result = json.loads(done.stdout)
    recorded, reproduced = result["recorded"], result["reproduced"]
    report = json.loads(subprocess.run([bindir / "rocestat", "--json", record], capture_output=True, check=True).stdout)
    pairs = [(qp["qpn"], qp["remote_qpn"], qp["starting_psn"], qp["remote_starting_psn"]) for qp in json.loads(truth.read_text())["qps"]]
    accounts = (("messages", reproduced["messages"], messages), ("the guest's receives", result["peer_report"]["messages"], received),
                ("operations", reproduced["operations"], recorded["operations"]), ("bytes", reproduced["bytes"], recorded["bytes"]),
                ("NAKs", reproduced["naks"], 0), ("bad ICRCs", report["icrc"]["bad"], 0),
                ("errors found", [f["kind"] for f in report["findings"] if f["severity"] == "error"], []),
                ("faults", [] if name == "uc_ops" else wire.judge(wire.read(record), mtu, lab.HOST, pairs), []))
    wrong = [f"{name}: {what}: {is_}, not {due}" for what, is_, due in accounts if is_ != due]
    if not wrong:
        print(f"ok      {name}: {messages} messages, p50 {recorded['latency_us']['p50']:.0f} us recorded, "
              f"{reproduced['latency_us']['p50']:.0f} us reproduced")
    return wrong


def main(labdir, bindir):
    guest = lab.Lab(labdir)
    if not guest.state:
        print("the lab does not run here: see the output of interop/up")
        return lab.SKIP
    guest.enter()
    program = check.build(guest.dir)
    if program is None:
        return lab.SKIP
    check.install(guest, program)
    try:
        wrong = [text for run in RUNS for text in replay(guest, pathlib.Path(bindir), *run)]
    finally:
        guest.guest("killall -q peer; true")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
