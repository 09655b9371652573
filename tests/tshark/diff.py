#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every RoCE frame of every bundled capture, field by field against tshark: diff.py ROCEDUMP CAPTURES...

Several captures are put behind each other, since tshark takes longer to start than to read them.

tshark's own faults, which are why some fields of some frames are left out:
- CNP (0x81), XRC, FLUSH, ATOMIC WRITE: opcodes tshark 4.0 does not know ("Unknown OpCode").
- 0x40-0x5F: always taken for DC, with a BTH that is 8 bytes longer; rocedump does the same unless --rd is given.
- A frame cut by the snap length: tshark calls it malformed and prints what it read before that, or nothing.
- CM REQ flow label and packet rate: read from the wrong bytes.
- P_Key in decimal, Q_Key 64 bits wide: only another way to write the same.
"""
import json
import subprocess
import sys
import tempfile

# tshark field, key of rocedump, how the text of tshark becomes the value of rocedump
number = lambda text: int(text, 0)
hex64 = lambda text: f"0x{int(text, 0):x}"
raw_bytes = lambda text: int(text.replace(":", ""), 16)
flag = lambda text: text in ("1", "True")
FIELDS = [
    ("infiniband.bth.opcode", "opcode_value", number),
    ("infiniband.bth.se", "solicited", flag),
    ("infiniband.bth.m", "mig_req", flag),
    ("infiniband.bth.padcnt", "pad_count", number),
    ("infiniband.bth.p_key", "pkey", number),
    ("infiniband.bth.destqp", "dest_qp", number),
    ("infiniband.bth.a", "ack_req", flag),
    ("infiniband.bth.psn", "psn", number),
    ("infiniband.reth.va", ("reth.va", "atomic_eth.va"), hex64),
    ("infiniband.reth.r_key", ("reth.rkey", "atomic_eth.rkey"), number),
    ("infiniband.reth.dmalen", "reth.dma_length", number),
    ("infiniband.deth.q_key", "deth.qkey", number),
    ("infiniband.deth.srcqp", "deth.src_qp", number),
    ("infiniband.aeth.syndrome", "aeth.syndrome", number),
    ("infiniband.aeth.msn", "aeth.msn", number),
    ("infiniband.atomiceth.swapdt", "atomic_eth.swap_add", hex64),
    ("infiniband.atomiceth.cmpdt", "atomic_eth.compare", hex64),
    ("infiniband.atomicacketh.origremdt", "atomic_ack_eth.original", hex64),
    ("infiniband.immdt", "imm", raw_bytes),
    ("infiniband.ieth", "ieth.rkey", raw_bytes),
    ("infiniband.invariant.crc", "icrc.value", number),
    ("infiniband.cm.req", ("cm.local_comm_id",), number),
    ("infiniband.cm.req.localqpn", "cm.local_qpn", number),
    ("infiniband.cm.req.startpsn", "cm.starting_psn", number),
    ("infiniband.cm.rep", "cm.local_comm_id", number),
    ("infiniband.cm.rep.remotecommid", "cm.remote_comm_id", number),
    ("infiniband.cm.rep.localqpn", "cm.local_qpn", number),
    ("infiniband.cm.rep.startpsn", "cm.starting_psn", number),
    ("infiniband.cm.rtu.localcommid", "cm.local_comm_id", number),
    ("infiniband.cm.rtu.remotecommid", "cm.remote_comm_id", number),
    ("infiniband.cm.rej.localcommid", "cm.local_comm_id", number),
    ("infiniband.cm.rej.remotecommid", "cm.remote_comm_id", number),
    ("infiniband.cm.rej.reason", "cm.reject_reason", number),
    ("infiniband.cm.dreq.localcommid", "cm.local_comm_id", number),
    ("infiniband.cm.dreq.remotecommid", "cm.remote_comm_id", number),
    ("infiniband.cm.req.remoteqpneecn", "cm.remote_qpn", number),
    ("infiniband.cm.drsp.localcommid", "cm.local_comm_id", number),
    ("infiniband.cm.drsp.remotecommid", "cm.remote_comm_id", number),
]


def lookup(record, key):
    for name in key if isinstance(key, tuple) else (key,):
        value = record
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


def tshark(capture):
    command = ["tshark", "-n", "-r", capture, "-T", "fields", "-E", "separator=|", "-E", "occurrence=f", "-e", "frame.number",
               "-e", "_ws.malformed"]
    for name, _, _ in FIELDS:
        command += ["-e", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        frame, malformed, *values = line.split("|")
        yield int(frame), bool(malformed), values


def compare(rocedump, capture, seen):
    done = subprocess.run([rocedump, "--ndjson", capture], check=True, capture_output=True, text=True)
    ours = {record["frame"]: record for record in map(json.loads, done.stdout.splitlines())}
    faults, compared = [], 0
    for frame, malformed, values in tshark(capture):
        if not values[0]:
            if frame in ours and ours[frame].get("transport"):
                faults.append(f"{capture} frame {frame}: RoCE here, not in tshark")
            continue
        record = ours.get(frame)
        if record is None:
            faults.append(f"{capture} frame {frame}: RoCE in tshark, not here")
            continue
        compared += 1
        sliced = malformed or record["captured"] < record["length"]
        for (name, key, convert), text in zip(FIELDS, values):
            if not text:
                # Only what tshark shows can be compared; a header of ours that it lacks shows up below.
                continue
            want, have = convert(text), lookup(record, key)
            if sliced and name == "infiniband.invariant.crc":
                continue
            seen[name] = seen.get(name, 0) + 1
            if want != have:
                faults.append(f"{capture} frame {frame}: {name} {text}, here {have}")
        if not sliced:
            for header in ("reth", "aeth", "deth", "atomic_ack_eth", "ieth"):
                theirs = any(v for (n, k, _), v in zip(FIELDS, values) if str(k).find(header + ".") >= 0)
                if (header in record) and not theirs:
                    faults.append(f"{capture} frame {frame}: {header} here, not in tshark")
    return faults, compared


def main(rocedump, captures):
    seen = {}
    with tempfile.TemporaryDirectory() as directory:
        capture = captures[0]
        if len(captures) > 1:
            capture = f"{directory}/merged.pcapng"
            subprocess.run(["mergecap", "-a", "-w", capture, *captures], check=True, capture_output=True)
        faults, compared = compare(rocedump, capture, seen)
    print("\n".join(faults[:40]))
    print(f"{compared} frames of {len(captures)} captures compared, {sum(seen.values())} values, {len(faults)} differences")
    for name, _, _ in FIELDS:
        print(f"  {name}: {seen.get(name, 0)}")
    unseen = [name for name, _, _ in FIELDS if not seen.get(name)]
    if unseen:
        print("never compared:", *unseen)
    return 1 if faults or unseen or compared == 0 else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
