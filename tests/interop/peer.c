// SPDX-License-Identifier: GPL-2.0-or-later
/* A verbs program for `rocereplay check` and `rocereplay play` with --connect rocereplay:HOST. For
 * each connection of a check it makes the queue pair that the line asks for, and a second one
 * through which its memory is read; for a replay as many as that has, with memory and receives.
 *
 *     peer [-d DEVICE] [-g GID-INDEX] [-p PORT] */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REGION_LEN = 65536, BUFFER_LEN = 1 << 20, LINE_MAX_LEN = 32768, SPARE = 16, GRH_LEN = 40 };
enum { SERVICE_RC, SERVICE_UC, SERVICE_UD };
enum { QPS_MAX = 64, RECEIVES = 64, QKEY = 0x11111111 }; /* of a replay */

struct peer {
    struct ibv_context *context;
    struct ibv_pd *pd;
    int gid_index;
    /* of one connection */
    const char *want;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_qp *qp, *witness;
    struct ibv_mr *region, *buffer_mr;
    uint8_t *memory, *buffer;
    uint64_t received, sent, error;
};

static uint64_t number(const char *line, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at != NULL ? strtoull(at + strlen(quoted), NULL, 10) : 0;
}

/* IPv4 as the GID ::ffff:a.b.c.d, as the standard has it. */
static int address(const char *line, union ibv_gid *gid)
{
    char text[64] = "", mapped[80];
    const char *at = strstr(line, "\"ip\":\"");
    if (at == NULL || sscanf(at + 6, "%63[^\"]", text) != 1)
        return -1;
    snprintf(mapped, sizeof(mapped), "%s%s", strchr(text, ':') == NULL ? "::ffff:" : "", text);
    return inet_pton(AF_INET6, mapped, gid->raw) == 1 ? 0 : -1;
}

static enum ibv_mtu mtu_code(uint64_t bytes)
{
    enum ibv_mtu code = IBV_MTU_256;
    while (code < IBV_MTU_4096 && UINT64_C(128) << code < bytes)
        code++;
    return code;
}

static struct ibv_qp *make_qp(struct peer *p)
{
    static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
    const uint64_t receives = number(p->want, "receives") + number(p->want, "late_receives");
    struct ibv_qp_init_attr init = {
        .send_cq = p->send_cq,
        .recv_cq = p->recv_cq,
        .cap = {.max_send_wr = (uint32_t)number(p->want, "messages") + SPARE,
                .max_recv_wr = (uint32_t)receives + SPARE,
                .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = types[number(p->want, "service") % 3],
        .sq_sig_all = 1,
    };
    return ibv_create_qp(p->pd, &init);
}

static int connect_qp(struct peer *p, struct ibv_qp *qp, uint64_t dest_qpn, unsigned access)
{
    const uint64_t service = number(p->want, "service");
    const int rc = service == SERVICE_RC, ud = service == SERVICE_UD;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = access,
                               .qkey = (uint32_t)number(p->want, "qkey")};
    int mask =
        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    if (ibv_modify_qp(qp, &attr, mask) != 0)
        return -1;
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = mtu_code(number(p->want, "mtu"));
    attr.dest_qp_num = (uint32_t)dest_qpn;
    attr.rq_psn = (uint32_t)number(p->want, "psn");
    attr.max_dest_rd_atomic = attr.max_rd_atomic = (uint8_t)number(p->want, "rd_atomic");
    attr.min_rnr_timer = (uint8_t)number(p->want, "min_rnr_timer");
    attr.ah_attr =
        (struct ibv_ah_attr){.is_global = 1,
                             .port_num = 1,
                             .grh = {.sgid_index = (uint8_t)p->gid_index, .hop_limit = 64}};
    if (address(p->want, &attr.ah_attr.grh.dgid) != 0)
        return -1;
    mask = IBV_QP_STATE;
    if (!ud)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (rc)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    if (ibv_modify_qp(qp, &attr, mask) != 0)
        return -1;
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = (uint32_t)number(p->want, "peer_psn");
    attr.timeout = (uint8_t)number(p->want, "timeout");
    attr.retry_cnt = (uint8_t)number(p->want, "retry_cnt");
    attr.rnr_retry = (uint8_t)number(p->want, "rnr_retry");
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (rc)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(qp, &attr, mask) == 0 ? 0 : -1;
}

