/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flow table: paths (address pairs) and flows in two open-addressing indexes that grow inside
 * memory reserved at the start, eviction of the least recently seen flow. */
#include "digest.h"
#include "internal.h"
#include "space.h"

#include <stdlib.h>
#include <string.h>

#define INDEX_START     16    /* slots in use at first */
#define DENSE_SLOTS     512   /* smaller indexes fill to three quarters, larger ones to a half */
#define LRU_EXACT       65536 /* tables up to this size keep the order of use from the first frame */
#define PORT_BITMAPS    256
#define PORT_BITMAP_LEN (65536 / 8)

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static bool is_v4(const uint8_t address[16])
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    return memcmp(address, mapped, sizeof mapped) == 0;
}

/* Most captures are IPv4, and this is on every packet's path. */
static uint64_t v4_hash(const struct roce_flow_table *t, uint64_t addresses)
{
    const uint64_t h = (addresses ^ t->seed) * UINT64_C(0xC2B2AE3D27D4EB4F);
    return h ^ h >> 32;
}

static uint64_t path_hash(const struct roce_flow_table *t, const uint8_t src[16],
                          const uint8_t dst[16], uint64_t tunnel)
{
    if (tunnel == 0 && is_v4(src) && is_v4(dst))
        return v4_hash(t, digest_addresses(src, dst));
    /* Products side by side, not one after the other. */
    const uint64_t a = (load64(src + 8) ^ t->seed) * UINT64_C(0x9E3779B97F4A7C15);
    const uint64_t b = (load64(dst + 8) + t->seed) * UINT64_C(0xC2B2AE3D27D4EB4F);
    const uint64_t c = (load64(src) + t->seed) * UINT64_C(0x165667B19E3779F9);
    const uint64_t d = (load64(dst) ^ t->seed) * UINT64_C(0x27D4EB2F165667C5);
    const uint64_t h = a ^ (b << 29 | b >> 35) ^ (c << 41 | c >> 23) ^ (d << 13 | d >> 51) ^ tunnel;
    return mix(h, h >> 32);
}

static uint64_t key_hash(const struct roce_flow_table *t, const struct path *key)
{
    return path_hash(t, key->src, key->dst, (uint64_t)key->tunnel_key << 1 | key->encapsulated);
}

static uint64_t flow_hash(uint64_t path, uint32_t dqpn)
{
    const uint64_t h = mix(path, dqpn);
    return h ^ h >> 32;
}

static bool path_same(const struct path *a, const struct path *b)
{
    return memcmp(a->src, b->src, 16) == 0 && memcmp(a->dst, b->dst, 16) == 0 &&
           a->tunnel_key == b->tunnel_key && a->encapsulated == b->encapsulated;
}

/* The encapsulation nearest to the RoCE packet that has a key both directions share: MPLS labels
 * differ by direction, and the low byte of an NVGRE key is entropy (RFC 7637 3.2). */
static const struct roce_tunnel *tunnel_of(const struct roce_packet *pkt)
{
    for (int i = pkt->n_tunnel; i-- > 0;) {
        const struct roce_tunnel *tunnel = &pkt->tunnel[i];
        if (tunnel->has_key && tunnel->kind != ROCE_TUNNEL_MPLS)
            return tunnel;
    }
    return NULL;
}

void table_path_key(const struct roce_packet *pkt, struct path *key)
{
    memcpy(key->src, pkt->ip.src, 16);
    memcpy(key->dst, pkt->ip.dst, 16);
    key->encapsulated = 0;
    key->tunnel_key = 0;
    if (pkt->n_tunnel > 0) {
        const struct roce_tunnel *tunnel = tunnel_of(pkt);
        if (tunnel != NULL) {
            key->encapsulated = 1;
            key->tunnel_kind = tunnel->kind;
            key->tunnel_key = tunnel->kind == ROCE_TUNNEL_NVGRE ? tunnel->key >> 8 : tunnel->key;
        }
    }
}

/* ---- the two indexes: linear probing, deletion by shifting back ---- */

static void index_put(uint64_t *index, uint32_t mask, uint64_t hash, uint32_t id)
{
    uint32_t i = (uint32_t)hash & mask;
    while (index[i] != 0)
        i = (i + 1) & mask;
    index[i] = hash << 32 | (id + 1);
}

