/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reader costs above a bare walk over the records of a memory-mapped pcap file. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <roce/capture.h>

#define ROUNDS 9
#define BATCH  256

struct run {
    uint64_t packets;
    uint64_t sum; /* of what was read, so that nothing is optimised away */
    double ns;    /* CPU time a packet */
};

static double cpu_ns(clock_t since)
{
    return (double)(clock() - since) * 1e9 / CLOCKS_PER_SEC;
}

/* As plain as can be: native byte order, no checks but the end of the file. */
static struct run walk_bare(const char *path)
{
    struct run run = {0, 0, 0};
    const clock_t begin = clock();
    const int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        perror(path);
        exit(1);
    }
    const size_t size = (size_t)st.st_size;
    uint8_t *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    for (size_t at = 24; at + 16 <= size;) {
        uint32_t header[4];
        memcpy(header, map + at, sizeof(header));
        run.sum += header[0] + header[1] + header[3];
        run.packets++;
        at += sizeof(header) + header[2];
    }
    munmap(map, size);
    close(fd);
    run.ns = cpu_ns(begin) / (double)run.packets;
    return run;
}

static struct run walk_reader(const char *path)
{
    static struct roce_frame frames[BATCH];
    struct run run = {0, 0, 0};
    char text[ROCE_ERRTEXT_LEN];
    const clock_t begin = clock();
    struct roce_reader *reader = roce_reader_open(path, NULL, NULL, text);
    if (reader == NULL) {
        fprintf(stderr, "%s: %s\n", path, text);
        exit(1);
    }
    int n;
    while ((n = roce_reader_next(reader, frames, BATCH)) > 0) {
        for (int i = 0; i < n; i++)
            run.sum += frames[i].ts + frames[i].origlen;
        run.packets += (uint64_t)n;
    }
    if (n < 0)
        fprintf(stderr, "%s: %s\n", path, roce_reader_text(reader));
    roce_reader_del(reader);
    run.ns = cpu_ns(begin) / (double)run.packets;
    return run;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(values[0]), by_value);
    return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_walk FILE.pcap (native byte order)\n");
        return 2;
    }
    double bare[ROUNDS];
    double reader[ROUNDS];
    struct run a = walk_bare(argv[1]); /* fills the page cache */
    struct run b = {0, 0, 0};
    for (int i = 0; i < ROUNDS; i++) {
        a = walk_bare(argv[1]);
        b = walk_reader(argv[1]);
        bare[i] = a.ns;
        reader[i] = b.ns;
    }
    if (a.packets != b.packets) {
        fprintf(stderr, "bare walk: %" PRIu64 " packets, reader: %" PRIu64 "\n", a.packets,
                b.packets);
        return 1;
    }
    const double x = median(bare);
    const double y = median(reader);
    printf("%" PRIu64 " packets; ns a packet, medians of %d: bare walk %.1f, reader %.1f; reader / "
           "bare %.2f (%016" PRIx64 ")\n",
           a.packets, ROUNDS, x, y, y / x, a.sum ^ b.sum);
    return 0;
}
