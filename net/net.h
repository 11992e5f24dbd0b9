/* Front door of net/: what a link can do. So far only what the host says of its interfaces and its TCP
 * settings, for the record's head: the measurements come with a later part. */
#ifndef NET_NET_H
#define NET_NET_H

#include <jansson.h>

/* Interfaces that are up, loopback left out ({"name","mtu","speed_bits_per_s" or null}), and
 * "tcp_congestion_control", "tcp_rmem_max_bytes", "tcp_wmem_max_bytes". root is "" in the program.
 * New reference. */
json_t *net_host_read(const char *root);

#endif
