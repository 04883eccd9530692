/* Settings of malloc(3) that Swift's Glibc module hides, and files in memory. */
#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Calls mallopt(3) with M_ARENA_MAX. */
int linux_limit_arenas(int count);

/* Calls mallopt(3) with M_MMAP_THRESHOLD. The call fixes the threshold. Without the call, malloc raises the threshold
 * each time a large block is freed, and keeps larger blocks. */
int linux_map_blocks_from(int bytes);

/* Calls mallopt(3) with M_TRIM_THRESHOLD: the free bytes at the end of the memory from which on they go back to the
 * system at once. */
int linux_keep_free(int bytes);

/* Calls malloc_trim(3): gives the system back the pages in which nothing is used. Takes some milliseconds. */
void linux_give_back_memory(void);

/* Calls prctl(2) with PR_SET_DUMPABLE and 0: the process leaves no core, and only root reads its memory. */
int linux_forbid_dumps(void);

/* Returns the size in bytes of the process's memory that may be written and is no other's (proc(5), statm), used or not;
 * 0 if the system does not tell. Costs some microseconds, however much memory there is. mallinfo2(3) walks over all that
 * is free. */
int64_t linux_data_memory(void);

/* Returns the number of bytes that malloc(3) has given out and not got back (mallinfo2(3)). */
int64_t linux_allocated_memory(void);

/* Copies a file from its begin into a file in memory that nothing can change any more (memfd_create(2)), whose code may
 * be run. Returns its descriptor, or -1 with errno. */
int linux_sealed_copy(int file, const char *name);

/* Gives back the pages of those segments of the program and its libraries which their files say cannot be written, and which
 * lie in one of the ranges. The ranges are pairs of a begin and an end.
 *
 * An object that is being opened on another thread may be among them. The loader writes to no such segment, except those of
 * an object with text relocations, which is left out. No object is closed meanwhile (dl_iterate_phdr(3), madvise(2)). */
void linux_give_back_segments(const uintptr_t *ranges, size_t count);

#endif
