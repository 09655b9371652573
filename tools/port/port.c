/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports of any kind. */
#include "port/port.h"

void port_del(struct port *port)
{
    if (port != NULL)
        port->ops->del(port);
}