static void index_delete(uint64_t *index, uint32_t mask, uint64_t hash, uint32_t id)
{
    uint32_t i = (uint32_t)hash & mask;
    while (index[i] != (hash << 32 | (id + 1)))
        i = (i + 1) & mask;
    for (uint32_t k = (i + 1) & mask; index[k] != 0; k = (k + 1) & mask) {
        const uint32_t home = (uint32_t)(index[k] >> 32) & mask;
        if (((k - home) & mask) >= ((k - i) & mask)) {
            index[i] = index[k];
            i = k;
        }
    }
    index[i] = 0;
}

/* A small index is in the first-level cache, so that a longer walk costs little; where flows are
 * few, each slot is much of what a flow takes. */
static bool crowded(uint32_t used, uint32_t mask)
{
    return mask < DENSE_SLOTS ? used * 4 > (mask + 1) * 3 : used * 2 > mask;
}

static void flow_index_grow(struct roce_flow_table *t)
{
    t->flow_mask = t->flow_mask * 2 + 1;
    memset(t->flow_index, 0, (size_t)(t->flow_mask / 2 + 1) * sizeof *t->flow_index);
    for (uint32_t id = 0; id < t->flow_pool.fresh; id++)
        if (t->flows[id].flags & F_LIVE)
            index_put(t->flow_index, t->flow_mask,
                      flow_hash(path_at(t, t->flows[id].path)->hash, t->flows[id].dqpn), id);
}

static void path_index_grow(struct roce_flow_table *t)
{
    t->path_mask = t->path_mask * 2 + 1;
    memset(t->path_index, 0, (size_t)(t->path_mask / 2 + 1) * sizeof *t->path_index);
    for (uint32_t id = 0; id < t->path_pool.fresh; id++)
        if (path_at(t, id)->flows > 0)
            index_put(t->path_index, t->path_mask, path_at(t, id)->hash, id);
}

uint32_t table_find_path(const struct roce_flow_table *t, const struct path *key, uint64_t *hash)
{
    const uint64_t h = key_hash(t, key);
    *hash = h;
    for (uint32_t i = (uint32_t)h & t->path_mask; t->path_index[i] != 0;
         i = (i + 1) & t->path_mask) {
        if (t->path_index[i] >> 32 != (h & UINT32_MAX))
            continue;
        const uint32_t id = (uint32_t)t->path_index[i] - 1;
        if (path_same(path_at(t, id), key))
            return id;
    }
    return NIL;
}

uint32_t table_find(const struct roce_flow_table *t, uint32_t path, uint32_t dqpn)
{
    const uint64_t h = flow_hash(path_at(t, path)->hash, dqpn);
    for (uint32_t i = (uint32_t)h & t->flow_mask; t->flow_index[i] != 0;
         i = (i + 1) & t->flow_mask) {
        if (t->flow_index[i] >> 32 != (h & UINT32_MAX))
            continue;
        const uint32_t id = (uint32_t)t->flow_index[i] - 1;
        if (t->flows[id].path == path && t->flows[id].dqpn == dqpn)
            return id;
    }
    return NIL;
}

uint32_t table_reverse_path(struct roce_flow_table *t, uint32_t path)
{
    struct path *p = path_at(t, path);
    if (p->reverse != NIL)
        return p->reverse;
    struct path key = *p;
    memcpy(key.src, p->dst, 16);
    memcpy(key.dst, p->src, 16);
    uint64_t hash;
    const uint32_t other = table_find_path(t, &key, &hash);
    if (other != NIL) {
        p->reverse = other;
        path_at(t, other)->reverse = path;
    }
    return other;
}

/* ---- order of use ---- */

static void lru_append(struct roce_flow_table *t, uint32_t id)
{
    t->lru_prev[id] = t->lru_tail;
    t->lru_next[id] = NIL;
    if (t->lru_tail != NIL)
        t->lru_next[t->lru_tail] = id;
    else
        t->lru_head = id;
    t->lru_tail = id;
}

static void lru_remove(struct roce_flow_table *t, uint32_t id)
{
    const uint32_t prev = t->lru_prev[id], next = t->lru_next[id];
    if (prev != NIL)
        t->lru_next[prev] = next;
    else
        t->lru_head = next;
    if (next != NIL)
        t->lru_prev[next] = prev;
    else
        t->lru_tail = prev;
}

