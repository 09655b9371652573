# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture shows of the reliable and unreliable connections in it, judged by the rules of IBTA 9 from tshark's fields."""
import collections
import subprocess

FIELDS = ["frame.number", "ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "udp.length", "infiniband.bth.opcode", "infiniband.bth.padcnt",
          "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.bth.a", "infiniband.bth.m", "infiniband.reth.va",
          "infiniband.reth.dmalen", "infiniband.aeth.syndrome", "infiniband.aeth.msn", "infiniband.deth.srcqp"]
# Operation by the low five bits of the opcode, RC and UC (IBTA table 38): kind, place, bytes of extended headers.
OPERATIONS = {
    0x00: ("send", "first", 0), 0x01: ("send", "middle", 0), 0x02: ("send", "last", 0), 0x03: ("send", "last", 4),
    0x04: ("send", "only", 0), 0x05: ("send", "only", 4), 0x06: ("write", "first", 16), 0x07: ("write", "middle", 0),
    0x08: ("write", "last", 0), 0x09: ("write", "last", 4), 0x0a: ("write", "only", 16), 0x0b: ("write", "only", 20),
    0x0c: ("read", "only", 16), 0x0d: ("read response", "first", 4), 0x0e: ("read response", "middle", 0),
    0x0f: ("read response", "last", 4), 0x10: ("read response", "only", 4), 0x11: ("ack", "only", 4),
    0x12: ("atomic ack", "only", 12), 0x13: ("atomic", "only", 28), 0x14: ("atomic", "only", 28),
    0x16: ("send", "last", 4), 0x17: ("send", "only", 4),
}
RESPONSES = ("read response", "ack", "atomic ack")
BTH, ICRC, UDP = 12, 4, 8

Frame = collections.namedtuple("Frame", "number src dst service kind place payload pad qp psn ack_req mig_req va dmalen syndrome msn srcqp")


def number(text):
    return int(text, 0) if text else None


