#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang-tidy over library and programs: tidy.sh ROOT BUILD CLANG-TIDY
# The analyzer takes nearly all of the time, and walks a function's paths up to TIDY_NODES states: its own
# default, 225000, takes some six times as long. One file a run: with several its va_list check carries over.
set -eu
cd "$1"
limit=""
for word in -Xclang -analyzer-config -Xclang "max-nodes=${TIDY_NODES:-10000}"; do
    limit="$limit --extra-arg=$word"
done
# shellcheck disable=SC2086 # a list of words
find dissect tools tui -name '*.c' | sort | xargs -P 2 -n 1 "$3" --quiet -p "$2" $limit
