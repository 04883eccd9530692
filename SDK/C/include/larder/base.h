/* base.h: the rules and types that every other header builds on.
 *
 * These rules hold for every function and struct of the ABI:
 *
 *  I.   Sizes. A struct begins with `struct_size`: its size in bytes, as the side that wrote it knows it. A struct only
 *       ever grows at its end. A reader uses the smaller of `struct_size` and its own size of the struct, and treats
 *       every member beyond as zero. An array of structs comes with a stride: step by the stride, never by sizeof.
 *       Members named `reserved` are zero. If a function of the host fills a struct that the plugin passes, the plugin
 *       sets `struct_size` before each call. The host writes no further than that, and then sets `struct_size` to the
 *       number of bytes that it filled. LARDER_HAS tells whether a member was filled. Three small structs have no
 *       `struct_size`: larder_str and larder_bytes, which are passed by value and never grow, and larder_http_header,
 *       which occurs only in an array that has a stride.
 *
 *  II.  Names. A feature is a table of functions. One side asks the other for it by a name with a revision, such as
 *       "larder.kv/1". A table keeps its meaning for ever under the same name. A host may append functions to it;
 *       `struct_size` tells which functions are there.
 *
 *  III. Owners. The side that allocates memory frees it. The callee borrows an argument until the call returns. Memory
 *       that a function of the host hands out stays valid until the current call into the plugin returns, that is, the
 *       call in which the plugin asked for it. A text that the plugin hands out must stay unchanged until the next call
 *       into the same instance, or longer where the function's comment says so.
 *
 *  IV.  Strings. A string is UTF-8 with a length. It is not terminated, and it may contain NUL. A null pointer is an
 *       absent string. A length of 0 is an empty string.
 *
 *  V.   Errors. A function returns a status. A plugin that fails in a call gives the reason with the host's `fail`
 *       before it returns. No exception, longjmp or errno crosses the boundary. A function pointer is never null. A
 *       side that gets a status which its headers do not define treats it as LARDER_FAILED: later versions add
 *       statuses.
 *
 *  VI.  Threads. The host makes all calls into one instance one after another and waits for each: a call never runs
 *       inside another. The calls may come on different threads, so a plugin keeps nothing thread-local between calls.
 *       Instances of one library, such as those of two accounts, run in parallel: a library guards its own globals. A
 *       plugin calls the host only inside a call from the host, and only on the thread of that call. The host refuses
 *       any other call with LARDER_WRONG_THREAD, counts it, and names it in the log. The comment of each function ends
 *       with a tag that says when the function may be called, and with the minor version that introduced it:
 *
 *         [control]    one of entry, describe, create, start, stop, destroy and extension: the life of an instance
 *         [processor]  inside the functions of larder.item-policy-processor/1; a function that changes nothing, also
 *                      inside that of larder.explain/1
 *         [loop]       inside the functions of larder.event-loop/1
 *         [any]        inside any call from start to stop, both included
 *
 *  VII. Versions. The `abi_minor` of the module and that of the host tell which side has the later headers. If the
 *       older side gets something that its headers do not define, this applies:
 *
 *         a flag, a log level, a    The host does nothing and returns LARDER_UNSUPPORTED, and the plugin goes on
 *         sort order                without it. If the plugin's headers are not later than the host's, it is a mistake
 *                                   of the plugin's, and the status is LARDER_INVALID_ARGUMENT.
 *         a status                  It counts as a failure (rule V). If the plugin's headers are not later than the
 *                                   host's, it is also a mistake of the plugin's.
 *         a bit in a mask of        It has no effect: the bit in `present` stays clear, the trigger does not fire, the
 *         wanted fields, triggers   hint does not come.
 *         or hints
 *         a number from the host,   The plugin skips the item, run or error that the number is about.
 *         such as a trigger, a
 *         cloud status, a loop's
 *         error code
 *         a member, a function,     It is not there: rules I and II.
 *         a table
 *
 *       None of these counts as misbehaviour of a plugin with later headers. So a new plugin runs on an old host as
 *       long as it does not depend on what the host lacks.
 *
 * The comment of a function says, in this order: what the function does; when and how often it may be called, if the
 * tag does not say it all; the parameters that need more than their name and type; who owns memory, if rule III does
 * not say it all; what a repeated call does; the statuses that it returns. Every function of the host may also return
 * LARDER_WRONG_THREAD, LARDER_WRONG_STATE, LARDER_INVALID_ARGUMENT and LARDER_INTERNAL. A pointer may be null only if
 * its declaration has the mark LARDER_NULLABLE; a larder_str or larder_bytes may be absent only if its comment says so.
 *
 * The ABI is for 64-bit Linux. The headers need <stddef.h> and <stdint.h>, and compile as C99 and C++11.
 */
