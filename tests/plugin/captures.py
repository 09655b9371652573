# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of what Wireshark gets wrong without the plugin, and of what no network at hand gives."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "rocedump"))
from make_captures import RETH, bth, eth, icrc, ipv4, pause, pcap, roce, udp  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SEND_ONLY, WRITE_ONLY, READ_REQUEST, ACK, CNP = 0x04, 0x0A, 0x0C, 0x11, 0x81
AETH_ACK = struct.pack(">I", 0x1F000001)


def roce4(opcode, rest=b"", sport=49152, dport=4791, src="10.0.0.1", dst="10.0.0.2", tos=0, **kwargs):
    """A RoCEv2 packet from its IPv4 header to its ICRC."""
    packet = ipv4(udp(bth(opcode, **kwargs) + rest + b"ICRC", sport, dport), 17, src, dst, tos)[:-4]
    return packet + icrc(packet)


def roce6(opcode, rest=b"", sport=49152, **kwargs):
    """The same over IPv6; the ICRC takes traffic class, flow label and hop limit as ones (IBTA A17.3.3)."""
    import zlib
    body = udp(bth(opcode, **kwargs) + rest + b"ICRC", sport)
    addresses = bytes.fromhex("fd00000000000000000000000000000afd00000000000000000000000000000b")
    packet = struct.pack(">IHBB", 6 << 28 | 0x21FACE, len(body), 17, 64) + addresses + body
    masked = bytearray(packet[:-4])
    masked[0:4] = b"\x6f\xff\xff\xff"
    masked[7] = 0xFF
    masked[46:48] = b"\xff\xff"
    masked[52] = 0xFF
    return packet[:-4] + struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def vxlan(inner, vni):
    return ipv4(udp(struct.pack(">II", 0x08000000, vni << 8) + inner, 51000, 4789), 17, "192.0.2.1", "192.0.2.2")


def gre(inner):
    return ipv4(struct.pack(">HH", 0, 0x0800) + inner, 47, "192.0.2.1", "192.0.2.2")


def icmp_error(quoted):
    return ipv4(struct.pack(">BBHI", 3, 4, 0, 1500) + quoted, 1, "10.0.0.254", "10.0.0.1")


def traps():
    """(name, frame) pairs: the rows that go wrong without the plugin."""
    sliced = eth(roce4(SEND_ONLY, b"x" * 512, psn=7))
    return [
        ("sport 69", eth(roce4(SEND_ONLY, b"x" * 64, sport=69, psn=1))),
        ("sport 72", eth(roce4(SEND_ONLY, b"x" * 64, sport=72, psn=2))),
        ("sport 53", eth(roce4(SEND_ONLY, b"x" * 64, sport=53, psn=3))),
        ("sport 0", eth(roce4(SEND_ONLY, b"x" * 64, sport=0, psn=4))),
        ("sport 69 over IPv6", eth(roce6(SEND_ONLY, b"y" * 64, sport=69, psn=5), 0x86DD)),
        ("4-byte SEND", eth(roce4(SEND_ONLY, b"ping", psn=6))),
        ("sliced", (sliced[:96], len(sliced))),
        ("CNP", eth(roce4(CNP, bytes(16), sport=0, qp=0x99))),
        ("XRC", eth(roce4(0xA4, struct.pack(">I", 0x77) + b"xrc!", psn=8))),
        ("vendor", eth(roce4(0xE1, b"vendor12"))),
        ("FLUSH", eth(roce4(0x1C, struct.pack(">I", 3) + RETH, psn=9))),
        ("ATOMIC WRITE", eth(roce4(0x1D, RETH + b"8 bytes!", psn=10))),
        ("VXLAN", eth(vxlan(eth(roce4(SEND_ONLY, b"tunneled", psn=11)), 5000))),
        ("VXLAN, sport 69 inside", eth(vxlan(eth(roce4(SEND_ONLY, b"tunneled", sport=69, psn=12)), 5000))),
        ("GRE", eth(gre(roce4(SEND_ONLY, b"tunneled", psn=13)))),
        ("ICMP error", eth(icmp_error(roce4(SEND_ONLY, b"x" * 64, psn=14)[:28 + 20]))),
        ("from 4791", eth(ipv4(udp(b"no RoCE at all, just a reply.", 4791, 50000), 17))),
        ("QP 1 sliced", (eth(roce4(0x64, struct.pack(">II", 0x80010000, 1) + bytes(256), qp=1))[:110], 322)),
    ]


def hostile():
    """One capture of damaged frames: each kind of header cut at each byte, and random bits turned."""
    import random
    rng = random.Random(4791)
    whole = [frame if isinstance(frame, bytes) else frame[0] for _, frame in traps()] + [
        frame if isinstance(frame, bytes) else frame[0] for frame in pause()]
    whole += [eth(roce4(READ_REQUEST, RETH)), eth(roce4(ACK, AETH_ACK)), eth(roce4(0x06, RETH + b"w" * 256))]
    frames = []
    for frame in whole:
        frames += [frame[:n] for n in range(14, min(len(frame), 130), 3)]
        frames += [(frame[:n], len(frame)) for n in range(14, min(len(frame), 130), 3)]
        for _ in range(60):
            bent = bytearray(frame)
            for _ in range(rng.randrange(1, 5)):
                bent[rng.randrange(12, len(bent))] ^= 1 << rng.randrange(8)
            frames.append(bytes(bent))
    rng.shuffle(frames)
    return frames


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    (out / "traps.pcap").write_bytes(pcap([frame for _, frame in traps()]))
    (out / "pause.pcap").write_bytes(pcap(pause()))
    (out / "hostile.pcap").write_bytes(pcap(hostile()))


if __name__ == "__main__":
    main()
