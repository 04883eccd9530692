/* Queries to the name server, which Swift's Glibc module hides. */
#ifndef CLINUX_NAMES_H
#define CLINUX_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Calls res_nquery(3) in class IN with a state of its own, so that any thread may call this function. The query goes to
 * each name server once and waits `seconds` for its answer. Returns the length of the answer, or -1. The buffer holds
 * no more than `size` bytes of the answer. */
int linux_query_name(const char *name, int type, int seconds, uint8_t *answer, size_t size);

#endif