static int post_receives(struct peer *p, uint64_t n)
{
    const uint64_t head = number(p->want, "service") == SERVICE_UD ? GRH_LEN : 0;
    struct ibv_sge sge = {.addr = (uintptr_t)p->buffer,
                          .length = (uint32_t)(number(p->want, "recv_size") + head),
                          .lkey = p->buffer_mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    while (n-- > 0)
        if (ibv_post_recv(p->qp, &wr, &bad) != 0)
            return -1;
    return 0;
}

static int open_peer(struct peer *p)
{
    const uint64_t witness = number(p->want, "witness_qpn");
    const int entries = (int)(number(p->want, "messages") + 4 * SPARE + 128);
    p->received = p->sent = p->error = 0;
    p->memory = aligned_alloc(4096, REGION_LEN);
    p->buffer = aligned_alloc(4096, BUFFER_LEN);
    if (p->memory == NULL || p->buffer == NULL)
        return -1;
    for (unsigned i = 0; i < REGION_LEN; i++)
        p->memory[i] = (uint8_t)(i ^ i >> 8);
    memset(p->buffer, 0, BUFFER_LEN);
    p->region = ibv_reg_mr(p->pd, p->memory, REGION_LEN, (int)number(p->want, "mr_access"));
    p->buffer_mr = ibv_reg_mr(p->pd, p->buffer, BUFFER_LEN, IBV_ACCESS_LOCAL_WRITE);
    p->send_cq = ibv_create_cq(p->context, entries, NULL, NULL, 0);
    p->recv_cq = ibv_create_cq(p->context, entries, NULL, NULL, 0);
    if (p->region == NULL || p->buffer_mr == NULL || p->send_cq == NULL || p->recv_cq == NULL)
        return -1;
    p->qp = make_qp(p);
    if (p->qp == NULL ||
        connect_qp(p, p->qp, number(p->want, "qpn"), (unsigned)number(p->want, "access")) != 0)
        return -1;
    if (witness != 0) {
        p->witness = make_qp(p);
        if (p->witness == NULL || connect_qp(p, p->witness, witness, IBV_ACCESS_REMOTE_READ) != 0)
            return -1;
    }
    return post_receives(p, number(p->want, "receives"));
}

static void close_peer(struct peer *p)
{
    if (p->qp != NULL)
        ibv_destroy_qp(p->qp);
    if (p->witness != NULL)
        ibv_destroy_qp(p->witness);
    if (p->send_cq != NULL)
        ibv_destroy_cq(p->send_cq);
    if (p->recv_cq != NULL)
        ibv_destroy_cq(p->recv_cq);
    if (p->region != NULL)
        ibv_dereg_mr(p->region);
    if (p->buffer_mr != NULL)
        ibv_dereg_mr(p->buffer_mr);
    free(p->memory);
    free(p->buffer);
    *p = (struct peer){.context = p->context, .pd = p->pd, .gid_index = p->gid_index};
}

static int start(struct peer *p)
{
    static const enum ibv_wr_opcode ops[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
    struct ibv_sge sge = {.addr = (uintptr_t)p->buffer,
                          .length = (uint32_t)number(p->want, "size"),
                          .lkey = p->buffer_mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = ops[number(p->want, "op") % 3]},
                       *bad;
    wr.wr.rdma.remote_addr = number(p->want, "va");
    wr.wr.rdma.rkey = (uint32_t)number(p->want, "rkey");
    if (post_receives(p, number(p->want, "late_receives")) != 0)
        return -1;
    for (uint64_t n = number(p->want, "messages"); n > 0; n--)
        if (ibv_post_send(p->qp, &wr, &bad) != 0)
            return -1;
    return 0;
}

static void poll_cq(struct peer *p, struct ibv_cq *cq, uint64_t *good)
{
    struct ibv_wc wc;
    while (ibv_poll_cq(cq, 1, &wc) > 0) {
        if (wc.status == IBV_WC_SUCCESS)
            (*good)++;
        else if (wc.status != IBV_WC_WR_FLUSH_ERR && p->error == 0)
            p->error = wc.status;
    }
}

/* ---- rocereplay play ---- */

struct replay_qp {
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *memory;
    uint64_t qpn, psn;
    int service;
};
struct replay {
    struct replay_qp qp[QPS_MAX];
    int n;
    uint64_t mtu, size, len, rd_atomic, messages, bytes;
    struct ibv_mr *buffer_mr;
    uint8_t *buffer;
};

static int service_of(const char *text, int otherwise)
{
    static const char *const words[] = {"\"service\":\"rc\"", "\"service\":\"uc\"",
                                        "\"service\":\"ud\""};
    for (int i = 0; i < 3; i++)
        if (strstr(text, words[i]) != NULL)
            return i;
    return otherwise;
}

static int read_offer(const char *line, struct replay *r)
{
    char head[LINE_MAX_LEN], one[256];
    const char *at = strstr(line, "\"qps\":[");
    if (at == NULL)
        return -1;
    snprintf(head, sizeof(head), "%.*s", (int)(at - line), line);
    r->mtu = number(head, "mtu");
    r->size = number(head, "size");
    r->rd_atomic = number(head, "rd_atomic");
    r->len = r->size > REGION_LEN ? r->size : REGION_LEN;
    while (r->n < QPS_MAX && (at = strchr(at, '{')) != NULL) {
        struct replay_qp *qp = &r->qp[r->n++];
        snprintf(one, sizeof(one), "%.*s", (int)strcspn(at, "}"), at);
        qp->qpn = number(one, "qpn");
        qp->psn = number(one, "psn");
        qp->service = service_of(one, service_of(head, SERVICE_RC));
        at++;
    }
    return 0;
}

static int post_one(const struct replay *r, int i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)r->buffer,
                          .length = (uint32_t)r->len + GRH_LEN,
                          .lkey = r->buffer_mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = (uint64_t)i, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_recv(r->qp[i].qp, &wr, &bad);
}

/* The same steps as for a check, whose line is made of the offer's numbers. */
static int open_qp(struct peer *p, struct replay *r, int i, const char *ip)
{
    char want[1024];
    struct replay_qp *qp = &r->qp[i];
    snprintf(want, sizeof(want),
             "{\"service\":%d,\"receives\":%d,\"messages\":0,\"qkey\":%d,\"mtu\":%" PRIu64
             ",\"psn\":%" PRIu64 ",\"rd_atomic\":%" PRIu64
             ",\"min_rnr_timer\":12,\"peer_psn\":%" PRIu64
             ",\"timeout\":14,\"retry_cnt\":7,\"rnr_retry\":7,%s}",
             qp->service, RECEIVES, QKEY, r->mtu, qp->psn, r->rd_atomic, qp->psn, ip);
    p->want = want;
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                       IBV_ACCESS_REMOTE_ATOMIC;
    qp->memory = aligned_alloc(4096, (r->len + 4095) / 4096 * 4096);
    qp->mr = qp->memory != NULL ? ibv_reg_mr(p->pd, qp->memory, r->len, access) : NULL;
    qp->qp = make_qp(p);
    if (qp->mr == NULL || qp->qp == NULL ||
        connect_qp(p, qp->qp, qp->qpn,
                   qp->service == SERVICE_RC ? access : IBV_ACCESS_REMOTE_WRITE) != 0)
        return -1;
    memset(qp->memory, 0, r->len);
    for (int k = 0; k < RECEIVES; k++)
        if (post_one(r, i) != 0)
            return -1;
    return 0;
}

static int open_replay(struct peer *p, struct replay *r, const char *line)
{
    char ip[128];
    const char *at = strstr(line, "\"ip\":\"");
    if (at == NULL || read_offer(line, r) != 0)
        return -1;
    snprintf(ip, sizeof(ip), "%.*s\"", (int)(6 + strcspn(at + 6, "\"")), at);
    r->buffer = malloc(r->len + GRH_LEN);
    r->buffer_mr = r->buffer != NULL
                       ? ibv_reg_mr(p->pd, r->buffer, r->len + GRH_LEN, IBV_ACCESS_LOCAL_WRITE)
                       : NULL;
    p->send_cq = ibv_create_cq(p->context, 64, NULL, NULL, 0);
    p->recv_cq = ibv_create_cq(p->context, r->n * RECEIVES + 64, NULL, NULL, 0);
    if (r->buffer_mr == NULL || p->send_cq == NULL || p->recv_cq == NULL)
        return -1;
    for (int i = 0; i < r->n; i++)
        if (open_qp(p, r, i, ip) != 0)
            return -1;
    return 0;
}

static void close_replay(struct replay *r)
{
    for (int i = 0; i < r->n; i++) {
        if (r->qp[i].qp != NULL)
            ibv_destroy_qp(r->qp[i].qp);
        if (r->qp[i].mr != NULL)
            ibv_dereg_mr(r->qp[i].mr);
        free(r->qp[i].memory);
    }
    if (r->buffer_mr != NULL)
        ibv_dereg_mr(r->buffer_mr);
    free(r->buffer);
}

static void own_address(int fd, char text[INET6_ADDRSTRLEN])
{
    struct sockaddr_in6 own;
    socklen_t len = sizeof(own);
    text[0] = '\0';
    if (getsockname(fd, (struct sockaddr *)&own, &len) == 0)
        inet_ntop(AF_INET6, &own.sin6_addr, text, INET6_ADDRSTRLEN);
    if (strncmp(text, "::ffff:", 7) == 0)
        memmove(text, text + 7, strlen(text + 7) + 1);
}

static int take(struct peer *p, struct replay *r)
{
    struct ibv_wc wc;
    int n = 0;
    while (ibv_poll_cq(p->recv_cq, 1, &wc) > 0) {
        if (wc.status != IBV_WC_SUCCESS)
            continue;
        const int i = (int)wc.wr_id;
        r->messages++;
        r->bytes += wc.byte_len - (r->qp[i].service == SERVICE_UD ? GRH_LEN : 0);
        post_one(r, i);
        n++;
    }
    return n;
}

static int replay(struct peer *p, struct replay *r, const char *line, FILE *in, FILE *out)
{
    char text[LINE_MAX_LEN], ip[INET6_ADDRSTRLEN];
    if (open_replay(p, r, line) != 0) {
        perror("peer: a replay's queue pairs cannot be made");
        return -1;
    }
    own_address(fileno(in), ip);
    fprintf(out,
            "{\"rocereplay\":1,\"service\":\"rc\",\"op\":\"send\",\"mtu\":%" PRIu64
            ",\"size\":%" PRIu64 ",\"depth\":1,\"places\":1,\"iters\":1,\"rd_atomic\":%" PRIu64
            ",\"ip\":\"%s\",\"qps\":[",
            r->mtu, r->size, r->rd_atomic, ip);
    for (int i = 0; i < r->n; i++)
        fprintf(out,
                "%s{\"qpn\":%u,\"psn\":%" PRIu64 ",\"rkey\":%u,\"va\":%" PRIuPTR ",\"len\":%" PRIu64
                "}",
                i > 0 ? "," : "", r->qp[i].qp->qp_num, r->qp[i].psn, r->qp[i].mr->rkey,
                (uintptr_t)r->qp[i].memory, r->len);
    fprintf(out, "]}\n");
    fflush(out);
    if (fgets(text, sizeof(text), in) == NULL)
        return -1;
    fprintf(out, "{\"start\":true}\n");
    fflush(out);
    struct pollfd end = {.fd = fileno(in), .events = POLLIN};
    while (poll(&end, 1, take(p, r) > 0 ? 0 : 1) == 0)
        continue;
    if (fgets(text, sizeof(text), in) == NULL)
        return -1;
    take(p, r);
    fprintf(out,
            "{\"done\":true,\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64
            ",\"mismatches\":0,\"lost\":0}\n",
            r->messages, r->bytes);
    fflush(out);
    return 0;
}

/* ---- each connection ---- */

static int serve(struct peer *p, FILE *in, FILE *out)
{
    static char want[LINE_MAX_LEN];
    char line[LINE_MAX_LEN];
    if (fgets(want, sizeof(want), in) == NULL)
        return -1;
    if (strstr(want, "\"rocereplay\":1") != NULL) {
        struct replay r = {0};
        const int rc = replay(p, &r, want, in, out);
        close_replay(&r);
        return rc;
    }
    if (strstr(want, "\"check\":1") == NULL)
        return -1;
    p->want = want;
    if (open_peer(p) != 0) {
        perror("peer: a queue pair cannot be made");
        return -1;
    }
    fprintf(out,
            "{\"offer\":1,\"qpn\":%u,\"witness_qpn\":%u,\"rkey\":%u,\"va\":%" PRIuPTR
            ",\"len\":%d}\n",
            p->qp->qp_num, p->witness != NULL ? p->witness->qp_num : 0, p->region->rkey,
            (uintptr_t)p->memory, REGION_LEN);
    fflush(out);
    while (fgets(line, sizeof(line), in) != NULL) {
        if (strstr(line, "\"start\"") != NULL && start(p) != 0)
            return -1;
        poll_cq(p, p->send_cq, &p->sent);
        poll_cq(p, p->recv_cq, &p->received);
        fprintf(out,
                "{\"status\":1,\"received\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"error\":%" PRIu64
                "}\n",
                p->received, p->sent, p->error);
        fflush(out);
    }
    return 0;
}

static int listen_at(uint16_t port)
{
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const int fd = socket(AF_INET6, SOCK_STREAM, 0), on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    return bind(fd, (const struct sockaddr *)&any, sizeof(any)) == 0 && listen(fd, 8) == 0 ? fd
                                                                                           : -1;
}

static struct ibv_context *open_device(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    for (int i = 0; list != NULL && list[i] != NULL; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0)
            return ibv_open_device(list[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *device = "rxe0";
    struct peer p = {.gid_index = 1};
    uint16_t port = 18515;
    int option;
    while ((option = getopt(argc, argv, "d:g:p:")) > 0) {
        if (option == 'd')
            device = optarg;
        else if (option == 'g')
            p.gid_index = atoi(optarg);
        else if (option == 'p')
            port = (uint16_t)atoi(optarg);
        else
            return 2;
    }
    p.context = open_device(device);
    p.pd = p.context != NULL ? ibv_alloc_pd(p.context) : NULL;
    const int listener = listen_at(port);
    if (p.pd == NULL || listener < 0) {
        perror("peer: no such device, or the port is taken");
        return 1;
    }
    for (;;) {
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return 1;
        FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
        if (in != NULL && out != NULL)
            (void)serve(&p, in, out);
        close_peer(&p);
        if (in != NULL)
            fclose(in);
        if (out != NULL)
            fclose(out);
    }
}
