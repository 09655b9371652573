/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommands of rocereplay: each takes its own name as argv[0] and returns an exit status. */
#ifndef ROCEREPLAY_COMMANDS_H
#define ROCEREPLAY_COMMANDS_H

int gen_main(int argc, char **argv);
int serve_main(int argc, char **argv);
int play_main(int argc, char **argv);
int check_main(int argc, char **argv);
int peers_main(int argc, char **argv);

#endif
