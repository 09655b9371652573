#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocereplay against one unmodified program in the guest: run.py LABDIR BINDIR PROGRAM client|server [all].

For each path MTU and each loss (`all`; else a selection) the run has to end well on both sides with the right contents, the
capture must be without fault by rocestat and by wire.py, tshark and rocedump must read it the same, and the guest's counters
must agree with what rocereplay says that it did."""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

import lab
import peers
import wire

HERE = pathlib.Path(__file__).resolve().parent
# Never ours, whatever was lost. Without loss nothing but notes may be found at all.
NEVER = {"malformed", "icrc.bad", "icrc.rewritten", "ack.ghost", "retransmit.go_back_zero", "mtu.mixed", "retry.exceeded",
         "nak.remote_access", "nak.invalid_request", "nak.remote_operational", "cm.rejected", "cm.timeout", "capture.no_roce"}
PATIENCE = 60
# A TCP port of the guest is listened at. The shell looks itself: each process takes the emulated guest as long as a wait.
LISTENS = f"""listens() {{
    for table in /proc/net/tcp /proc/net/tcp6; do
        while read -r _ local _ state _; do case $local$state in *:{peers.PORT:04X}0A) return 0; esac; done <$table
    done
    return 1
}}
"""


class Fault(Exception):
    pass


TROUBLE = (Fault, lab.Failed, subprocess.SubprocessError, OSError, KeyError, ValueError)


class Capture:
    """tcpdump on the guest's tap."""

    def __init__(self, path):
        self.path = path
        path.unlink(missing_ok=True)
        self.process = subprocess.Popen(["tcpdump", "-i", "tap0", "-n", "-U", "-B", "32768", "-s", "9216", "-Z", "root", "--immediate-mode", "-w", path,
                                         "udp", "port", "4791"], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "listening on" in line:
                return
        raise Fault("tcpdump does not start")

    def stop(self):
        """Returns once all frames so far are in the file."""
        self.process.send_signal(signal.SIGINT)
        _, text = self.process.communicate(timeout=20)
        if "0 packets dropped by kernel" not in text:
            raise Fault(f"tcpdump: {text}")


class Run:
    def __init__(self, guest, bindir, name, role, mtu, loss):
        self.lab, self.bin, self.peer, self.name, self.role = guest, bindir, peers.PEERS[name], name, role
        self.mtu, self.loss = mtu, loss
        size = self.peer.sizes[peers.MTUS.index(mtu)]
        self.words = {"mtu": mtu, "size": size, "n": self.peer.n, "peer": lab.GUEST, "host": lab.HOST,
                      "role": "" if role == "server" else "-s"}
        self.dir = guest.dir / "runs" / f"{name}-{role}-{mtu}-{loss}"
        self.dir.mkdir(parents=True, exist_ok=True)
        self.truth_file = self.dir / "truth.json"

    def title(self):
        return f"{self.name} with rocereplay as {self.role}, MTU {self.mtu}, {self.loss} % loss"

    # ---- both sides ----
    def ours(self):
        verb, extra = ("gen", self.peer.gen) if self.role == "client" else ("serve", self.peer.serve + " --once")
        command = f"{self.bin}/rocereplay {verb} -i roce0 {self.peer.ours} {extra} --truth {self.truth_file} --json".format(**self.words)
        if self.loss:
            command += f" --drop {self.loss}% --fault-dir both --seed {self.mtu + int(10 * self.loss)}"
        return command.split()

    def guest_command(self, client):
        command = self.peer.client or self.peer.guest + self.peer.host if client else self.peer.guest
        return command.format(**self.words)

    def wait_ours_listens(self, process):
        # Programs that ask by TCP can wait at the socket; a connection manager answers when it is there.
        end = time.monotonic() + 10
        while time.monotonic() < end and process.poll() is None:
            if self.peer.cm and (self.dir / "ours.err").stat().st_size + (self.dir / "ours.out").stat().st_size > 0:
                return
            if not self.peer.cm and f":{peers.PORT:04X} 00000000:0000 0A" in pathlib.Path("/proc/thread-self/net/tcp").read_text():
                return
            time.sleep(0.02)
        raise Fault("rocereplay serve does not listen")

    def start_ours(self):
        with open(self.dir / "ours.out", "w") as out, open(self.dir / "ours.err", "w") as err:
            return subprocess.Popen(self.ours(), stdout=out, stderr=err)

    def end_ours(self, process):
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            status = process.wait(10)
            raise Fault(f"rocereplay does not end; {self.said()}") from None
        if status != 0:
            raise Fault(f"rocereplay gave {status}: {self.said()}")

    def said(self):
        return (self.dir / "ours.err").read_text().strip() + (self.dir / "ours.out").read_text().strip()[:500]

    # Each request to the emulated guest takes its time: there is one for what belongs together.
    def as_client(self):
        listens = f"rdma resource show cm_id | grep -q 'LISTEN.*:{self.peer.port} '" if self.peer.cm else "listens"
        waits = "for i in $(seq 600); do {} && exit 0; usleep 50000; done; exit 1"
        self.lab.guest(f"{LISTENS}(timeout {PATIENCE} {self.guest_command(False)}; echo status=$? >/tmp/peer.end) >/tmp/peer.log 2>&1 </dev/null &\n"
                       + waits.format(listens))
        process = self.start_ours()
        try:
            self.end_ours(process)
        finally:
            self.reap(process)
        _, text = self.lab.guest(f"({waits.format('[ -s /tmp/peer.end ]')}); cat /tmp/peer.log /tmp/peer.end; rdma statistic show link rxe0/1")
        return text

    def as_server(self):
        process = self.start_ours()
        try:
            self.wait_ours_listens(process)
            _, text = self.lab.guest(f"timeout {PATIENCE} {self.guest_command(True)}\necho status=$?\nrdma statistic show link rxe0/1",
                                     PATIENCE + 20)
            if "status=0" in text:
                self.end_ours(process)
        finally:
            self.reap(process)
        return text

    def reap(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()

    # ---- the whole ----
    def go(self):
        """Both sides run; what they did is kept for judge()."""
        mtu = lab.MTU if self.peer.mtu_option or self.mtu == 4096 else 1500
        before = self.lab.counters(f"killall -q {self.peer.guest.split()[0]}; rm -f /tmp/peer.log /tmp/peer.end; "
                                   f"[ $(cat /sys/class/net/eth0/mtu) = {mtu} ] || ip link set eth0 mtu {mtu}")
        capture = Capture(self.dir / "capture.pcap")
        begin = time.monotonic()
        try:
            text = self.as_client() if self.role == "client" else self.as_server()
            self.took = time.monotonic() - begin
        finally:
            capture.stop()
        (self.dir / "guest.log").write_text(text)
        if "status=0" not in text or (self.peer.bad and self.peer.bad in text):
            raise Fault(f"{self.name}: {text.strip()[-800:]}; ours: {self.said()}")
        after = lab.counters_of(text)
        self.counters = {name: after[name] - before[name] for name in after}
        (self.dir / "guest.json").write_text(json.dumps(self.counters))

    def judge(self, decoders):
        capture = self.dir / "capture.pcap"
        truth = json.loads(self.truth_file.read_text())
        frames = wire.read(capture)
        self.judge_findings(capture, len(frames), truth)
        self.judge_wire(frames, truth)
        if decoders:
            self.judge_decoders(capture)
        self.judge_counters(frames, truth, self.counters)
        return f"{len(frames)} frames, {truth['fault_counts']['drop']} dropped, {self.took:.1f} s"

    @staticmethod
    def owed_by_us(finding, truth):
        """The receiver owes the NAK; a QP of ours that no gap has reached does not."""
        return finding["dst"] != lab.GUEST and not any(qp["qpn"] == finding["dest_qp"] and qp["gaps"] == 0 for qp in truth["qps"])

    def judge_findings(self, path, n, truth):
        done = subprocess.run([self.bin / "rocestat", "--json", path], capture_output=True, text=True, check=False)
        report = json.loads(done.stdout)
        (self.dir / "rocestat.json").write_text(done.stdout)
        if report["icrc"]["bad"] or report["icrc"]["ok"] != n:
            raise Fault(f"rocestat: ICRC {report['icrc']}, {n} frames")
        for finding in report["findings"]:
            # Emulated soft-RoCE goes back without a cause now and then, and keeps others waiting. What looks like loss then is
            # judged by the accounts of frames.
            if finding["kind"] in self.peer.theirs:
                continue
            timing = finding["kind"].startswith(("retransmit.", "loss.network", "nak.missing"))
            if finding["kind"] == "nak.missing" and not self.loss and self.owed_by_us(finding, truth):
                raise Fault(f"rocestat: a NAK of ours is missing: {finding['text']}")
            # A program that has all leaves, and repeats no acknowledgement that was lost.
            if finding["kind"] == "retry.exceeded" and self.loss and "the peer has gone" in self.said():
                continue
            if finding["kind"] in NEVER or (not self.loss and finding["severity"] != "note" and not timing):
                raise Fault(f"rocestat: {finding['kind']}: {finding['text']}")

    def judge_wire(self, frames, truth):
        # What UC loses never comes again: the accounts of frames remain.
        judged = ("rc",) if self.loss else ("rc", "uc")
        pairs = [(qp["qpn"], qp["remote_qpn"], qp["starting_psn"], qp["remote_starting_psn"]) for qp in truth["qps"]
                 if qp["service"] in judged]
        faults = wire.judge(frames, self.mtu, lab.HOST, pairs)
        if faults:
            raise Fault("; ".join(faults[:5]))
        if not any(f.src == lab.HOST for f in frames) and not (self.peer.one_way and self.role == "server"):
            raise Fault("nothing of ours was captured")

    def judge_decoders(self, path):
        done = subprocess.run([sys.executable, HERE.parent / "tshark" / "diff.py", self.bin / "rocedump", path],
                              capture_output=True, text=True, check=False)
        # It also wants to see every field, which one run does not have.
        if " 0 differences" not in done.stdout:
            raise Fault(f"tshark reads it differently: {done.stdout[:500]} {done.stderr[:200]}")

    def judge_counters(self, frames, truth, guest):
        """Four accounts of the same frames: the engine's, the faults', the capture's and the guest's."""
        sent = sum(1 for f in frames if f.src == lab.HOST)
        received = len(frames) - sent
        drops = {way: sum(1 for f in truth["faults"] if f["type"] == "drop" and f["direction"] == way) for way in ("tx", "rx")}
        device = truth["device"]
        accounts = [("sent by the engine, less those dropped", device["tx_packets"] - drops["tx"], "captured", sent),
                    ("received by the engine and dropped", device["rx_packets"] + drops["rx"], "captured", received),
                    ("sent by the guest", guest["sent_pkts"], "captured", received)]
        wrong = [f"{a}: {x}, {b}: {y}" for a, x, b, y in accounts if x != y]
        # What arrives for a QP that is gone already is not counted: who lacks the last ACK repeats a whole message to it.
        silent = max((f.number for f in frames if f.src != lab.HOST), default=0)
        late = sum(1 for f in frames if f.number > silent) if "the peer has gone" in self.said() else 0
        if not 0 <= sent - guest["rcvd_pkts"] <= 8 + late:
            wrong.append(f"received by the guest: {guest['rcvd_pkts']}, captured: {sent}")
        naks = sum(1 for f in frames if f.src == lab.HOST and f.syndrome is not None and f.syndrome == 0x60)
        if guest["rcvd_seq_err"] > naks:
            wrong.append(f"sequence NAKs to the guest: {guest['rcvd_seq_err']}, captured: {naks}")
        for name in ("retry_exceeded_err", "retry_rnr_exceeded_err", "send_err"):
            if guest[name]:
                wrong.append(f"the guest's {name}: {guest[name]}")
        for qp in truth["qps"]:
            if not self.loss and any(qp[name] for name in ("naks_sent", "naks_received", "gaps", "implied_naks")):
                wrong.append(f"without loss, our QP tells {qp}")
            if not self.loss and qp["retransmitted"] and not qp["timeouts"]:
                wrong.append(f"resent without a cause: {qp}")
        if device["ring_dropped"]:
            wrong.append(f"{device['ring_dropped']} frames did not fit into the ring")
        if wrong:
            raise Fault("; ".join(wrong))


def combinations(peer, everything):
    for mtu in peers.MTUS:
        for loss in peers.LOSSES if peer.lossy else (0,):
            # One of each kind is enough for every day: each MTU, each loss, the large MTU with the high loss.
            if everything or (mtu, loss) in ((1024, 0), (1024, 0.1), (4096, 1)) or not peer.lossy:
                yield mtu, loss


def main(labdir, bindir, name, role, everything=""):
    guest = lab.Lab(labdir)
    if not guest.state:
        print("the lab does not run here: see the output of interop/up")
        return lab.SKIP
    guest.enter()
    everything = everything == "all" or os.environ.get("ROCE_INTEROP") == "all"
    verdicts = []
    # While one run is judged the next one is under way.
    with concurrent.futures.ThreadPoolExecutor(1) as judges:
        for i, (mtu, loss) in enumerate(combinations(peers.PEERS[name], everything)):
            run = Run(guest, pathlib.Path(bindir), name, role, mtu, loss)
            try:
                run.go()
                verdicts.append((run, judges.submit(run.judge, i == 0)))
            except TROUBLE as reason:
                verdicts.append((run, reason))
        return 1 if sum(not tell(run, verdict) for run, verdict in verdicts) else 0


def tell(run, verdict):
    try:
        if isinstance(verdict, Exception):
            raise verdict
        print(f"ok      {run.title()}: {verdict.result()}", flush=True)
        return True
    except TROUBLE as reason:
        print(f"FAILED  {run.title()}: {reason!r}", flush=True)
        return False


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
