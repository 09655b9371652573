#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second, plain implementation of the counters of a flow, to compare rocestat with: reference.py ROCESTAT CAPTURES...

It reads whole pcap files, keeps every PSN it has seen in a set, and looks through the file once before to learn path
MTUs; nothing of it is shared with the library. Sliced
captures are left out: the length of a READ is cut off there. Besides the captures as they are, it compares copies in which frames are
dropped, repeated later (with another IP identification, as a sender does) or moved, by a seeded generator; and copies with VLAN
tags, CE marks, damaged payloads, and CNP and PFC frames in between.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

RESPONSES = {0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12}
EXTRA = {0x03: 4, 0x05: 4, 0x06: 16, 0x09: 4, 0x0A: 16, 0x0B: 20, 0x0C: 16, 0x0D: 4, 0x0F: 4, 0x10: 4, 0x11: 4, 0x12: 12,
         0x13: 28, 0x14: 28, 0x16: 4, 0x17: 4, 0x1C: 20, 0x1D: 16}
NAKS = ["psn_sequence_error", "invalid_request", "remote_access_error", "remote_operational_error", "invalid_rd_request"]
FIRST_OR_MIDDLE = {0x00, 0x01, 0x06, 0x07, 0x0D, 0x0E}
READ_REQUEST, MASK = 0x0C, 0xFFFFFF


class Packet:
    """An Ethernet, IPv4 or IPv6, UDP 4791 frame with its BTH; None of it where the frame is something else."""

    def __init__(self, data, length):
        self.roce, self.length, self.captured = False, length, len(data)
        while data[12:14] in (b"\x81\x00", b"\x88\xa8"):
            data = data[:12] + data[16:]
        if data[12:14] == b"\x08\x00" and len(data) >= 34:
            ip, self.src, self.dst = 14, data[26:30], data[30:34]
            end, proto, udp = ip + struct.unpack(">H", data[16:18])[0], data[23], ip + 20
            self.ecn = data[15] & 3
        elif data[12:14] == b"\x86\xdd" and len(data) >= 54:
            ip, self.src, self.dst = 14, data[22:38], data[38:54]
            end, proto, udp = ip + 40 + struct.unpack(">H", data[18:20])[0], data[20], ip + 40
            self.ecn = data[15] >> 4 & 3
        else:
            return
        if proto != 17 or len(data) < udp + 20 or data[udp + 2:udp + 4] != b"\x12\xb7":
            return
        bth = udp + 8
        self.roce = True
        self.opcode, self.service = data[bth], data[bth] >> 5
        self.op = self.opcode & 0x1F
        self.pad = data[bth + 1] >> 4 & 3
        self.qp = int.from_bytes(data[bth + 5:bth + 8], "big")
        self.psn = int.from_bytes(data[bth + 9:bth + 12], "big")
        extra = 8 + (4 if self.op == 5 else 0) if self.service == 3 else 0 if self.opcode == 0x81 else EXTRA.get(self.op, 0)
        self.payload = end - bth - 12 - extra - self.pad - 4
        xth = bth + 12
        self.src_qp = int.from_bytes(data[xth + 5:xth + 8], "big") if self.service == 3 else None
        self.syndrome = data[xth] if self.op == 0x11 and self.opcode != 0x81 else None
        self.dma = struct.unpack(">I", data[xth + 12:xth + 16])[0] if self.op == READ_REQUEST and len(data) >= xth + 16 else 0
        self.response = self.service != 3 and self.opcode != 0x81 and self.op in RESPONSES
        self.icrc = "unchecked"
        if end <= len(data):
            masked = bytearray(data[ip:end - 4])
            if udp == 34:
                for i in (1, 8, 10, 11):
                    masked[i] = 0xFF
            else:
                masked[0] |= 0x0F
                for i in (1, 2, 3, 7):
                    masked[i] = 0xFF
            for i in (udp - ip + 6, udp - ip + 7, bth - ip + 4):
                masked[i] = 0xFF
            good = struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))
            self.icrc = "ok" if good == data[end - 4:end] else "bad"


