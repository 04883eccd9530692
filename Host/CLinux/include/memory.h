/* Settings of malloc(3) that Swift's Glibc module hides. Each function makes one call and has no logic. */
#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

/* Calls mallopt(3) with M_ARENA_MAX. */
int linux_limit_arenas(int count);

/* Calls mallopt(3) with M_MMAP_THRESHOLD. The call fixes the threshold. Without the call, malloc raises the threshold
 * each time a large block is freed, and keeps larger blocks. */
int linux_map_blocks_from(int bytes);

/* Calls prctl(2) with PR_SET_DUMPABLE and 0: the process leaves no core, and only root reads its memory. */
int linux_forbid_dumps(void);

#endif
