#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `cmake --install` gives others: a small consumer builds and runs with pkg-config, against the shared object and
# against the archive. install.sh BUILD CONSUMER.c CC
set -eu
build=$1 consumer=$2 cc=$3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

cmake --install "$build" --prefix "$root/usr" >/dev/null
pc=$(find "$root/usr" -name roce.pc)
libdir=$(dirname "$(find "$root/usr" -name libroce.so)")
export PKG_CONFIG_PATH="$(dirname "$pc")"
flags=$(pkg-config --define-variable=prefix="$root/usr" --define-variable=libdir="$libdir" \
    --define-variable=includedir="$root/usr/include" --cflags --libs roce)
"$cc" -std=c11 -Wall -Wextra -Werror "$consumer" $flags -o "$root/shared"
LD_LIBRARY_PATH=$libdir "$root/shared"
static=$(pkg-config --static --define-variable=includedir="$root/usr/include" --cflags --libs roce | sed "s|-lroce|$libdir/libroce.a|")
"$cc" -std=c11 -Wall -Wextra -Werror "$consumer" $static -o "$root/static"
"$root/static"
[ -x "$root/usr/bin/rocedump" ]
[ -f "$root/usr/share/man/man1/rocedump.1" ]
