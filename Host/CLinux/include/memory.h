/* malloc(3)'s settings, which Swift's Glibc module hides. One function each, without logic. */
#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

/* mallopt(3) M_ARENA_MAX. */
int linux_limit_arenas(int count);

/* mallopt(3) M_MMAP_THRESHOLD: fixed; without it, each large block that is freed makes malloc keep larger ones. */
int linux_map_blocks_from(int bytes);

#endif