#ifndef LARDER_BASE_H
#define LARDER_BASE_H

#include <stddef.h>
#include <stdint.h>

/* The major version is part of the entry function's name. The minor version rises whenever the ABI gains something. */
#define LARDER_ABI_MAJOR 1
#define LARDER_ABI_MINOR 5

#if defined(__cplusplus)
#define LARDER_C_BEGIN extern "C" {
#define LARDER_C_END }
#else
#define LARDER_C_BEGIN
#define LARDER_C_END
#endif

/* A pointer is never null unless it has the mark LARDER_NULLABLE. Only clang, and Swift through clang, reads the
 * marks. */
#if defined(__clang__)
#define LARDER_NULLABLE _Nullable
#define LARDER_NONNULL _Nonnull
#define LARDER_BEGIN                                                                                                   \
    LARDER_C_BEGIN                                                                                                     \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                   \
        _Pragma("clang assume_nonnull begin")
#define LARDER_END                                                                                                     \
    _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")                                                \
    LARDER_C_END
#else
#define LARDER_NULLABLE
#define LARDER_NONNULL
#define LARDER_BEGIN LARDER_C_BEGIN
#define LARDER_END LARDER_C_END
#endif

/* Marks the definition of the one function that a plugin exports. */
#if defined(__GNUC__)
#define LARDER_EXPORT __attribute__((visibility("default")))
#else
#define LARDER_EXPORT
#endif

LARDER_BEGIN

/* The result of a call. 0 means that the function did its work. A negative status means that it did not, and that it
 * changed nothing. The list is closed: it only grows at its end. A plugin that returns a status outside of the list
 * makes a mistake, which counts like LARDER_FAILED; from a plugin with later headers it is just LARDER_FAILED. */
typedef int32_t larder_status;

#define LARDER_OK 0
/* The plugin could not do its work in this call. It gave the reason with `fail`. */
#define LARDER_FAILED (-1)
/* A null pointer, a text that is not UTF-8, a flag or number out of range, or a condition that does not parse. */
#define LARDER_INVALID_ARGUMENT (-2)
/* There is no such plugin, item, policy, key, record or project. */
#define LARDER_NOT_FOUND (-3)
/* The thing exists already. */
#define LARDER_ALREADY_EXISTS (-4)
/* The thing changed since it was read: read it again. */
#define LARDER_CONFLICT (-5)
/* The operator did not grant it, or it would break a promise of the host. */
#define LARDER_DENIED (-6)
/* This host, or the server, does not offer it. */
#define LARDER_UNSUPPORTED (-7)
/* Too long, too large or too many. */
#define LARDER_LIMIT (-8)
/* The host is about to stop, or the call's time is up. */
#define LARDER_CANCELLED (-9)
/* Reading or writing failed. */
#define LARDER_IO (-10)
/* The plugin called the host from another thread than that of the current call, or outside of any call. */
#define LARDER_WRONG_THREAD (-11)
/* The function is not allowed in the current call: its tag or comment says when it is. */
#define LARDER_WRONG_STATE (-12)
/* The callee made a mistake of its own. */
#define LARDER_INTERNAL (-13)
/* The last status of this version. */
#define LARDER_STATUS_LAST (-13)

/* A borrowed text: rules III and IV. It is passed by value and never grows. A feature that needs more gets a struct of
 * its own. */
typedef struct larder_str {
    const char *LARDER_NULLABLE ptr; /* null: the text is absent */
    uint64_t len;                    /* in bytes */
} larder_str;

/* Borrowed bytes. Like larder_str, it never grows. */
typedef struct larder_bytes {
    const uint8_t *LARDER_NULLABLE ptr; /* null: the bytes are absent */
    uint64_t len;
} larder_bytes;

/* Makes a larder_str of a pointer and a length in bytes. It copies nothing. */
static inline larder_str larder_str_make(const char *LARDER_NULLABLE ptr, uint64_t len) {
    larder_str made;
    made.ptr = ptr;
    made.len = len;
    return made;
}

/* Makes a larder_str of a literal: LARDER_STR("larder.log/1"). */
#define LARDER_STR(literal) larder_str_make("" literal, sizeof(literal) - 1)

/* Tells whether a received struct has a member: LARDER_HAS(item, larder_item, shares). */
#define LARDER_HAS(pointer, type, member)                                                                              \
    ((pointer)->struct_size >= offsetof(type, member) + sizeof((pointer)->member))

LARDER_END

#endif
