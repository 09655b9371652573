/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doubly linked rings: objects of a device, so that it can free them all. */
#ifndef ENGINE_LIST_H
#define ENGINE_LIST_H

struct node {
    struct node *prev, *next;
};

static inline void list_init(struct node *head)
{
    head->prev = head->next = head;
}

static inline void list_add(struct node *head, struct node *n)
{
    n->prev = head->prev;
    n->next = head;
    head->prev->next = n;
    head->prev = n;
}

static inline void list_remove(struct node *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
}

#endif
