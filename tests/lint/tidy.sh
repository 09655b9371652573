#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang-tidy over library and programs: tidy.sh ROOT BUILD CLANG-TIDY
set -eu
cd "$1"
find dissect tools tui -name '*.c' | sort | xargs -P 2 -n 1 "$3" --quiet -p "$2"
