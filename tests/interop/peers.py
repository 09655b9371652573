# SPDX-License-Identifier: GPL-2.0-or-later
"""The unmodified programs that rocereplay is held against: how each is started on either side, and what says that it ended well."""
import dataclasses

DEVICE = "-d rxe0 -g 1"        # GID 1 is the IPv4 address
PERFTEST = "-d rxe0 -x 1 -F"   # no warning about CPU frequencies
PORT, CM_PORT = 18515, 7174


@dataclasses.dataclass(frozen=True)
class Peer:
    """|guest|: the program's command, {mtu}, {size}, {n} filled in. |ours|: options of gen and serve alike. |gen|, |serve|:
    those of one alone. |host|: how the guest's side names the server, as client."""
    guest: str
    ours: str
    gen: str
    serve: str
    host: str = " {host}"
    client: str = ""              # the program's command as client, where that is another program
    service: str = "rc"
    sizes: tuple = (5000, 20000)  # by MTU 1024 and 4096: several packets and a short last one
    n: int = 100
    lossy: bool = True            # carries on when frames are lost
    cm: bool = False
    port: int = CM_PORT           # with cm: where the connection manager listens
    mtu_option: bool = True       # the program is told the MTU; else its interface decides
    theirs: tuple = ()            # findings that the program itself is the cause of
    one_way: bool = False         # nothing comes back, not even ACKs
    bad: str = ""                 # what the program prints when contents are wrong


def pingpong(service, **more):
    return Peer(guest=f"ibv_{service}_pingpong {DEVICE} -p {PORT} {'' if service == 'ud' else '-m {mtu} '}-s {{size}} -n {{n}} -c",
                ours=f"--service {service} --mtu {{mtu}} --size {{size}} -n {{n}}",
                gen=f"--connect pingpong:{{peer}}:{PORT} --op send --verify", serve=f"--accept pingpong --listen-port {PORT}",
                service=service, mtu_option=service != "ud", bad="invalid data", **more)


def perftest(tool, op, serve_op, guest="", gen="", both="", much=None, **more):
    """|much|: how much is sent, as the guest's program is told and as ours are."""
    theirs, ours = much or (("-n {n}", "--size 8 -n {n}") if "atomic" in tool else ("-s {size} -n {n}", "--size {size} -n {n}"))
    return Peer(guest=f"{tool} {PERFTEST} -p {PORT} -m {{mtu}} -u 16 {guest} {theirs}", ours=f"--mtu {{mtu}} {ours} --timeout 16 {both}",
                gen=f"--connect perftest:{{peer}}:{PORT} --op {op} {gen}", serve=f"--accept perftest --listen-port {PORT} --op {serve_op}",
                **more)


def perftest_cm(tool, op, serve_op, how, guest="", both="", **more):
    """By the connection manager: |how| is -R or -z for either side. The interface decides the path MTU of its connections.
    With -R the program says that it is ready, and only then listens."""
    return perftest(tool, op, serve_op, guest=f"{how} {guest}", gen=how, both=both, cm=True, port=PORT, mtu_option=False,
                    theirs=("cm.rejected",) if how == "-R" else (), **more)


