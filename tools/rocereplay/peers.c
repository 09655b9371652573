/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay peers: what can be spoken to, and the command lines of both sides. */
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/options.h"
#include "common/out.h"
#include "common/json.h"
#include "rocereplay/commands.h"

#include <unistd.h>

struct peers_opts {
    bool json;
};

static const struct opt table[] = {
#define OPTION(letter, name, arg, kind, member, help) \
    {letter, OPT_##kind, name, arg, offsetof(struct peers_opts, member), help},
#include "rocereplay/peers.def"
#undef OPTION
};

static const struct opt_program program = {
    .name = "rocereplay peers",
    .synopsis = "rocereplay peers [OPTION]...",
    .summary = "List what can be spoken to, and how.",
    .footer = "",
    .table = table,
    .count = sizeof(table) / sizeof(table[0]),
};

/* Each side's command line: the program of the other side as server, ours as client; and the other
 * way round. */
static const struct {
    const char *program, *as_server, *gen, *as_client, *serve;
} peers[] = {
    {"rocereplay", "rocereplay serve -i IFACE", "--connect rocereplay:HOST",
     "rocereplay gen -i IFACE --connect rocereplay:HOST", "--accept rocereplay"},
    {"ibv_rc_pingpong", "ibv_rc_pingpong -g INDEX", "--connect pingpong:HOST",
     "ibv_rc_pingpong -g INDEX HOST", "--accept pingpong"},
    {"ibv_uc_pingpong", "ibv_uc_pingpong -g INDEX", "--connect pingpong:HOST --service uc",
     "ibv_uc_pingpong -g INDEX HOST", "--accept pingpong --service uc"},
    {"ibv_ud_pingpong", "ibv_ud_pingpong -g INDEX -s 1024",
     "--connect pingpong:HOST --service ud --size 1024", "ibv_ud_pingpong -g INDEX -s 1024 HOST",
     "--accept pingpong --service ud --size 1024"},
    {"ibv_srq_pingpong", "ibv_srq_pingpong -g INDEX", "--connect pingpong:HOST --srq",
     "ibv_srq_pingpong -g INDEX HOST", "--accept pingpong --srq"},
    {"ib_send_bw", "ib_send_bw -x INDEX", "--connect perftest:HOST --op send",
     "ib_send_bw -x INDEX HOST", "--accept perftest --op send"},
    {"ib_write_bw", "ib_write_bw -x INDEX", "--connect perftest:HOST --op write",
     "ib_write_bw -x INDEX HOST", "--accept perftest --op write"},
    {"ib_read_bw", "ib_read_bw -x INDEX", "--connect perftest:HOST --op read",
     "ib_read_bw -x INDEX HOST", "--accept perftest --op read"},
    {"ib_atomic_bw", "ib_atomic_bw -x INDEX", "--connect perftest:HOST --op fadd",
     "ib_atomic_bw -x INDEX HOST", "--accept perftest --op atomic"},
    {"ib_send_lat", "ib_send_lat -x INDEX", "--connect perftest:HOST --op send --latency",
     "ib_send_lat -x INDEX HOST", "--accept perftest --op send --latency"},
    {"ib_write_lat", "ib_write_lat -x INDEX", "--connect perftest:HOST --op write --latency",
     "ib_write_lat -x INDEX HOST", "--accept perftest --op write --latency"},
    {"ib_read_lat", "ib_read_lat -x INDEX", "--connect perftest:HOST --op read --latency",
     "ib_read_lat -x INDEX HOST", "--accept perftest --op read --latency"},
    {"ib_send_bw -R", "ib_send_bw -R", "--connect perftest:HOST --op send -R", "ib_send_bw -R HOST",
     "--accept perftest --op send"},
    {"ib_send_bw -c UD -R", "ib_send_bw -c UD -R -s 1024",
     "--connect perftest:HOST --op send -R --service ud --size 1024",
     "ib_send_bw -c UD -R -s 1024 HOST", "--accept perftest --op send --service ud --size 1024"},
    {"ib_send_bw -z", "ib_send_bw -z -x INDEX", "--connect perftest:HOST --op send -z",
     "ib_send_bw -z -x INDEX HOST", "--accept perftest --op send"},
    {"rping", "rping -s", "--connect cm:HOST --app rping", "rping -c -a HOST -C 10",
     "--accept cm --app rping"},
    {"ucmatose", "ucmatose", "--connect cm:HOST --app echo", "ucmatose -s HOST",
     "--accept cm --app echo"},
    {"udaddy", "udaddy", "--connect cm:HOST --app udaddy", "udaddy -s HOST",
     "--accept cm --app udaddy"},
};

enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

static void print_text(void)
{
    for (int i = 0; i < PEERS; i++) {
        (void)printf("%s\n", peers[i].program);
        (void)printf("  %s\n    gen -i IFACE %s\n", peers[i].as_server, peers[i].gen);
        (void)printf("  serve -i IFACE %s\n    %s\n", peers[i].serve, peers[i].as_client);
    }
}

static int print_json(void)
{
    struct out out;
    struct json json;
    if (out_init(&out, STDOUT_FILENO) != 0) {
        msg_print("out of memory");
        return EXIT_IO;
    }
    json_init(&json, &out);
    json_open_object(&json, NULL);
    json_str(&json, "schema", "rocereplay-peers/1");
    json_open_array(&json, "peers");
    for (int i = 0; i < PEERS; i++) {
        json_newline(&json);
        json_open_object(&json, NULL);
        json_str(&json, "program", peers[i].program);
        json_str(&json, "as_server", peers[i].as_server);
        json_str(&json, "gen", peers[i].gen);
        json_str(&json, "as_client", peers[i].as_client);
        json_str(&json, "serve", peers[i].serve);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    json_newline(&json);
    const int rc = out_end(&out);
    if (rc == 0)
        return EXIT_DONE;
    msg_print("standard output: %s", strerror(rc));
    return EXIT_IO;
}

int peers_main(int argc, char **argv)
{
    struct peers_opts opts = {0};
    const int words = opt_parse(&program, argc, argv, &opts);
    if (words == OPT_EXIT_DONE)
        return EXIT_DONE;
    if (words < 0)
        return EXIT_USAGE;
    if (words > 0) {
        msg_print("'%s' is not an option; see rocereplay peers --help", argv[1]);
        return EXIT_USAGE;
    }
    if (opts.json)
        return print_json();
    print_text();
    return EXIT_DONE;
}
