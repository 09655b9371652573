#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the captures that tests/rocedump needs and no network gave: odd frames, pause frames, damaged files."""
import pathlib
import struct
import sys
import zlib

TIME = 1700000000


def pcap(frames, linktype=1):
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, linktype)
    for i, frame in enumerate(frames):
        data, length = frame if isinstance(frame, tuple) else (frame, len(frame))
        out += struct.pack("<IIII", TIME + i // 4, i % 4 * 250000 + i, len(data), length) + data
    return out


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(frames):
    """frames: (interface's link type, data); one interface a link type."""
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    types = sorted({t for t, _ in frames})
    for t in types:
        out += block(1, struct.pack("<HHI", t, 0, 0))
    for i, (t, data) in enumerate(frames):
        ts = TIME * 1000000 + i
        out += block(6, struct.pack("<IIIII", types.index(t), ts >> 32, ts & 0xFFFFFFFF, len(data), len(data)) + data)
    return out


def eth(payload, ethertype=0x0800, tags=()):
    head = bytes.fromhex("020000000002020000000001")
    for tpid, tci in tags:
        head += struct.pack(">HH", tpid, tci)
    return head + struct.pack(">H", ethertype) + payload


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ipv4(payload, proto, src="10.0.0.1", dst="10.0.0.2", tos=0, total=None):
    addr = bytes(int(x) for a in (src, dst) for x in a.split("."))
    head = struct.pack(">BBHHHBBH", 0x45, tos, total or 20 + len(payload), 1, 0x4000, 64, proto, 0) + addr
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def udp(payload, sport=49152, dport=4791, length=None):
    return struct.pack(">HHHH", sport, dport, length or 8 + len(payload), 0) + payload


def bth(opcode, psn=1000, qp=0x12, ack=0, flags=0, pkey=0xFFFF):
    return struct.pack(">BBHII", opcode, flags, pkey, qp, ack << 31 | psn)


def icrc(packet):
    """IBTA A17.3.3: CRC-32 behind eight bytes of ones, what routers change replaced by ones."""
    m = bytearray(packet)
    m[1] = m[8] = m[10] = m[11] = m[26] = m[27] = m[32] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(m)))


def roce(opcode, rest=b"", wrong=0, tags=(), tos=0, **kwargs):
    body = bth(opcode, **kwargs) + rest
    packet = ipv4(udp(body + b"1234"), 17, tos=tos)[:-4]
    value = bytes(b ^ wrong for b in icrc(packet))
    return eth(packet + value, tags=tags)


RETH = struct.pack(">QII", 0x7F0000001000, 0xABCD, 65536)


def odd():
    plain = roce(0x04, b"x" * 8)
    inner = roce(0x11, struct.pack(">I", 0x1F000007))
    vxlan = eth(ipv4(udp(struct.pack(">II", 0x08000000, 5000 << 8) + inner, dport=4789), 17, "192.0.2.1", "192.0.2.2"))
    return [
        # Published frames: a CNP of a ConnectX-4 Lx, RoCEv1 WRITE and ACK, UC over IPv6.
        bytes.fromhex("e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff"
                      "40000118000000000000000000000000000000000000000082fd002a"),
        bytes.fromhex("7cfe90753cd87cfe90753cd889156020000000281b4000000000000000000000ffff0f00000200000000000000000000"
                      "ffff0f0000020a70ffff0000010a80a788bc000055d4c0726000000047b3000000050000000001000000e3d856bb"),
        bytes.fromhex("7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000"
                      "ffff0f0000021140ffff0000010900a788c00000000525f0c038"),
        bytes.fromhex("248a07a8fa22248a07a8fa2286dd6e21face002c11ff2022000000000000000000000000102320230000000000000000"
                      "000000001024c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b"),
        roce(0x06, RETH + b"w" * 1024, tags=[(0x8100, 3 << 13 | 100)], tos=26 << 2 | 2),
        roce(0x07, b"w" * 1024, psn=1001, tags=[(0x88A8, 200), (0x8100, 5 << 13 | 1 << 12 | 30)], tos=3),
        vxlan,
        roce(0x04, b"x" * 8, wrong=0xFF),
        roce(0x1C, struct.pack(">I", 3) + RETH),
        roce(0x1D, RETH + b"8 bytes!"),
        roce(0xA4, struct.pack(">I", 0x77) + b"xrc!", pkey=0x8001),
        roce(0x44, struct.pack(">III", 0x55, 0x11111111, 0x33) + b"rd"),
        roce(0x13, struct.pack(">QIQQ", 0x1000, 0x99, 5, 4)),
        roce(0x14, struct.pack(">QIQQ", 0x1000, 0x99, 1, 0)),
        roce(0x12, struct.pack(">IQ", 0x00000009, 1 << 60)),
        roce(0x11, struct.pack(">I", 0x2C000001)),
        roce(0x11, struct.pack(">I", 0x62000002)),
        roce(0x11, struct.pack(">I", 0x6A000003)),
        roce(0x11, struct.pack(">I", 0x40000004)),
        roce(0x17, struct.pack(">I", 0x1234) + b"inv!", flags=0x80, ack=1),
        roce(0x04, b"x" * 8, ack=1, qp=0xFFFFFF, psn=0xFFFFFF),
        roce(0xE1, b"vendor"),
        roce(0x95, b"what"),
        (plain[:48], len(plain)),
        (roce(0x0C, RETH)[:60], 78),
        eth(ipv4(udp(bth(0x04) + b"1234", length=20), 17)),
    ]


def pause():
    def control(body):
        frame = bytes.fromhex("0180c2000001020000000001") + b"\x88\x08" + body
        return frame + bytes(60 - len(frame))
    times = lambda *q: struct.pack(">8H", *q)
    return [
        control(struct.pack(">HH", 0x0101, 0x08) + times(0, 0, 0, 65535, 0, 0, 0, 0)),
        control(struct.pack(">HH", 0x0101, 0x18) + times(0, 0, 0, 0, 100, 0, 0, 0)),
        control(struct.pack(">HH", 0x0001, 0x8000)),
        control(struct.pack(">HH", 0x0001, 0)),
        (control(struct.pack(">HH", 0x0101, 0x08))[:20], 60),
        roce(0x04, b"x" * 8),
    ]


def strangers():
    tcp = eth(ipv4(bytes(20), 6))
    arp = eth(bytes(46), 0x0806)
    dns = eth(ipv4(udp(b"?" * 20, dport=53), 17))
    lldp = eth(bytes(46), 0x88CC)
    return [tcp] * 5 + [arp] * 3 + [dns] * 2 + [lldp, eth(b"\x42\x42\x03" + bytes(43), 0x0026)]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    files = {
        "odd.pcap": pcap(odd()),
        "pause.pcap": pcap(pause()),
        "no_roce.pcap": pcap(strangers()),
        "no_packets.pcap": pcap([]),
        "empty.pcap": b"",
        "garbage.pcap": b"\x7fELF" + bytes(range(200)),
        "cut_short.pcap": pcap([roce(0x04, b"x" * 8), roce(0x04, b"x" * 8)])[:-20],
        "two_links.pcapng": pcapng([(1, roce(0x04, b"x" * 8)), (101, roce(0x04, b"x" * 8)[14:])]),
        "port.pcap": pcap([eth(ipv4(udp(bth(0x04) + b"1234", dport=4444), 17))]),
    }
    for name, data in files.items():
        (out / name).write_bytes(data)
    (out / "directory").mkdir(exist_ok=True)


if __name__ == "__main__":
    main()
