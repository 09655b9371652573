/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time of reading, of reading and decoding, and of checking every ICRC as well: bench_decode
 * FILE [ROUNDS]. The stages run in turn, round after round; the medians are printed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <roce/capture.h>
#include <roce/icrc.h>
#include <roce/packet.h>

#define BATCH      64
#define ROUNDS_MAX 99

enum stage { READ, DECODE, ICRC, STAGES };
static const char *const names[STAGES] = {"read", "read + decode", "read + decode + ICRC"};

struct totals {
    uint64_t frames, bytes, roce, icrc_ok, sink;
};

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void handle(enum stage stage, const struct roce_frame *frame, struct totals *t)
{
    struct roce_packet pkt;
    struct roce_icrc icrc;
    t->frames++;
    t->bytes += frame->origlen;
    if (stage == READ) {
        t->sink += frame->caplen;
        return;
    }
    roce_packet_decode(frame, NULL, &pkt);
    t->roce += roce_packet_is_roce(&pkt);
    t->sink += pkt.bth.psn;
    if (stage == DECODE)
        return;
    roce_icrc_check(frame, &pkt, &icrc);
    t->icrc_ok += icrc.status == ROCE_ICRC_OK;
}

static double run(const char *path, enum stage stage, struct totals *t)
{
    char text[ROCE_ERRTEXT_LEN];
    int err;
    struct roce_frame frames[BATCH];
    *t = (struct totals){0};
    const double start = cpu_seconds();
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    if (reader == NULL) {
        fprintf(stderr, "bench_decode: %s: %s\n", path, text);
        exit(1);
    }
    for (int n = roce_reader_next(reader, frames, BATCH); n > 0;
         n = roce_reader_next(reader, frames, BATCH))
        for (int i = 0; i < n; i++)
            handle(stage, &frames[i], t);
    roce_reader_del(reader);
    return cpu_seconds() - start;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_decode FILE [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (rounds < 1 || rounds > ROUNDS_MAX)
        rounds = 5;
    double times[STAGES][ROUNDS_MAX];
    struct totals t[STAGES];
    for (int round = 0; round < rounds; round++)
        for (int s = READ; s < STAGES; s++)
            times[s][round] = run(argv[1], (enum stage)s, &t[s]);
    for (int s = READ; s < STAGES; s++) {
        qsort(times[s], (size_t)rounds, sizeof(double), by_value);
        const double median = times[s][rounds / 2];
        printf("%-22s %8.2f M packets/s %8.1f ns/packet %7.2f GB/s\n", names[s],
               (double)t[s].frames / median * 1e-6, median * 1e9 / (double)t[s].frames,
               (double)t[s].bytes / median * 1e-9);
    }
    printf("%llu frames, %llu RoCE, %llu ICRC ok\n", (unsigned long long)t[ICRC].frames,
           (unsigned long long)t[ICRC].roce, (unsigned long long)t[ICRC].icrc_ok);
    return 0;
}
