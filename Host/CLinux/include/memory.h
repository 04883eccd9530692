/* Settings of malloc(3) that Swift's Glibc module hides, and files in memory. */
#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

#include <stdint.h>

/* Calls mallopt(3) with M_ARENA_MAX. */
int linux_limit_arenas(int count);

/* Calls mallopt(3) with M_MMAP_THRESHOLD. The call fixes the threshold. Without the call, malloc raises the threshold
 * each time a large block is freed, and keeps larger blocks. */
int linux_map_blocks_from(int bytes);

/* Calls prctl(2) with PR_SET_DUMPABLE and 0: the process leaves no core, and only root reads its memory. */
int linux_forbid_dumps(void);

/* Returns the bytes that malloc(3) has given to the process (mallinfo2). */
int64_t linux_used_memory(void);

/* Copies a file from its begin into a file in memory that nothing can change any more (memfd_create(2)), whose code may
 * be run. Returns its descriptor, or -1 with errno. */
int linux_sealed_copy(int file, const char *name);

#endif