class Flow:
    def __init__(self):
        self.n = dict.fromkeys("""packets bytes payload_bytes requests responses acks rnr_naks cnps ect ce gap_events gap_psns
            retransmitted retransmitted_dup retransmitted_fill read_response_dup read_response_gap_events""".split(), 0)
        self.naks, self.icrc = dict.fromkeys(NAKS, 0), {"ok": 0, "bad": 0, "unchecked": 0}
        self.captured, self.answered = set(), set()
        self.first = self.next = self.last_response = None
        self.sources = set()
        self.slack = False   # the newest request is a READ, and no packet has shown the path MTU so far
        self.unsure = False  # a gap behind such a READ: whether it is one cannot be told when it is met

    def request(self, p, psns):
        if self.next is None:
            self.first = self.next = p.psn
        ahead = (p.psn - self.next) & MASK
        if ahead >= 0x800000:
            self.n["retransmitted"] += 1
            self.n["retransmitted_dup" if p.psn in self.captured else "retransmitted_fill"] += 1
        else:
            if ahead:
                self.unsure = self.unsure or self.slack
                self.n["gap_events"] += 1
                self.n["gap_psns"] += ahead
            self.next = (p.psn + psns) & MASK
        self.captured.update((p.psn + i) & MASK for i in range(psns))

    def read_response(self, p):
        self.n["read_response_dup"] += p.psn in self.answered
        if p.op in (0x0E, 0x0F) and self.last_response is not None and p.psn != (self.last_response + 1) & MASK:
            self.n["read_response_gap_events"] += 1
        self.answered.add(p.psn)
        self.last_response = p.psn

    def add(self, p, mtu, mtu_shown):
        self.n["packets"] += 1
        self.n["bytes"] += p.length
        self.icrc[p.icrc] += 1
        self.n["ect"] += p.ecn in (1, 2)
        self.n["ce"] += p.ecn == 3
        self.n["payload_bytes"] += p.payload
        if p.opcode == 0x81:
            self.n["cnps"] += 1
            return
        self.n["responses" if p.response else "requests"] += 1
        if p.syndrome is not None:
            kind, value = p.syndrome >> 5, p.syndrome & 31
            if kind == 0:
                self.n["acks"] += 1
            elif kind == 1:
                self.n["rnr_naks"] += 1
            elif kind == 3 and value < len(NAKS):
                self.naks[NAKS[value]] += 1
        if p.response:
            if p.op not in (0x11, 0x12):
                self.read_response(p)
        else:
            self.sources.add(p.src_qp)
            read = p.op == READ_REQUEST and p.service in (0, 5)
            self.request(p, max(1, math.ceil(p.dma / mtu)) if read else 1)
            self.slack = read and not mtu_shown and p.dma > 256


def frames_of(data):
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at < len(data):
        head = data[at:at + 16]
        _, _, captured, length = struct.unpack(order + "IIII", head)
        yield head, data[at + 16:at + 16 + captured], length
        at += 16 + captured


def reference(data):
    packets = [Packet(frame, length) for _, frame, length in frames_of(data)]
    mtus, shown, flows = {}, set(), {}
    for p in packets:
        if p.roce and p.service in (0, 5) and p.op in FIRST_OR_MIDDLE:
            mtus.setdefault(frozenset((p.src, p.dst)), p.payload)
    for p in packets:
        if not p.roce:
            continue
        hosts = frozenset((p.src, p.dst))
        if p.service in (0, 5) and p.op in FIRST_OR_MIDDLE:
            shown.add(hosts)
        flows.setdefault((p.src, p.dst, p.qp), Flow()).add(p, mtus.get(hosts, 1 << 31), hosts in shown)
    return flows


def address(text):
    import ipaddress
    return ipaddress.ip_address(text).packed


def compare(rocestat, path, name):
    with open(path, "rb") as f:
        want = reference(f.read())
    done = subprocess.run([rocestat, "--json", path], capture_output=True, check=True)
    have = {(address(f["src"]), address(f["dst"]), f["dest_qp"]): f for f in json.loads(done.stdout)["flows"]}
    faults, values = [], 0
    if set(want) != set(have):
        faults.append(f"{name}: {len(want)} flows, rocestat has {len(have)}")
    for key in set(want) & set(have):
        flow, theirs = want[key], have[key]
        expected = dict(flow.n, icrc=flow.icrc, naks=flow.naks)
        if flow.next is not None:
            expected.update(first_psn=flow.first, next_psn=flow.next)
        # UD from several QPs: each has a PSN of its own. QP 1 counts its PSNs over all destinations.
        if len(flow.sources) > 1 or (key[2] == 1 and None not in flow.sources):
            for counter in ("gap_events", "gap_psns", "retransmitted", "retransmitted_dup", "retransmitted_fill", "first_psn", "next_psn"):
                expected[counter] = None
        if flow.unsure:
            for counter in ("gap_events", "gap_psns"):
                del expected[counter]
        if theirs["mirror_duplicates"]:
            faults.append(f"{name}: {theirs['mirror_duplicates']} mirror duplicates, none was made")
        for counter, value in expected.items():
            values += 1
            if theirs[counter] != value:
                faults.append(f"{name} to QP {key[2]:#x}: {counter} {theirs[counter]}, expected {value}")
    return faults, values


