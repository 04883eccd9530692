#include "memory.h"

#include <malloc.h>

int linux_limit_arenas(int count) { return mallopt(M_ARENA_MAX, count); }

int linux_map_blocks_from(int bytes) { return mallopt(M_MMAP_THRESHOLD, bytes); }