/* A large table orders its flows only from the moment it is half full: until then nothing can be
 * evicted, and a list update for each packet costs more than the rest of the look-up. */
static void lru_start(struct roce_flow_table *t)
{
    t->lru_on = true;
    for (uint32_t id = 0; id < t->flow_pool.fresh; id++)
        if (t->flows[id].flags & F_LIVE)
            lru_append(t, id);
}

/* ---- creation and eviction ---- */

static void flow_release(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    pend_drop_all(t, f);
    obs_drop_all(t, f);
    hole_drop(t, &f->holes);
    hole_drop(t, &f->rr_holes);
    if (f->hist != NIL) {
        struct hist_pair *pair = pool_at(&t->hist_pool, f->hist);
        const uint32_t acks = pair->message.flag;
        if (acks != 0) {
            hist_head_drop(hist_of_acks(t, pair), &t->page_pool);
            pool_give(&t->hist_pool, acks - 1);
        }
        hist_head_drop(&pair->message, &t->page_pool);
        pool_give(&t->hist_pool, f->hist);
    }
    trouble_drop(t, f);
    count_drop(t, f);
}

void table_tell_end(struct roce_flow_table *t, uint32_t id)
{
    if (event_wanted(t, ROCE_EVENT_FLOW_EVICTED)) {
        const struct roce_event e = event_make(t, ROCE_EVENT_FLOW_EVICTED, id);
        event_emit(t, &e);
    }
}

void table_drop(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    if (f->peer != NIL)
        pair_break(t, id, false);
    flow_release(t, id);
    if (t->lru_on)
        lru_remove(t, id);
    index_delete(t->flow_index, t->flow_mask, flow_hash(path_at(t, f->path)->hash, f->dqpn), id);
    struct path *path = path_at(t, f->path);
    if (--path->flows == 0) {
        if (path->reverse != NIL)
            path_at(t, path->reverse)->reverse = NIL;
        index_delete(t->path_index, t->path_mask, path->hash, f->path);
        pool_give(&t->path_pool, f->path);
    }
    f->flags = 0;
    pool_give(&t->flow_pool, id);
}

static void flow_evict(struct roce_flow_table *t, uint32_t id)
{
    table_tell_end(t, id);
    table_drop(t, id);
    t->evicted++;
}

static uint32_t path_create(struct roce_flow_table *t, const struct roce_packet *pkt,
                            const struct path *key, uint64_t hash)
{
    if (crowded(t->path_pool.used + 1, t->path_mask) && t->path_mask + 1 < t->index_max)
        path_index_grow(t);
    const uint32_t id = pool_take(&t->path_pool);
    struct path *path = path_at(t, id);
    *path = *key;
    path->hash = hash;
    path->reverse = NIL;
    path->flows = 0;
    path->silent_max = 0;
    path->ip_version = pkt->ip.version;
    path->grh = (pkt->has & ROCE_HAS_GRH) != 0;
    path->direct = !key->encapsulated && is_v4(key->src) && is_v4(key->dst);
    memset(path->src_mac, 0, sizeof path->src_mac);
    memset(path->dst_mac, 0, sizeof path->dst_mac);
    if (pkt->has & ROCE_HAS_ETH) {
        memcpy(path->src_mac, pkt->eth.src, sizeof path->src_mac);
        memcpy(path->dst_mac, pkt->eth.dst, sizeof path->dst_mac);
    }
    index_put(t->path_index, t->path_mask, hash, id);
    return id;
}

static uint32_t flow_create(struct roce_flow_table *t, uint32_t path, uint32_t dqpn)
{
    if (crowded(t->flow_pool.used + 1, t->flow_mask) && t->flow_mask + 1 < t->index_max)
        flow_index_grow(t);
    const uint32_t id = pool_take(&t->flow_pool);
    struct flow *f = flow_at(t, id);
    *f = (struct flow){
        .path = path,
        .dqpn = dqpn,
        .flags = F_LIVE | F_CNP_ONLY,
        .peer = NIL,
        .trouble = NIL,
        .service = ROCE_SERVICE_UNKNOWN,
        .mtu_mask = 0x1F,
        .hist = NIL,
        .pend_head = NIL,
        .pend_tail = NIL,
        .holes = NIL,
        .rr_holes = NIL,
        .obs_head = NIL,
        .obs_tail = NIL,
        .wide = NIL,
        .cm = CM_NONE,
        .winner = NIL,
        .serial = t->created++,
    };
    path_at(t, path)->flows++;
    index_put(t->flow_index, t->flow_mask, flow_hash(path_at(t, path)->hash, dqpn), id);
    if (t->ext_pool.base != NULL)
        pool_reach(&t->ext_pool, id);
    return id;
}