def mutate(data, seed):
    """Drops frames, repeats older ones with a new IP identification, and moves some a few places back."""
    rng = random.Random(seed)
    frames, out = list(frames_of(data)), []
    for head, frame, length in frames:
        roll = rng.random()
        if roll < 0.05:
            continue
        out.append((head, frame, length))
        if roll < 0.10 and len(out) > 8 and frame[12:14] == b"\x08\x00":
            old_head, old, old_length = out[-rng.randrange(1, 8)]
            if old[12:14] != b"\x08\x00":
                continue
            copy = bytearray(old)
            copy[18:20] = rng.randrange(65536).to_bytes(2, "big")  # another IP identification, and so another ICRC
            if len(copy) == old_length and copy[23] == 17 and copy[36:38] == b"\x12\xb7":
                copy = right_icrc(bytes(copy))
            out.append((head, bytes(copy), old_length))
        elif roll < 0.14 and len(out) > 4:
            back = rng.randrange(1, 4)
            out[-1], out[-1 - back] = (out[-1][0], *out[-1 - back][1:]), (out[-1 - back][0], *out[-1][1:])
    return data[:24] + b"".join(head[:8] + struct.pack(struct_order(data) + "II", len(f), length) + f for head, f, length in out)


def right_icrc(frame):
    """The frame, untagged IPv4, with the ICRC that belongs there."""
    end = 14 + struct.unpack(">H", frame[16:18])[0]
    masked = bytearray(frame[14:end - 4])
    for i in (1, 8, 10, 11, 26, 27, 32):
        masked[i] = 0xFF
    return frame[:end - 4] + struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked))) + frame[end:]


def congestion_notification(frame):
    """A CNP against the direction of |frame|, to the QP number it carries."""
    ip = struct.pack(">BBHHHBBH", 0x45, 48 << 2, 60, 0, 0x4000, 64, 17, 0) + frame[30:34] + frame[26:30]
    bth = struct.pack(">BBHII", 0x81, 0, 0xFFFF, 0x40 << 24 | int.from_bytes(frame[47:50], "big"), 0) + bytes(16)
    return right_icrc(frame[6:12] + frame[:6] + b"\x08\x00" + ip + struct.pack(">HHHH", 0, 4791, 40, 0) + bth + bytes(4))


def dress(data, seed):
    """Tags, marks and damages frames, and puts CNP and PFC frames between them."""
    rng, out = random.Random(seed), []
    tag = struct.pack(">HH", 0x8100, rng.randrange(8) << 13 | 100)
    pfc = bytes.fromhex("0180c2000001020000000001" "8808" "0101" "0008" + "0000" * 3 + "ffff" + "0000" * 4) + bytes(26)
    for head, frame, length in frames_of(data):
        roce = frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == b"\x12\xb7" and len(frame) == length
        frame = bytearray(frame)
        if roce and rng.random() < 0.2:
            frame[15] |= 3
        if roce and rng.random() < 0.03:
            frame[-1] ^= 0x55
        out.append((head, bytes(frame[:12]) + tag + bytes(frame[12:]), length + len(tag)))
        if roce and rng.random() < 0.05:
            notification = congestion_notification(bytes(frame))
            out.append((head, notification, len(notification)))
        if rng.random() < 0.05:
            out.append((head, pfc, len(pfc)))
    return data[:24] + b"".join(head[:8] + struct.pack(struct_order(data) + "II", len(f), length) + f for head, f, length in out)


def struct_order(data):
    return "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"


def main(rocestat, captures, seeds):
    faults, values, runs = [], 0, 0
    with tempfile.TemporaryDirectory() as work:
        for path in captures:
            with open(path, "rb") as f:
                data = f.read()
            for seed in range(seeds + 1):
                name = os.path.basename(path) + (f" seed {seed}" if seed else "")
                changed = os.path.join(work, "changed.pcap") if seed else path
                if seed:
                    with open(changed, "wb") as f:
                        # The network's own copies, marked differently, would look like a mirror's.
                        dressed = seed % 2 == 0 and "dup_egress" not in path
                        f.write(dress(mutate(data, seed), seed) if dressed else mutate(data, seed))
                found, count = compare(rocestat, changed, name)
                faults, values, runs = faults + found, values + count, runs + 1
    print("\n".join(faults[:60]))
    print(f"{runs} captures, {values} counters compared, {len(faults)} differences")
    return 1 if faults or not values else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [p for p in sys.argv[2:] if p.endswith(".pcap") and "snap" not in p], int(os.environ.get("SEEDS", "3"))))
