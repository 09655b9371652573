#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""wire.py judges real captures as clean and finds what is wrong in altered ones: test_wire.py PCAPS."""
import pathlib
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import wire

# Capture, path MTU, hosts with their QP and the peer's QP (known from the tools' own exchange).
CLEAN = [
    ("rc_all_ops", 1024, "192.168.77.2", 0x26, 0x26), ("rc_all_ops", 1024, "192.168.77.3", 0x26, 0x26),
    ("loss5_egress_send", 1024, "192.168.77.2", 0xc2, 0xc1), ("loss5_egress_send", 1024, "192.168.77.3", 0xc1, 0xc2),
    ("loss5_egress_read", 1024, "192.168.77.2", 0xaa, 0xa9), ("loss5_egress_read", 1024, "192.168.77.3", 0xa9, 0xaa),
    ("rc_rnr_then_ok", 1024, "192.168.77.3", 0x35, 0x34), ("cm_rping", 4096, "192.168.77.3", 0x15, 0x15),
]


def first(frames, **wanted):
    return next(i for i, f in enumerate(frames) if all(getattr(f, k) == v for k, v in wanted.items()))


def altered(frames, index, **change):
    return frames[:index] + [frames[index]._replace(**change)] + frames[index + 1:]


def main(pcaps):
    failed = []
    for name, mtu, host, mine, other in CLEAN:
        frames = wire.read(pathlib.Path(pcaps) / f"{name}.pcap")
        faults = wire.judge(frames, mtu, host, [(mine, other, None, None)])
        if faults or len(frames) < 10:
            failed.append(f"{name}: {faults}")

    frames = wire.read(pathlib.Path(pcaps) / "rc_all_ops.pcap")
    a, b, qp = "192.168.77.2", "192.168.77.3", 0x26

    def expect(what, host, changed, text):
        faults = wire.judge(changed, 1024, host, [(qp, qp, None, None)])
        if not any(text in fault for fault in faults):
            failed.append(f"{what}: {faults}")

    ack = first(frames, src=b, kind="ack")
    expect("MSN", b, altered(frames, ack, msn=frames[ack].msn + 1), "with MSN")
    expect("ghost", b, altered(frames, ack, psn=frames[ack].psn + 500), "newest sent")
    response = first(frames, src=b, kind="read response", place="first")
    expect("short response", b, altered(frames, response, payload=1000), "of 1000 bytes")
    middle = first(frames, src=a, kind="send", place="middle")
    expect("lost for ever", a, frames[:middle] + frames[middle + 1:], "never sent")
    expect("order", a, altered(frames, middle, place="first"), "inside a message")
    expect("kind", a, altered(frames, middle, kind="write"), "inside a message")
    expect("length", a, altered(frames, middle, payload=1020), "MTU 1024")
    last = first(frames, src=a, kind="write", place="last")
    expect("other content", a, frames + [frames[last]._replace(payload=frames[last].payload + 4)], "comes again as")
    read = first(frames, src=a, kind="read")
    expect("read repeated", a, frames + [frames[read]._replace(va=frames[read].va + 8)], "READ repeated")
    print("\n".join(failed) or "as expected")
    return 1 if failed else 0


sys.exit(main(sys.argv[1]))
