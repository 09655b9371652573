/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers all listeners. */
#include "rocev2.h"

void tap_register(void)
{
}