PEERS = {
    "ibv_rc_pingpong": pingpong("rc"),
    # Nobody repeats what UC and UD lose: the program would wait for ever.
    "ibv_uc_pingpong": pingpong("uc", lossy=False),
    "ibv_ud_pingpong": pingpong("ud", lossy=False, sizes=(1000, 4000)),
    "rping": Peer(guest=f"rping {{role}} -C {{n}} -S {{size}} -p {CM_PORT} -V -v", host=" -c -a {host}",
                  ours="--mtu {mtu} --size {size} -n {n} --app rping --timeout 16", gen=f"--connect cm:{{peer}}:{CM_PORT} --verify",
                  serve=f"--accept cm --listen-port {CM_PORT}", n=30, cm=True, mtu_option=False, bad="data mismatch"),
    "ib_send_bw": perftest("ib_send_bw", "send", "send"),
    "ib_write_bw": perftest("ib_write_bw", "write", "write"),
    "ib_read_bw": perftest("ib_read_bw", "read", "read"),
    "ib_atomic_bw": perftest("ib_atomic_bw", "fadd", "atomic", n=200),
}
# Not named in the contract, held to the same.
EXTRA = {
    "ib_send_lat": perftest("ib_send_lat", "send", "send", both="--latency"),
    "ib_write_lat": perftest("ib_write_lat", "write", "write", both="--latency"),
    "ib_read_lat": perftest("ib_read_lat", "read", "read", both="--latency"),
    "ib_send_bw_R": perftest_cm("ib_send_bw", "send", "send", "-R"),
    "ib_write_bw_R": perftest_cm("ib_write_bw", "write", "write", "-R"),
    "ib_read_bw_R": perftest_cm("ib_read_bw", "read", "read", "-R"),
    "ib_atomic_bw_R": perftest_cm("ib_atomic_bw", "fadd", "atomic", "-R", n=200),
    "ib_send_bw_z": perftest_cm("ib_send_bw", "send", "send", "-z"),
    "ib_write_bw_z": perftest_cm("ib_write_bw", "write", "write", "-z"),
    "ib_send_bw_b": perftest("ib_send_bw", "send", "send", guest="-b", both="--bidirectional"),
    "ib_read_bw_b": perftest("ib_read_bw", "read", "read", guest="-b", both="--bidirectional"),
    "ibv_srq_pingpong": Peer(guest=f"ibv_srq_pingpong {DEVICE} -p {PORT} -m {{mtu}} -s {{size}} -n {{n}} -q 4",
                             ours="--mtu {mtu} --size {size} -n {n} --srq --qp 4", gen=f"--connect pingpong:{{peer}}:{PORT} --op send",
                             serve=f"--accept pingpong --listen-port {PORT}"),
    "ib_send_bw_srq": perftest("ib_send_bw", "send", "send", guest="--use-srq"),
    # As many frames at once as of one QP: the emulated guest's receive ring takes no more.
    "ib_write_bw_q4_R": perftest_cm("ib_write_bw", "write", "write", "-R", guest="-q 4", both="--qp 4", n=25),
    "ib_send_bw_q4_R": perftest_cm("ib_send_bw", "send", "send", "-R", guest="-q 4", both="--qp 4", n=25),
    "ib_write_bw_l": perftest("ib_write_bw", "write", "write", guest="-l 4 --report_gbits"),
    "ib_send_bw_r": perftest("ib_send_bw", "send", "send", guest="-r 64"),
    "ucmatose": Peer(guest=f"ucmatose -p {CM_PORT} -C {{n}} -S {{size}}", host=" -s {host}",
                     ours="--mtu {mtu} --size {size} -n {n} --app echo --timeout 16", gen=f"--connect cm:{{peer}}:{CM_PORT}",
                     serve=f"--accept cm --listen-port {CM_PORT}", n=30, cm=True, mtu_option=False, bad="failed"),
}
EXTRA["udaddy"] = Peer(guest="udaddy -C {n} -S {size}", host=" -s {host}",
                       ours="--mtu {mtu} --size {size} -n {n} --app udaddy", gen=f"--connect cm:{{peer}}:{CM_PORT}",
                       serve=f"--accept cm --listen-port {CM_PORT}", service="ud", sizes=(1000, 4000), n=30, lossy=False, cm=True,
                       mtu_option=False, bad="failed")
for _tool, _op, _serve_op in (("ib_send", "send", "send"), ("ib_write", "write", "write"), ("ib_read", "read", "read"),
                              ("ib_atomic", "fadd", "atomic")):
    if _op != "fadd":
        # Few at once: without an end in sight the emulated guest's receive ring runs over.
        EXTRA[f"{_tool}_bw_D"] = perftest(f"{_tool}_bw", _op, _serve_op, gen="--duration 1s --tx-depth 4",
                                          much=("-s {size} -D 1 -t 4", "--size {size}"))
        EXTRA[f"{_tool}_bw_q4"] = perftest(f"{_tool}_bw", _op, _serve_op, guest="-q 4", both="--qp 4", n=25)
    EXTRA[f"{_tool}_lat_R"] = perftest_cm(f"{_tool}_lat", _op, _serve_op, "-R", both="--latency")
EXTRA |= {
    "ib_atomic_lat": perftest("ib_atomic_lat", "fadd", "atomic", both="--latency"),
    "ib_write_bw_b": perftest("ib_write_bw", "write", "write", guest="-b", both="--bidirectional"),
    "ib_atomic_bw_b": perftest("ib_atomic_bw", "fadd", "atomic", guest="-b", both="--bidirectional"),
    "ib_read_bw_z": perftest_cm("ib_read_bw", "read", "read", "-z"),
    "ib_read_bw_q4_R": perftest_cm("ib_read_bw", "read", "read", "-R", guest="-q 4", both="--qp 4", n=25),
    "ib_send_bw_uc": perftest("ib_send_bw", "send", "send", guest="-c UC", both="--service uc", service="uc", lossy=False, one_way=True),
    "ib_write_bw_uc": perftest("ib_write_bw", "write", "write", guest="-c UC", both="--service uc", service="uc", one_way=True),
    "ib_send_bw_ud": perftest("ib_send_bw", "send", "send", guest="-c UD", both="--service ud", service="ud", lossy=False, one_way=True,
                              sizes=(1000, 4000)),
    "ib_send_bw_ud_R": perftest_cm("ib_send_bw", "send", "send", "-R", guest="-c UD", both="--service ud", service="ud", lossy=False,
                                   sizes=(1000, 4000)),
}
# rdma_server answers what it receives, rdma_xserver does not.
for _letter, _gen, _serve in (("", "--bidirectional", "--app echo"), ("x", "", "")):
    EXTRA[f"rdma_{_letter}server"] = Peer(
        guest=f"rdma_{_letter}server -p {CM_PORT}", client=f"rdma_{_letter}client -s {{host}} -p {CM_PORT}",
        ours="--mtu {mtu} --size 16 -n 1 --timeout 16", gen=f"--connect cm:{{peer}}:{CM_PORT} --op send {_gen}",
        serve=f"--accept cm {_serve} --listen-port {CM_PORT}", n=1, cm=True, mtu_option=False)
PEERS |= EXTRA
MTUS = (1024, 4096)
LOSSES = (0, 0.1, 1)