/* ---- the flow of a packet ---- */

uint32_t table_hash_v4(const struct roce_flow_table *t, uint64_t addresses, uint32_t dqpn)
{
    return (uint32_t)flow_hash(v4_hash(t, addresses), dqpn);
}

uint32_t table_hash(const struct roce_flow_table *t, const struct roce_packet *pkt)
{
    if (pkt->n_tunnel == 0)
        return (uint32_t)flow_hash(path_hash(t, pkt->ip.src, pkt->ip.dst, 0), pkt->bth.dqpn);
    struct path key;
    table_path_key(pkt, &key);
    return (uint32_t)flow_hash(key_hash(t, &key), pkt->bth.dqpn);
}

bool table_is_on_path(const struct path *p, const struct roce_packet *pkt)
{
    struct path key;
    table_path_key(pkt, &key);
    return path_same(p, &key);
}

static bool is_flow_of(const struct roce_flow_table *t, uint32_t id, const struct roce_packet *pkt)
{
    const struct flow *f = flow_at(t, id);
    return f->dqpn == pkt->bth.dqpn && (f->flags & F_LIVE) != 0 &&
           table_is_on_path(path_at(t, f->path), pkt);
}

static uint32_t find(const struct roce_flow_table *t, uint32_t hash, const struct roce_packet *pkt)
{
    for (uint32_t i = hash & t->flow_mask; t->flow_index[i] != 0; i = (i + 1) & t->flow_mask) {
        const uint32_t id = (uint32_t)t->flow_index[i] - 1;
        if (t->flow_index[i] >> 32 == hash && is_flow_of(t, id, pkt))
            return id;
    }
    return NIL;
}

static uint32_t create(struct roce_flow_table *t, const struct roce_packet *pkt)
{
    struct path key;
    table_path_key(pkt, &key);
    if (t->opts.idle_ns != 0 && t->flow_pool.used > t->opts.idle_keep)
        age_step(t);
    if (t->flow_pool.used == t->capacity)
        flow_evict(t, t->lru_head);
    uint64_t hash;
    uint32_t path = table_find_path(t, &key, &hash);
    if (path == NIL)
        path = path_create(t, pkt, &key, hash);
    const uint32_t id = flow_create(t, path, pkt->bth.dqpn);
    if (t->lru_on)
        lru_append(t, id);
    else if (t->capacity <= LRU_EXACT || t->flow_pool.used > t->capacity / 2)
        lru_start(t);
    return id;
}

void table_seen(struct roce_flow_table *t, uint32_t id)
{
    if (t->lru_tail == id)
        return;
    lru_remove(t, id);
    lru_append(t, id);
}

uint32_t table_get(struct roce_flow_table *t, const struct roce_packet *pkt, uint32_t hash,
                   bool *created)
{
    const uint32_t id = find(t, hash, pkt);
    *created = id == NIL;
    if (id == NIL)
        return create(t, pkt);
    if (t->lru_on)
        table_seen(t, id);
    return id;
}

uint32_t roce_flow_find(const struct roce_flow_table *table, const uint8_t src[16],
                        const uint8_t dst[16], uint32_t dest_qp, bool encapsulated,
                        uint32_t tunnel_key)
{
    struct path key = {.encapsulated = encapsulated, .tunnel_key = tunnel_key};
    memcpy(key.src, src, 16);
    memcpy(key.dst, dst, 16);
    uint64_t hash;
    const uint32_t path = table_find_path(table, &key, &hash);
    return path == NIL ? NIL : table_find(table, path, dest_qp);
}

