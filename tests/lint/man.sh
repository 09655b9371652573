#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages are free of warnings: man.sh ROOT MANDOC
set -eu
cd "$1/man"
for page in *.[1-9]; do
    [ -f "$page" ] || continue
    "$2" -T lint -W warning "$page"
done
