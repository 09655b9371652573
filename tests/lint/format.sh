#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Layout is decided by .clang-format: format.sh ROOT CLANG-FORMAT
set -eu
cd "$1"
find dissect tools tests plugin tui -name '*.[ch]' 2>/dev/null | sort | xargs "$2" --dry-run -Werror