struct roce_flow_table *roce_flow_table_new(const struct roce_flow_opts *opts)
{
    struct roce_flow_table *t = space_large_new(sizeof *t);
    if (t == NULL)
        return NULL;
    if (opts != NULL)
        t->opts = *opts;
    t->capacity = t->opts.max_flows != 0 ? t->opts.max_flows : ROCE_FLOW_MAX_DEFAULT;
    if (t->capacity > UINT32_C(1) << 26)
        t->capacity = UINT32_C(1) << 26;
    t->told_answers = event_wanted(t, ROCE_EVENT_MESSAGE) || event_wanted(t, ROCE_EVENT_ACKED);
    t->opts.ext_bytes = (t->opts.ext_bytes + 7) / 8 * 8;
    t->index_max = INDEX_START;
    while (t->index_max < t->capacity * 2)
        t->index_max *= 2;
    t->flow_mask = t->path_mask = INDEX_START - 1;
    /* Where the table lies differs from run to run: enough to keep a sender of chosen addresses and
     * QPNs from filling one bucket, and no result depends on it. */
    t->seed = mix((uintptr_t)t, UINT64_C(0xD1B54A32D192ED03));
    t->lru_head = t->lru_tail = NIL;
    const uint32_t n = t->capacity;
    bool good = pool_new(&t->flow_pool, sizeof(struct flow), n) &&
                pool_new(&t->path_pool, sizeof(struct path), n) &&
                pool_new(&t->node_pool, sizeof(struct node), NODES_BASE + n) &&
                pool_new(&t->hole_pool, sizeof(struct hole), NODES_BASE + n) &&
                pool_new(&t->trouble_pool, sizeof(struct trouble), n) &&
                pool_new(&t->affair_pool, sizeof(struct affair), n) &&
                pool_new(&t->rare_pool, sizeof(struct rare), n) &&
                pool_new(&t->excess_pool, sizeof(struct excess), EXCESS_MAX * n) &&
                pool_new(&t->wide_pool, sizeof(struct wide), n) &&
                pool_new(&t->spill_pool, sizeof(struct spill), n) &&
                pool_new(&t->op_pool, sizeof(struct op_block), n) &&
                pool_new(&t->hist_pool, sizeof(struct hist_pair), t->opts.no_latency ? 1 : 2 * n) &&
                hist_pool_new(&t->page_pool, t->opts.no_latency ? 1 : NODES_BASE + n) &&
                pool_new(&t->port_pool, PORT_BITMAP_LEN, PORT_BITMAPS) &&
                pool_new(&t->cm_pool, sizeof(struct cm_entry), n < CM_MAX ? n : CM_MAX);
    if (good) {
        t->flows = pool_at(&t->flow_pool, 0);
        t->flow_index = space_new(t->index_max, sizeof *t->flow_index);
        t->path_index = space_new(t->index_max, sizeof *t->path_index);
        t->lru_prev = space_new(n, sizeof *t->lru_prev);
        t->lru_next = space_new(n, sizeof *t->lru_next);
        if (t->opts.ext_bytes > 0)
            good = pool_new(&t->ext_pool, t->opts.ext_bytes, n);
        good = good && t->flow_index != NULL && t->path_index != NULL && t->lru_prev != NULL &&
               t->lru_next != NULL;
    }
    if (!good) {
        roce_flow_table_del(t);
        return NULL;
    }
    memset(t->cm_index, 0xFF, sizeof t->cm_index);
    return t;
}

void roce_flow_table_del(struct roce_flow_table *table)
{
    if (table == NULL)
        return;
    struct pool *pools[] = {&table->flow_pool,  &table->path_pool,    &table->node_pool,
                            &table->hole_pool,  &table->trouble_pool, &table->wide_pool,
                            &table->op_pool,    &table->hist_pool,    &table->port_pool,
                            &table->cm_pool,    &table->affair_pool,  &table->rare_pool,
                            &table->spill_pool, &table->excess_pool,  &table->ext_pool};
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        pool_del(pools[i]);
    hist_pool_del(&table->page_pool);
    space_del(table->flow_index, table->index_max, sizeof *table->flow_index);
    space_del(table->path_index, table->index_max, sizeof *table->path_index);
    space_del(table->lru_prev, table->capacity, sizeof *table->lru_prev);
    space_del(table->lru_next, table->capacity, sizeof *table->lru_next);
    space_large_del(table, sizeof *table);
}
