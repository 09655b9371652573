/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table of connections: by our communication id directly, by the peer's identity through a hash. */
#include "engine/cm_conn.h"

static uint32_t index_of(const struct eng_cm_conn *c)
{
    return (uint32_t)(c - c->cm->conns);
}

static struct eng_cm_conn *at(const struct eng_cm *cm, uint32_t index)
{
    return index == CM_NONE ? NULL : &cm->conns[index];
}

/* Keyed, so that nobody outside can aim at one chain. */
static uint32_t *head_of(struct eng_cm *cm, enum cm_key key, uint64_t guid, uint32_t value)
{
    struct eng_rng mix = {.state = cm->secret ^ guid};
    mix.state = eng_rng_next(&mix) ^ value;
    return &cm->heads[key][eng_rng_next(&mix) & ((UINT32_C(1) << cm->id_bits) - 1)];
}

static uint32_t value_of(const struct eng_cm_conn *c, enum cm_key key)
{
    return key == CM_BY_ID ? c->remote_id : c->remote_qpn;
}

void cm_table_init(struct eng_cm *cm)
{
    const uint32_t n = cm->cfg.max_conns;
    for (uint32_t i = 0; i < n; i++) {
        struct eng_cm_conn *c = &cm->conns[i];
        c->cm = cm;
        c->local_id = i ^ cm->id_mask; /* generation 0 */
        c->list = CM_LISTS;
        c->heap_slot = CM_NONE;
        c->next[0] = i + 1 < n ? i + 1 : CM_NONE;
    }
    for (int key = 0; key < CM_KEYS; key++)
        for (uint32_t i = 0; i < UINT32_C(1) << cm->id_bits; i++)
            cm->heads[key][i] = CM_NONE;
    for (int list = 0; list < CM_LISTS; list++)
        cm->ends[list] = (struct cm_links){.prev = CM_NONE, .next = CM_NONE};
}

/* A communication id is the place in the table with a generation above it, so that a late message
 * does not meet the connection's successor. 0 means "none" in a REJ. */
static uint32_t next_id(const struct eng_cm *cm, uint32_t id)
{
    do
        id = ((id ^ cm->id_mask) + (UINT32_C(1) << cm->id_bits)) ^ cm->id_mask;
    while (id == 0);
    return id;
}

static void keys_clear(struct eng_cm_conn *c)
{
    for (int key = 0; key < CM_KEYS; key++) {
        if (!c->keyed[key])
            continue;
        uint32_t *p =
            head_of(c->cm, (enum cm_key)key, c->remote_guid, value_of(c, (enum cm_key)key));
        while (*p != index_of(c))
            p = &c->cm->conns[*p].next[key];
        *p = c->next[key];
        c->keyed[key] = false;
    }
}

void cm_conn_free(struct eng_cm_conn *c)
{
    struct eng_cm *cm = c->cm;
    cm_timer_set(c, ENG_NEVER);
    cm_list_set(c, CM_LISTS);
    cm_pending_set(c, false);
    keys_clear(c);
    c->state = CM_FREE;
    c->next[0] = cm->free_head;
    cm->free_head = index_of(c);
}

struct eng_cm_conn *cm_conn_take(struct eng_cm *cm)
{
    if (cm->free_head == CM_NONE) {
        struct eng_cm_conn *spent = at(cm, cm->ends[CM_SPENT].next);
        if (spent == NULL)
            return NULL;
        cm_conn_free(spent); /* what waited longest in TIMEWAIT */
    }
    struct eng_cm_conn *c = &cm->conns[cm->free_head];
    cm->free_head = c->next[0];
    const uint32_t id = next_id(cm, c->local_id);
    *c = (struct eng_cm_conn){.cm = cm, .local_id = id, .list = CM_LISTS, .heap_slot = CM_NONE};
    return c;
}

void cm_key_set(struct eng_cm_conn *c, enum cm_key key)
{
    uint32_t *head = head_of(c->cm, key, c->remote_guid, value_of(c, key));
    c->next[key] = *head;
    *head = index_of(c);
    c->keyed[key] = true;
}

struct eng_cm_conn *cm_find_local(struct eng_cm *cm, uint32_t local_id)
{
    const uint32_t index = (local_id ^ cm->id_mask) & ((UINT32_C(1) << cm->id_bits) - 1);
    if (index >= cm->cfg.max_conns)
        return NULL;
    struct eng_cm_conn *c = &cm->conns[index];
    return c->state != CM_FREE && c->local_id == local_id ? c : NULL;
}

struct eng_cm_conn *cm_find_remote(struct eng_cm *cm, enum cm_key key, uint64_t guid,
                                   uint32_t value)
{
    struct eng_cm_conn *c = at(cm, *head_of(cm, key, guid, value));
    while (c != NULL && (c->remote_guid != guid || value_of(c, key) != value))
        c = at(cm, c->next[key]);
    return c;
}

static struct cm_links *links_of(struct eng_cm *cm, enum cm_list list, uint32_t index)
{
    return index == CM_NONE ? &cm->ends[list] : &cm->conns[index].links;
}

void cm_list_set(struct eng_cm_conn *c, uint8_t list)
{
    struct eng_cm *cm = c->cm;
    if (c->list != CM_LISTS) {
        links_of(cm, (enum cm_list)c->list, c->links.prev)->next = c->links.next;
        links_of(cm, (enum cm_list)c->list, c->links.next)->prev = c->links.prev;
    }
    c->list = list;
    if (list == CM_LISTS)
        return;
    struct cm_links *ends = &cm->ends[list];
    c->links = (struct cm_links){.prev = ends->prev, .next = CM_NONE};
    links_of(cm, (enum cm_list)list, ends->prev)->next = index_of(c);
    ends->prev = index_of(c);
}

struct eng_cm_conn *cm_list_next(struct eng_cm *cm, enum cm_list list, const struct eng_cm_conn *c)
{
    return at(cm, c == NULL ? cm->ends[list].next : c->links.next);
}

void cm_pending_set(struct eng_cm_conn *c, bool pending)
{
    if (pending && !c->pending)
        c->cm->n_pending++;
    if (!pending && c->pending)
        c->cm->n_pending--;
    c->pending = pending;
}
