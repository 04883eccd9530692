// Counts what a program does beside its network: a library for LD_PRELOAD. At the program's end it writes one line for
// each count into the file that COUNTS_FILE names: the number, a tab, and what was counted.
//
// Counted are allocations, retains and releases of Swift's runtime, the system calls that write to files, and the
// executions of SQL statements, by text.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct sqlite3_stmt;

static _Atomic uint64_t allocations, retains, releases, writes;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count(_Atomic uint64_t *counter) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    count(&allocations);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(&allocations);
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count(&allocations);
    return __libc_realloc(old, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    count(&allocations);
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(&allocations);
    return __libc_memalign(alignment, size);
}

/// The next definition of a function, looked up once.
#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void *swift_retain(void *object) {
    NEXT(swift_retain);
    count(&retains);
    return next(object);
}

void swift_release(void *object) {
    NEXT(swift_release);
    count(&releases);
    next(object);
}

void *swift_bridgeObjectRetain(void *object) {
    NEXT(swift_bridgeObjectRetain);
    count(&retains);
    return next(object);
}

void swift_bridgeObjectRelease(void *object) {
    NEXT(swift_bridgeObjectRelease);
    count(&releases);
    next(object);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    NEXT(pwrite);
    count(&writes);
    return next(file, bytes, length, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off_t offset) {
    NEXT(pwrite64);
    count(&writes);
    return next(file, bytes, length, offset);
}

ssize_t write(int file, const void *bytes, size_t length) {
    NEXT(write);
    count(&writes);
    return next(file, bytes, length);
}

// Statements by the beginning and the end of their text. There are some hundred.
enum { MOST = 4096, PART = 58 };
static struct {
    char text[2 * PART + 8];
    uint64_t number;
} statements[MOST];
static size_t known;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

const char *sqlite3_sql(struct sqlite3_stmt *);
int sqlite3_stmt_busy(struct sqlite3_stmt *);

int sqlite3_step(struct sqlite3_stmt *statement) {
    NEXT(sqlite3_step);
    // A statement that is busy was counted at its first step.
    const char *sql = sqlite3_stmt_busy(statement) ? NULL : sqlite3_sql(statement);
    if (sql) {
        char text[sizeof statements[0].text];
        size_t length = strlen(sql);
        if (length <= 2 * PART) snprintf(text, sizeof text, "%s", sql);
        else snprintf(text, sizeof text, "%.*s ... %s", PART, sql, sql + length - PART);
        pthread_mutex_lock(&guard);
        size_t at = 0;
        while (at < known && strcmp(statements[at].text, text)) at++;
        if (at == known && known < MOST) strcpy(statements[known++].text, text);
        if (at < MOST) statements[at].number++;
        pthread_mutex_unlock(&guard);
    }
    return next(statement);
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("COUNTS_FILE");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out) return;
    uint64_t seen[] = {allocations, retains, releases, writes};
    const char *names[] = {"allocations", "retains", "releases", "writes to files and sockets"};
    for (int i = 0; i < 4; i++) fprintf(out, "%llu\t%s\n", (unsigned long long)seen[i], names[i]);
    for (size_t i = 0; i < known; i++) {
        for (char *c = statements[i].text; *c; c++)
            if (*c == '\n' || *c == '\t') *c = ' ';
        fprintf(out, "%llu\tSQL %s\n", (unsigned long long)statements[i].number, statements[i].text);
    }
    fclose(out);
}

/// Larder ends without running destructors.
__attribute__((noreturn)) void _exit(int code) {
    NEXT(_exit);
    report();
    next(code);
    __builtin_unreachable();
}
