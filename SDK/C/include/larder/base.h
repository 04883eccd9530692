/* base.h: what every other header stands on.
 *
 * The rules, which hold for every function and struct of the ABI:
 *
 *  I.   Sizes. A struct begins with `struct_size`, its size in bytes as its writer knows it, and only ever grows at
 *       its end. A reader takes the smaller of that size and its own, and treats what lies beyond as zero. An array of
 *       structs carries its stride: step by it, never by sizeof. Members named `reserved` are zero. A struct of the
 *       plugin's that a host's function fills has its `struct_size` set by the plugin before each call: the host writes no
 *       further, and sets it to how much it has filled. LARDER_HAS tells whether a member was. Three small structs have no
 *       `struct_size`: larder_str and larder_bytes, which are passed by value and never grow, and larder_http_header, which
 *       lies in an array with a stride alone.
 *
 *  II.  Names. A feature is a table of functions that is asked for by a name with a revision, "larder.kv/1". A table
 *       with the same name keeps its meaning for ever; a host may append functions to it, and `struct_size` tells.
 *
 *  III. Owners. Whoever allocates, frees. What is passed into a call is borrowed until that call returns; what a
 *       host's function hands out is borrowed until the call into the plugin, in which it was asked for, returns. A
 *       text that the plugin hands out stays as it is until the next call into the same instance, or longer where the
 *       card says so.
 *
 *  IV.  Strings. UTF-8 with a length, not terminated, and possibly with a NUL inside. A null pointer is an absent
 *       string, a length of 0 an empty one.
 *
 *  V.   Errors. A function returns a status. Who fails inside a call says why with the host's `fail` before it
 *       returns. No exception, longjmp or errno crosses. A function pointer is never null. Whoever gets a status that its
 *       headers do not have takes it for LARDER_FAILED: later versions add some.
 *
 *  VI.  Threads. The host makes all calls into one instance one after another, never one inside another, and
 *       synchronously. They may come on different threads, so keep nothing thread-local between calls. Instances of one
 *       library, such as those of two accounts, run side by side: a library guards its globals by itself. A plugin may
 *       call the host only inside a call that it got, and on that call's thread; anything else is refused, counted,
 *       and named in the log. Each card ends with a tag that says when its function may be called, and with the minor
 *       version that brought it:
 *
 *         [control]    entry, describe, create, start, stop, destroy, extension: the life of an instance
 *         [processor]  inside the functions of larder.item-policy-processor/1
 *         [loop]       inside the functions of larder.event-loop/1
 *         [any]        inside any call from start to stop, both included
 *
 *  VII. Versions. `abi_minor` of the module and of the host tells whose headers are the later ones. What the older side's
 *       headers do not have means there:
 *
 *         a flag, a log level, an   The host does nothing and returns LARDER_UNSUPPORTED: the plugin goes on without it. From
 *         order to sort by          a plugin whose headers are not later than the host's it is a mistake, and
 *                                   LARDER_INVALID_ARGUMENT.
 *         a status                  A failure (rule V). From a plugin whose headers are not later it is a mistake too.
 *         a bit of a mask of what   Nothing comes of it: the bit in `present` stays clear, the trigger does not fire, the
 *         is wanted (fields,        hint does not come.
 *         triggers, hints)
 *         a number from the host    The plugin passes over what it is about: a trigger, a cloud status, a loop's error code.
 *         a member, a function,     Not there: rules I and II.
 *         a table
 *
 *       None of it counts as misbehaviour of a plugin whose headers are the later ones. So a new plugin runs on an old host
 *       as long as it can do without.
 *
 * Cards read: what the function does; when and how often it may be called where the tag does not say it all; who owns
 * what where rule III does not say it all; what a repeated call does; the statuses that it returns besides those that
 * every function of the host may return (LARDER_WRONG_THREAD, LARDER_WRONG_STATE, LARDER_INVALID_ARGUMENT,
 * LARDER_INTERNAL).
 *
 * The ABI is for 64-bit Linux. Headers need <stddef.h> and <stdint.h> and compile as C99 and C++11.
 */
#ifndef LARDER_BASE_H
#define LARDER_BASE_H

#include <stddef.h>
#include <stdint.h>

/* The major version is in the entry function's name; the minor version rises when something is appended. */
#define LARDER_ABI_MAJOR 1
#define LARDER_ABI_MINOR 0

#if defined(__cplusplus)
#define LARDER_C_BEGIN extern "C" {
#define LARDER_C_END }
#else
#define LARDER_C_BEGIN
#define LARDER_C_END
#endif

/* Pointers are never null unless they are marked. Only clang, and through it Swift, reads the marks. */
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

/* Before the definition of the one function that a plugin exports. */
#if defined(__GNUC__)
#define LARDER_EXPORT __attribute__((visibility("default")))
#else
#define LARDER_EXPORT
#endif

LARDER_BEGIN

/* 0: done. Negative: not done, and nothing was changed. The list is closed and only grows at its end: a status that
 * is not in it is a plugin's mistake, counted like LARDER_FAILED; of a plugin with later headers it is LARDER_FAILED. */
typedef int32_t larder_status;

#define LARDER_OK 0
/* The plugin could not do what it was called for; `fail` said why. */
#define LARDER_FAILED (-1)
/* A null pointer, text that is not UTF-8, a flag or number out of range, a condition that does not parse. */
#define LARDER_INVALID_ARGUMENT (-2)
/* No such plugin, item, policy or key. */
#define LARDER_NOT_FOUND (-3)
/* It is there already. */
#define LARDER_ALREADY_EXISTS (-4)
/* It changed since it was read: read it again. */
#define LARDER_CONFLICT (-5)
/* The operator did not grant it, or it would break a promise of the host. */
#define LARDER_DENIED (-6)
/* Not offered here. */
#define LARDER_UNSUPPORTED (-7)
/* Too long, too large, too many. */
#define LARDER_LIMIT (-8)
/* The host is about to stop, or the call's time is up. */
#define LARDER_CANCELLED (-9)
/* Reading or writing failed. */
#define LARDER_IO (-10)
/* Called from another thread than the call under way, or outside any call. */
#define LARDER_WRONG_THREAD (-11)
/* Not allowed in the call under way: its tag or card says when it is. */
#define LARDER_WRONG_STATE (-12)
/* A mistake of the callee's own. */
#define LARDER_INTERNAL (-13)
/* The last one of this version. */
#define LARDER_STATUS_LAST (-13)

/* Borrowed text: rules III and IV. Passed by value, so it never grows: what needs more gets a struct of its own. */
typedef struct larder_str {
    const char *LARDER_NULLABLE ptr;
    uint64_t len; /* in bytes */
} larder_str;

/* Borrowed bytes. Like larder_str, it never grows. */
typedef struct larder_bytes {
    const uint8_t *LARDER_NULLABLE ptr;
    uint64_t len;
} larder_bytes;

static inline larder_str larder_str_make(const char *LARDER_NULLABLE ptr, uint64_t len) {
    larder_str made;
    made.ptr = ptr;
    made.len = len;
    return made;
}

/* A literal as a string: LARDER_STR("larder.log/1"). */
#define LARDER_STR(literal) larder_str_make("" literal, sizeof(literal) - 1)

/* Whether a struct that was received has a member: LARDER_HAS(item, larder_item, shares). */
#define LARDER_HAS(pointer, type, member)                                                                              \
    ((pointer)->struct_size >= offsetof(type, member) + sizeof((pointer)->member))

LARDER_END

#endif
