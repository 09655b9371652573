/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A party: one connection of the connection manager and the program that talks over it. */
#ifndef ROCEREPLAY_PARTY_H
#define ROCEREPLAY_PARTY_H

#include "rocereplay/lane.h"
#include "rocereplay/load.h"

struct party;

/* What a program does. Its functions return 0, or -1: the connection ends as failed, after a
 * message. */
struct party_app {
    const char *name;
    /* lane says what QP and memory it takes. */
    void (*lane)(const struct party *party, struct lane_cfg *cfg);
    int (*open)(struct party *party); /* the QP is in INIT: first receives */
    int (*established)(struct party *party);
    int (*received)(struct party *party, const struct eng_wc *wc);
    int (*sent)(struct party *party, const struct eng_wc *wc);
};
extern const struct party_app party_rping, party_echo, party_load, party_udaddy;

/* Private data of rocereplay's own: what gen tells in its request, serve in its reply. */
struct party_hello {
    bool verify;
    uint32_t size, places, rkey;
    uint64_t va;
};
enum { PARTY_HELLO_LEN = 32 };
void party_hello_encode(const struct party_hello *hello, uint8_t data[PARTY_HELLO_LEN]);
/* party_hello_decode returns 0, or ROCE_ERR_UNKNOWN: these are not rocereplay's data. */
int party_hello_decode(const uint8_t *data, size_t len, struct party_hello *hello);

struct party {
    struct station *st;
    const struct party_app *app;
    uint32_t slot; /* in wr_id of all that it posts */
    bool client, used, up, over, failed;
    bool done; /* the peer is to end the connection */
    struct lane lane;
    struct eng_cm_conn *conn;
    uint32_t size;
    uint64_t iters;
    struct party_hello hello; /* the peer's */
    /* the program's */
    int state;
    uint64_t n_sent, n_received, rounds;
    uint64_t peer_va;
    uint32_t peer_rkey, peer_size;
    roce_tstamp round_start, heard; /* heard: when something of it was completed last */
    struct load_result result;
};

int party_open(struct party *party, struct station *st, const struct party_app *app, uint32_t slot,
               bool client);
void party_close(struct party *party);
/* party_param fills what the connection manager wants to know. */
struct eng_cm_param party_param(struct party *party);

/* party_recv posts a receive of |len| bytes at |off| of the local memory, party_send and
 * party_send_imm send, party_move READs or WRITEs. 0, or -1 with a message printed. */
int party_recv(struct party *party, uint64_t off, uint32_t len);
int party_send(struct party *party, uint64_t off, uint32_t len);
int party_send_imm(struct party *party, uint64_t off, uint32_t len, uint32_t imm);
int party_move(struct party *party, enum eng_wr_op op, uint64_t off, uint32_t len);
/* party_end begins the disconnection. */
void party_end(struct party *party);
/* party_fail ends the connection as failed. */
void party_fail(struct party *party);

/* party_run turns the station, serves events and completions of the |n| parties. |listening|: new
 * ones come in. Ends when the single party of a client is over, or, listening, at a signal, or
 * after the first with --once. 0, or -1 with a message printed. */
int party_run(struct station *st, struct party *parties, uint32_t n, const struct party_app *app,
              bool listening);

/* party_refusal tells why a REJECTED connection was refused. */
const char *party_refusal(const struct eng_cm_event *event);

#endif
