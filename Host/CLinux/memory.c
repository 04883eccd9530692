#include "memory.h"

#include <malloc.h>
#include <sys/prctl.h>

int linux_limit_arenas(int count) { return mallopt(M_ARENA_MAX, count); }

int linux_map_blocks_from(int bytes) { return mallopt(M_MMAP_THRESHOLD, bytes); }

int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0); }
