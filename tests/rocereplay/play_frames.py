# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames for the tests of rocereplay play: pcap files, checksums and ICRC by the standards, without the code under test."""
import struct
import zlib


def read_pcap(path):
    """(link type, [(ns, original length, bytes)])"""
    data = path.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1 if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    link = struct.unpack(order + "I", data[20:24])[0]
    frames, at = [], 24
    while at < len(data):
        sec, sub, caplen, length = struct.unpack(order + "IIII", data[at:at + 16])
        frames.append((sec * 10**9 + sub * unit, length, data[at + 16:at + 16 + caplen]))
        at += 16 + caplen
    return link, frames


def write_pcap(path, frames, link=1, snap=None):
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link)
    for i, frame in enumerate(frames):
        body = frame if snap is None else frame[:snap]
        out += struct.pack("<IIII", 1000, i * 1000, len(body), len(frame)) + body
    path.write_bytes(out)


def ones_sum(data):
    """RFC 1071, before the complement."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def ip_sum_ok(header):
    return ones_sum(header[:(header[0] & 15) * 4]) == 0xFFFF


def udp_sum_ok(ip, udp):
    """Over the pseudo header of |ip| (IPv4 or IPv6)."""
    ends = ip[12:20] if ip[0] >> 4 == 4 else ip[8:40]
    return ones_sum(ends + struct.pack(">II", len(udp), 17) + udp) == 0xFFFF


def icrc(packet):
    """Of a packet that begins with its IP header or GRH, without its last four bytes (IBTA 7.8.1, annex A17.3.3)."""
    masked = bytearray(packet[:-4])
    if masked[0] >> 4 == 4:
        head, udp = 20, True
        for i in (1, 8, 10, 11):
            masked[i] = 0xFF
    else:
        head, udp = 40, masked[6] == 17
        masked[0] |= 0x0F
        for i in (1, 2, 3, 7):
            masked[i] = 0xFF
    if udp:
        masked[head + 6] = masked[head + 7] = 0xFF
        head += 8
    masked[head + 4] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def icrc_ok(packet):
    return icrc(packet) == packet[-4:]


def inner_packet(frame):
    """From the IP header of a plain RoCEv2 frame to its ICRC; None for anything else."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, at = frame[at:at + 2], at + 2
    ip = frame[at:]
    if kind == b"\x08\x00" and ip[9] == 17 and ip[22:24] == b"\x12\xb7":
        return ip[:struct.unpack(">H", ip[2:4])[0]]
    if kind == b"\x86\xdd" and ip[6] == 17 and ip[42:44] == b"\x12\xb7":
        return ip[:40 + struct.unpack(">H", ip[4:6])[0]]
    return None


def ipv4(src, dst, proto, payload, tos=0):
    header = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), 7, 0x4000, 64, proto, 0, bytes(src),
                                   bytes(dst)))
    header[10:12] = struct.pack(">H", 0xFFFF ^ ones_sum(bytes(header)))
    return bytes(header) + payload


def ipv6(src, dst, proto, payload):
    return struct.pack(">IHBB16s16s", 0x60012345, len(payload), proto, 64, bytes(src), bytes(dst)) + payload


def udp(ip_ends, sport, dport, payload, checksum=True):
    """|ip_ends|: source and destination address as bytes, for the pseudo header."""
    out = bytearray(struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload)
    if checksum:
        total = ones_sum(ip_ends + struct.pack(">II", len(out), 17) + bytes(out))
        out[6:8] = struct.pack(">H", (0xFFFF ^ total) or 0xFFFF)
    return bytes(out)


def with_icrc(packet):
    """|packet| ends with four bytes of any kind."""
    return packet[:-4] + icrc(packet)


def bth(opcode, dqpn, psn, pad=0, ack=0):
    return struct.pack(">BBHII", opcode, pad << 4, 0xFFFF, dqpn, ack << 31 | psn)


def rocev2(src, dst, transport, checksum=False, sport=0xC123):
    """IPv4, or IPv6 by the length of the addresses; |transport| from the BTH to the pad."""
    build = ipv4 if len(src) == 4 else ipv6
    packet = with_icrc(build(src, dst, 17, udp(b"", sport, 4791, transport + b"\0\0\0\0", False)))
    if checksum:
        head = 20 if len(src) == 4 else 40
        datagram = bytearray(packet[head:])
        total = ones_sum(src + dst + struct.pack(">II", len(datagram), 17) + bytes(datagram))
        datagram[6:8] = struct.pack(">H", (0xFFFF ^ total) or 0xFFFF)
        packet = packet[:head] + bytes(datagram)
    return packet


def rocev1(sgid, dgid, transport):
    grh = struct.pack(">IHBB16s16s", 0x60000000, len(transport) + 4, 0x1B, 64, sgid, dgid)
    return with_icrc(grh + transport + b"\0\0\0\0")
