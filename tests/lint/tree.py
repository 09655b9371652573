#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may include what, and what every file carries."""
import pathlib
import re
import subprocess
import sys

# folder: what its #include "..." and <roce/...> may name besides its own folder
ROCE = {
    "dissect/wire": "types err psn opcode bth aeth xth net pfc mad cm icrc packet plain fmt".split(),
    "dissect/capture": "types err capture".split(),
}
ALONE = ("tools/engine", "tools/fabric")  # know the library and themselves, not each other
FORBIDDEN = {  # header: the only places that may include it
    r"pcap(\.h|/)": ("dissect/capture/libpcap.h",),
    r"ncurses": ("tui/term.c",),
    r"(epan|wsutil|wiretap)/": ("plugin/",),
    r"libdeflate\.h": ("dissect/wire/icrc.c", "tests/"),
}
CLOCK = ("tools/common/clock.c", "tests/bench/")
MAX_LINES = 1000


def files(root):
    try:
        names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], check=True,
                               capture_output=True, text=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        names = [str(p.relative_to(root)) for p in pathlib.Path(root).rglob("*") if ".git/" not in str(p)]
    return sorted(n for n in names if n and not n.startswith("build") and (pathlib.Path(root) / n).is_file())


def check_includes(name, text, faults):
    folder = next((f for f in ROCE if name.startswith(f + "/")), None)
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
        if not match:
            continue
        quote, header = match.groups()
        where = f"{name}:{number}"
        for pattern, places in FORBIDDEN.items():
            if re.match(pattern, header) and not name.startswith(places):
                faults.append(f"{where}: only {' '.join(places)} may include {header}")
        if folder and header.startswith("roce/") and not header.endswith(".def"):
            if header[5:-2] not in ROCE[folder]:
                faults.append(f"{where}: {folder} may not use {header}")
        alone = next((f for f in ALONE if name.startswith(f + "/")), None)
        if alone and quote == '"' and "/" in header and not header.startswith(alone[6:] + "/"):
            faults.append(f"{where}: {alone} may not use {header}")
        if name.startswith("dissect/") and quote == '"' and "/" in header:
            faults.append(f"{where}: another folder's header {header}")
        if name.startswith("dissect/") and re.match(r"(common|tools|tui|plugin)/", header):
            faults.append(f"{where}: the library may not use {header}")


def main(root):
    faults = []
    for name in files(root):
        path = pathlib.Path(root) / name
        if name.startswith(("pcaps/", "tests/fuzz/corpus/", "tests/golden/")) or path.suffix in (".pcap", ".png", ".json"):
            continue
        if name in ("LICENSE", ".gitignore", ".clang-format", ".clang-tidy") or path.suffix == ".md":
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if path.name == "TESTLIST" or path.suffix in (".map", ".in", ".txt") and path.name != "CMakeLists.txt":
            continue
        if "SPDX-License-Identifier: GPL-2.0-or-later" not in "\n".join(text.split("\n")[:3]):
            faults.append(f"{name}: no SPDX line")
        if path.suffix in (".c", ".h"):
            check_includes(name, text, faults)
            if text.count("\n") > MAX_LINES:
                faults.append(f"{name}: over {MAX_LINES} lines")
            if "clock_gettime" in text and not name.startswith(CLOCK):
                faults.append(f"{name}: only {' '.join(CLOCK)} may read the clock")
            if re.search(r"\b(TODO|FIXME|XXX)\b", text):
                faults.append(f"{name}: unfinished work")
    print("\n".join(faults) or "the tree keeps its rules")
    return 1 if faults else 0


sys.exit(main(sys.argv[1]))
