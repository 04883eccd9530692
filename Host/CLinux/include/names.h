/* The name server, which Swift's Glibc module hides. One function each, without logic. */
#ifndef CLINUX_NAMES_H
#define CLINUX_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* res_nquery(3) in class IN with a state of its own, so that any thread may call it; it asks each name server once and waits `seconds`
 * for it. Returns the length of the answer, of which no more than `size` bytes are there, or -1. */
int linux_query_name(const char *name, int type, int seconds, uint8_t *answer, size_t size);

#endif
