#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocereplay check against the guest's soft-RoCE: check.py LABDIR BINDIR.

peer.c is built here, runs in the guest and offers the queue pairs. What is known of Linux 6.1's soft-RoCE has to be found, each
deviation by its own case; any other case that fails is a false alarm, or news."""
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import threading

import lab

HERE = pathlib.Path(__file__).resolve().parent
PORT, FILE_PORT = 18515, 6001
# Why soft-RoCE does so: its source, rxe_resp.c and rxe_comp.c of 6.1.
DEVIATIONS = {
    "dup.read_part": "a READ repeated in part goes on with Middle, as if nothing had begun anew",
    "rnr.silence": "a sequence NAK follows each RNR NAK",
    "nak.short_middle": "the payload of SEND packets is not held against the MTU",
    "nak.empty_last": "the same",
    "nak.send_long": "remote operational error instead of invalid request",
    "migreq.set": "MigReq is always 0",
    "cnp.sent": "CE marks are ignored",
    "cnp.reaction": "CNPs are ignored",
    "ghost.ack": "an ACK ahead of what was sent completes the request",
    "ghost.syndrome": "a reserved syndrome ends the queue pair, and completes the request as successful",
    "ghost.nak_code": "a reserved NAK code ends the queue pair",
    "uc.gap": "the first message behind a broken one is lost as well",
}
UNSEEN = {"cnp.interval"}
# The emulated guest's rate may vary too much to tell.
EITHER = {"cnp.reaction"}


def build(directory):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    done = subprocess.run([compiler, "-O2", "-o", directory / "peer", HERE / "peer.c", "-libverbs"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        print(f"peer.c cannot be built (libibverbs-dev?): {done.stderr}")
        return None
    return (directory / "peer").read_bytes()


def install(guest, program):
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((lab.HOST, FILE_PORT))
        listener.listen(1)

        def feed():
            with listener.accept()[0] as found:
                found.sendall(program)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        guest.guest(f"killall -q peer; rm -f /tmp/peer; socat -u TCP:{lab.HOST}:{FILE_PORT} CREATE:/tmp/peer && chmod +x /tmp/peer")
        feeder.join(10)
    guest.guest("(setsid /tmp/peer >/tmp/peer.log 2>&1 </dev/null &)\n"
                f"for i in $(seq 200); do ss -Htln | grep -q ':{PORT} ' && exit 0; usleep 50000; done; cat /tmp/peer.log; exit 1")


def check(guest, bindir, program, *options):
    install(guest, program)
    try:
        # A longer timeout than usual: the emulated guest is slow, and T shall be long beside that.
        return subprocess.run([pathlib.Path(bindir) / "rocereplay", "check", "-i", "roce0", "--connect", f"rocereplay:{lab.GUEST}", "--tx", "ring",
                               "--timeout", "16", *options, "--json"], stdout=subprocess.PIPE, text=True, check=False, timeout=240)
    finally:
        guest.guest("killall -q peer; true")


def judge(report, again):
    wrong = []
    for case in report["cases"]:
        name, verdict = case["id"], case["verdict"]
        # By chance it is slower behind the CNPs of one run, but not of three.
        for _ in range(2):
            if name in EITHER and verdict == "pass":
                verdict = again(name)
        due = "fail" if name in DEVIATIONS else "not_observable" if name in UNSEEN else "pass"
        if verdict != due and not (name in EITHER and verdict == "not_observable"):
            wrong.append(f"{name}: {verdict}, not {due}: {case.get('detail', '')}")
        elif verdict == "fail":
            print(f"found   {name}: {DEVIATIONS[name]}; {case['detail']}")
    return wrong


def rping(guest, bindir):
    """The same verdicts of cases that an unmodified rping server lets judge: as responder and as sender."""
    cases = ("ack.request", "nak.gap", "nak.rkey", "drop.icrc", "migreq.set", "read.resume", "retry.count", "ghost.ack", "rnr.nak")
    guest.guest("killall -q rping; (setsid rping -s -P -S 8192 >/tmp/rping.log 2>&1 </dev/null &)")
    command = [pathlib.Path(bindir) / "rocereplay", "check", "-i", "roce0", "--connect", f"cm:{lab.GUEST}", "--app", "rping", "--size", "8192",
               "--tx", "ring", "--only", ",".join(cases), "--json"]
    try:
        for _ in range(20):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            if "nobody listens" not in done.stderr:
                break
    finally:
        guest.guest("killall -q rping; true")
    verdicts = {case["id"]: case["verdict"] for case in json.loads(done.stdout)["cases"]} if done.stdout else {}
    due = {name: "fail" if name in DEVIATIONS else "not_observable" if name == "rnr.nak" else "pass" for name in cases}
    return [f"rping: {name}: {verdicts.get(name)}, not {due[name]}" for name in cases if verdicts.get(name) != due[name]]


def main(labdir, bindir):
    guest = lab.Lab(labdir)
    if not guest.state:
        print("the lab does not run here: see the output of interop/up")
        return lab.SKIP
    guest.enter()
    program = build(guest.dir)
    if program is None:
        return lab.SKIP
    done = check(guest, bindir, program, "-w", guest.dir / "check.pcapng")
    report = json.loads(done.stdout)

    def again(name):
        return next(case["verdict"] for case in json.loads(check(guest, bindir, program, "--only", name).stdout)["cases"] if case["id"] == name)

    wrong = judge(report, again) + rping(guest, bindir)
    print("\n".join(wrong))
    if done.returncode != 0 or not report["whole"]:
        wrong.append(f"status {done.returncode}")
    print(f"{len(report['cases'])} cases, {len(wrong)} not as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
