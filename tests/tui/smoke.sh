#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One run in tmux, as a user has it: smoke.sh ROCETOP CAPTURE. Finds the worst QP, its gap and the frames around it, saves
# them, and leaves a shell that works.
set -eu
rocetop=$1 capture=$2
folder=$(mktemp -d)
export TMUX_TMPDIR="$folder" LC_ALL=C.UTF-8 TZ=UTC
unset TMUX XDG_CONFIG_HOME || true
trap 'tmux -L rocetop kill-server 2>/dev/null || true; rm -rf "$folder"' EXIT
t() { tmux -L rocetop "$@"; }

# Waits until the screen shows $1.
await() {
    tries=0
    until t capture-pane -p -t 0 | grep -qF -e "$1"; do
        tries=$((tries + 1))
        if [ $tries -gt 400 ]; then
            echo "waited for: $1"
            t capture-pane -p -t 0
            exit 1
        fi
        t run-shell -d 0.05 true
    done
}

t -f /dev/null new-session -d -s 0 -x 80 -y 24 "PS1='ready> ' sh"
await 'ready>'
t send-keys -t 0 "$rocetop --config=/dev/null --speed=max -r $capture; stty -a | grep -c ' echo '" Enter
await 'FILE END'
await '> 0000c1'
t send-keys -t 0 Enter
await 'psn 14645546 GAP'
t send-keys -t 0 r
await 'GAP 1'
t send-keys -t 0 F2 w C-u "$folder/around.pcapng" Enter
await 'frames saved'
t resize-window -t 0 -x 132 -y 40
await 'UDP destination port'
t send-keys -t 0 q q
await 'ready> '
await '1'
[ "$(od -An -tx4 -N4 "$folder/around.pcapng" | tr -d ' ')" = 0a0d0d0a ]
