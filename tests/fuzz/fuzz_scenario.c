/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenario files may hold anything. */
#include <stddef.h>
#include <stdint.h>

#include "rocesim/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario scenario;
    char error[SCENARIO_ERROR_MAX];
    scenario_read(&scenario, (const char *)data, size, NULL, 0, error);
    scenario_free(&scenario);
    return 0;
}