def read(capture):
    command = ["tshark", "-n", "-r", str(capture), "-Y", "infiniband", "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
    for name in FIELDS:
        command += ["-e", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    frames = []
    for line in done.stdout.splitlines():
        (no, src, src6, dst, dst6, length, opcode, pad, qp, psn, ack_req, mig_req, va, dmalen, syndrome, msn,
         srcqp) = line.split("|")
        opcode = number(opcode)
        service = {0: "rc", 1: "uc", 3: "ud"}.get(opcode >> 5, "other")
        kind, place, extended = OPERATIONS.get(opcode & 31, ("unknown", "only", 0))
        if service == "ud":
            extended += 8
        pad = number(pad)
        frames.append(Frame(int(no), src or src6, dst or dst6, service, kind, place,
                            number(length) - UDP - BTH - extended - pad - ICRC, pad, number(qp), number(psn),
                            ack_req in ("1", "True"), mig_req in ("1", "True"), number(va), number(dmalen), number(syndrome),
                            number(msn), number(srcqp)))
    return frames


def extend(psn, near):
    """The 24-bit |psn| as a number that does not wrap, next to |near|."""
    distance = (psn - near) & 0xFFFFFF
    return near + (distance if distance < 0x800000 else distance - 0x1000000)


class Stream:
    """Requests of one direction of one connection, by PSN: what was sent again must be the same."""

    def __init__(self, mtu, start=None):
        self.mtu, self.faults = mtu, []
        self.packets = {}  # PSN: (kind, place, payload)
        self.reads = {}    # first PSN: (frames in the response, va, length)
        self.newest = start
        self.repeated = 0
        self.at_frame = []  # (frame number, newest PSN by then)

    def add(self, frame):
        psn = frame.psn if self.newest is None else extend(frame.psn, self.newest)
        if frame.kind == "read":
            self.add_read(frame, psn)
        else:
            what = (frame.kind, frame.place, frame.payload)
            if psn in self.packets:
                self.repeated += 1
                if self.packets[psn] != what:
                    self.fault(frame, f"PSN {psn:#x} was {self.packets[psn]}, comes again as {what}")
            self.packets[psn] = what
            last = psn
            if frame.place in ("first", "middle") and (frame.payload != self.mtu or frame.pad):
                self.fault(frame, f"{frame.place} of {frame.payload} bytes, MTU {self.mtu}")
            if frame.payload > self.mtu or (frame.place == "last" and frame.payload == 0):
                self.fault(frame, f"{frame.place} of {frame.payload} bytes, MTU {self.mtu}")
            self.newest = last if self.newest is None else max(self.newest, last)
        if frame.pad != -frame.payload % 4:
            self.fault(frame, f"{frame.pad} bytes of padding behind {frame.payload}")
        self.at_frame.append((frame.number, self.newest))

    def add_read(self, frame, psn):
        n = max(1, -(-frame.dmalen // self.mtu))
        self.newest = psn + n - 1 if self.newest is None else max(self.newest, psn + n - 1)
        for first, (count, va, length) in self.reads.items():
            if first <= psn < first + count:  # again, from where the response broke off (IBTA 9.7.5.1.1)
                done = (psn - first) * self.mtu
                self.repeated += 1
                if frame.va != va + done or frame.dmalen != length - done:
                    self.fault(frame, f"READ repeated at PSN {psn:#x} with va {frame.va:#x}, length {frame.dmalen}")
                return
        self.reads[psn] = (n, frame.va, frame.dmalen)

    def fault(self, frame, text):
        self.faults.append(f"frame {frame.number}: {text}")

    def messages(self):
        """(first PSN, PSN whose execution completes it, kind, bytes) in order; faults where the order of opcodes is wrong."""
        spans = {psn: (psn + count - 1, kind, place, payload) for psn, kind, place, payload, count in
                 [(p, k, pl, pay, 1) for p, (k, pl, pay) in self.packets.items()] +
                 [(p, "read", "only", length, count) for p, (count, _, length) in self.reads.items()]}
        found, begun, expected, total = [], None, None, 0
        for psn in sorted(spans):
            end, kind, place, payload = spans[psn]
            if expected is not None and psn != expected:
                self.faults.append(f"PSN {psn:#x} follows {expected - 1:#x}: never sent what lies between")
                begun = None
            expected = end + 1
            opens, closes = place in ("first", "only"), place in ("last", "only")
            if opens == (begun is not None) or (begun is not None and begun[1] != kind):
                self.faults.append(f"PSN {psn:#x}: {kind} {place} " + ("inside a message" if begun else "without a first"))
            if opens:
                begun, total = (psn, kind), 0
            total += payload
            if closes and begun:
                found.append((begun[0], psn, kind, total))
                begun = None
        if begun:
            self.faults.append(f"the message at PSN {begun[0]:#x} does not end")
        return found

    def sent_by(self, frame_number):
        """Newest PSN before that frame."""
        newest = None
        for number_, psn in self.at_frame:
            if number_ > frame_number:
                break
            newest = psn
        return newest


def judge_responses(responses, requests, messages, faults):
    """ACKs name PSNs that were sent, and their MSN counts the messages executed so far (IBTA 9.7.7.1)."""
    ends = [end for _, end, _, _ in messages]
    first_psn = min([*requests.packets, *requests.reads], default=0)

    def executed(psn):
        return sum(1 for end in ends if end <= psn) & 0xFFFFFF

    newest = 0
    position = 0
    sent = None
    for frame in responses:
        while position < len(requests.at_frame) and requests.at_frame[position][0] < frame.number:
            sent = requests.at_frame[position][1]
            position += 1
        if sent is None:
            faults.append(f"frame {frame.number}: {frame.kind} before any request")
            continue
        psn = extend(frame.psn, sent)
        if psn > sent + (1 if frame.syndrome and frame.syndrome >> 5 == 3 else 0) or psn < first_psn - 1:
            faults.append(f"frame {frame.number}: {frame.kind} for PSN {psn:#x}, newest sent {sent:#x}")
            continue
        if frame.msn is None:
            continue
        nak = frame.syndrome >> 5 in (1, 3)
        if frame.kind == "read response":
            # Executed when accepted; a response that is sent again carries a newer number.
            least = executed(psn)
            good = (frame.msn - least) & 0xFFFFFF <= (executed(sent) - least) & 0xFFFFFF
        else:
            least = executed(psn - 1 if nak else psn)
            again = frame.kind == "atomic ack" and (frame.msn - least) & 0xFFFFFF <= (newest - least) & 0xFFFFFF
            good = frame.msn == least or again
        newest = max(newest, frame.msn)
        if not good:
            faults.append(f"frame {frame.number}: {frame.kind} {'NAK ' if nak else ''}for PSN {psn:#x} with MSN {frame.msn}, {least} executed")


def judge(frames, mtu, ours, pairs):
    """Faults of the host |ours| in the frames. |pairs|: (our QPN, the peer's QPN, our first PSN, the peer's)."""
    faults = []
    for mine, other, my_psn, other_psn in pairs:
        sent, received = Stream(mtu, my_psn), Stream(mtu, other_psn)
        answers, answered = [], []
        for frame in frames:
            if frame.service not in ("rc", "uc") or frame.kind == "unknown":
                continue
            if frame.src == ours and frame.qp == other:
                answers.append(frame) if frame.kind in RESPONSES else sent.add(frame)
            elif frame.dst == ours and frame.qp == mine:
                answered.append(frame) if frame.kind in RESPONSES else received.add(frame)
        sent.messages()
        received_messages = received.messages()
        faults += [f"QP {mine:#x}: {text}" for text in sent.faults]
        wrong = []
        judge_responses(answers, received, received_messages, wrong)
        faults += [f"QP {mine:#x} answers: {text}" for text in wrong]
        for frame in answers:
            if frame.kind == "read response" and frame.place in ("first", "middle") and frame.payload != mtu:
                faults.append(f"frame {frame.number}: read response {frame.place} of {frame.payload} bytes")
    faults += [f"frame {f.number}: unknown opcode" for f in frames if f.kind == "unknown" and f.src == ours]
    return faults
