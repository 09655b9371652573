/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kind of frame comes next cannot be foretold, and a branch on it is taken wrongly half of the
 * time, at the price of 50 instructions. */
#ifndef FLOW_CHOOSE_H
#define FLOW_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* |yes| or |no|, without a branch. */
static inline uint64_t choose(bool which, uint64_t yes, uint64_t no)
{
    uint64_t mask = -(uint64_t)which;
#if defined(__GNUC__)
    __asm__("" : "+r"(mask)); /* a compiler that knew what it is would branch */
#endif
    return no ^ ((yes ^ no) & mask);
}

#endif
