/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay: makes RoCEv2 traffic through the transport engine. */
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/standard.h"
#include "rocereplay/commands.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
#define COMMAND(name, function, help) {name, function, help},
#include "rocereplay/commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void help(void)
{
    (void)printf("usage: rocereplay COMMAND [OPTION]...\n"
                 "Make RoCEv2 traffic, as an RNIC would.\n\n");
    for (int i = 0; i < COMMANDS; i++)
        (void)printf("  %-8s %s\n", commands[i].name, commands[i].help);
    (void)printf("\nrocereplay COMMAND --help lists the options. More in rocereplay(1).\n");
}

int main(int argc, char **argv)
{
    standard_begin("rocereplay");
    if (argc < 2) {
        msg_print("no command; see rocereplay --help");
        return EXIT_USAGE;
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        const int status = commands[i].run(argc - 1, argv + 1);
        return standard_end(status);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help();
        return standard_end(EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("rocereplay " ROCEKIT_VERSION "\n");
        return standard_end(EXIT_DONE);
    }
    msg_print("unknown command '%s'; see rocereplay --help", argv[1]);
    return EXIT_USAGE;
}
