#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The pure rooms do no I/O, read no clock, keep no state of their own, and allocate only in *_new and *_del."""
import re
import subprocess
import sys

CALLS = {"memcpy", "memset", "memcmp", "memmove", "memchr", "strlen", "strcmp", "strncmp", "strchr", "strcspn", "bcmp", "qsort",
         "madvise", "__assert_fail", "__stack_chk_fail", "libdeflate_crc32", "_GLOBAL_OFFSET_TABLE_"}
HEAP = {"malloc", "calloc", "realloc", "free", "aligned_alloc", "mmap", "munmap"}
OWNER = re.compile(r"_(new|del)(\.\w+)*$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def undefined(objects):
    wanted, defined = {}, set()
    for path in objects:
        for line in run("nm", path).splitlines():
            *_, kind, name = line.split()
            if kind in "Uw":
                wanted.setdefault(name, path)
            else:
                defined.add(name)
    return {name: path for name, path in wanted.items() if name not in defined}


def heap_users(path):
    """Functions of the object that call the heap."""
    function = ""
    for line in run("objdump", "-dr", "--no-show-raw-insn", path).splitlines():
        start = re.match(r"[0-9a-f]+ <([^>]+)>:$", line)
        if start:
            function = start.group(1)
        call = re.search(r"R_\w+\s+(\w+)", line)
        if call and call.group(1) in HEAP:
            yield function, call.group(1)


def main(objects):
    faults = []
    for name, path in undefined(objects).items():
        if name not in CALLS | HEAP and not name.startswith("roce_"):
            faults.append(f"{path}: calls {name}")
    for path in objects:
        for function, call in heap_users(path):
            if not OWNER.search(function):
                faults.append(f"{path}: {function} calls {call}")
        for line in run("objdump", "-t", path).splitlines():
            columns = line.split()
            if len(columns) >= 5 and re.fullmatch(r"\.(data|bss)(\.(?!rel\.ro).*)?", columns[-3]) and columns[-1] != columns[-3]:
                faults.append(f"{path}: mutable global {columns[-1]}")
    print("\n".join(faults) or f"{len(objects)} objects are pure")
    return 1 if faults else 0


sys.exit(main(sys.argv[1:]))
