#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every public header compiles alone, as C11 and as C++."""
import pathlib
import subprocess
import sys


def main(root, cc, cxx):
    include = pathlib.Path(root) / "dissect/include"
    faults = 0
    headers = sorted(include.glob("roce/*.h"))
    for header in headers:
        source = f"#include <roce/{header.name}>\n"
        for compiler, language, standard in ((cc, "c", "c11"), (cxx, "c++", "c++11")):
            done = subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{include}",
                                   "-fsyntax-only", "-x", language, "-"], input=source, text=True, capture_output=True)
            if done.returncode != 0:
                print(f"{header.name} as {language}:\n{done.stderr}")
                faults += 1
    print(f"{len(headers)} headers, {faults} faults")
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
