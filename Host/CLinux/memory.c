#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

int linux_limit_arenas(int count) { return mallopt(M_ARENA_MAX, count); }

int linux_map_blocks_from(int bytes) { return mallopt(M_MMAP_THRESHOLD, bytes); }

int linux_keep_free(int bytes) { return mallopt(M_TRIM_THRESHOLD, bytes); }

void linux_give_back_memory(void) { malloc_trim(0); }

int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0); }

int64_t linux_data_memory(void) {
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[128];
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = 0;
    long long pages = 0;
    return sscanf(text, "%*s %*s %*s %*s %*s %lld", &pages) == 1 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

static int copy_all(int from, int to) {
    off_t at = 0;
    for (;;) {
        ssize_t count = sendfile(to, from, &at, 1 << 20);
        if (count == 0) return 0;
        if (count < 0 && errno != EINTR) return -1;
    }
}

int linux_sealed_copy(int file, const char *name) {
    int copy = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    /* Before Linux 6.3 there is no such flag, and each of these files may be mapped as code. */
    if (copy < 0 && errno == EINVAL) copy = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0) return -1;
    if (copy_all(file, copy) == 0
        && fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
        return copy;
    int code = errno;
    close(copy);
    errno = code;
    return -1;
}

int64_t linux_allocated_memory(void) {
    const struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}

struct ranges {
    const uintptr_t *ends;
    size_t count;
};

/* Tells whether the loader writes to segments of an object that its file says cannot be written. */
static int has_text_relocations(const struct dl_phdr_info *object) {
    for (int number = 0; number < object->dlpi_phnum; number++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[number];
        if (segment->p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + segment->p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return 1;
            if (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL) return 1;
        }
    }
    return 0;
}

static int give_back(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    const struct ranges *ranges = data;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (has_text_relocations(object)) return 0;
    for (int number = 0; number < object->dlpi_phnum; number++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[number];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        const uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        const uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz + page - 1) & ~(page - 1);
        for (size_t i = 0; i < ranges->count; i++) {
            if (ranges->ends[2 * i] > start || ranges->ends[2 * i + 1] < end) continue;
            /* Nothing but memory depends on the outcome. */
            madvise((void *)start, end - start, MADV_DONTNEED);
            break;
        }
    }
    return 0;
}

void linux_give_back_segments(const uintptr_t *ranges, size_t count) {
    struct ranges all = {ranges, count};
    dl_iterate_phdr(give_back, &all);
}
