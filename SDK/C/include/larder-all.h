/* larder-all.h: all headers of the plugin interface in one file, made of them by SDK/C/all-in-one. */
/* larder.h: the whole ABI between Larder and its plugins.
 *
 * A plugin is a shared library with one exported function. The host asks the library which plugins it holds, and
 * creates an instance of a plugin for each account. From then on the two sides talk through tables of functions, which
 * each side asks the other for by name:
 *
 *   base.h          strings, statuses, and the rules that hold everywhere
 *   module.h        the entry function, the contents of a library, an instance's life
 *   host.h          the host, as a plugin sees it
 *   item.h          an item, as a plugin sees it
 *   policy.h        an item policy, as a plugin sees it
 *   trigger.h       the events that start processors
 *
 * A plugin offers:
 *
 *   ext/processor.h        processing of items                                    larder.item-policy-processor/1
 *   ext/event-loop.h       polling of a server for news                           larder.event-loop/1
 *   ext/config-schema.h    a schema of its settings                               larder.config-schema/1
 *   ext/explain.h          what it says of an item to people                      larder.explain/1
 *
 * The host offers:
 *
 *   ext/log.h              lines in the host's log                                larder.log/1
 *   ext/config.h           the plugin's settings                                  larder.config/1
 *   ext/clock.h            the time                                               larder.clock/1
 *   ext/items.h            all items that meet a condition                        larder.items/1
 *   ext/actions.h          downloads, and removals of local copies                larder.actions/1
 *   ext/policies.h         the policies of the plugin's own kind                  larder.policies/1
 *   ext/kv.h               a small store of the plugin's own                      larder.kv/1
 *   ext/usage.h            the room that local copies take, and the room left     larder.usage/1
 *   ext/records.h          the records that event loops keep                      larder.records/1
 *   ext/projects.h         state with steps, undo and redo                        larder.projects/1
 *   ext/http.h             requests to the account's server                       larder.http/1
 *   ext/dav.h              PROPFIND and REPORT requests                           larder.dav/1
 *   ext/discover.h         the addresses of the account's calendars and files     larder.discover/1
 *   ext/cancel.h           whether the current call should end                    larder.cancel/1
 *
 * Three more headers are optional. layout.h asserts every size and offset: include it to check that your compiler lays
 * the structs out as the host's did. single.h puts a library with one plugin together. helper.h reads settings by their
 * names, and has no-ops for a processor's table.
 */
#ifndef LARDER_H
#define LARDER_H

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
#define LARDER_ABI_MINOR 4

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
/* host.h: the host, as a plugin sees it.
 *
 * The host creates each instance with a larder_host of its own: one for each plugin and account. Through it the plugin
 * asks for services, each of which is a table of functions with a name and a revision, and says why a call failed.
 *
 * Advice to plugins: ask for all services in `start` and keep the pointers. Return LARDER_UNSUPPORTED from `start` if
 * you cannot work without a service that is missing. Name that service in the descriptor's `required` as well, so that
 * the operator learns of it before anything runs.
 *
 * Advice to hosts: hand out null for a service that the operator withholds, not a table of functions that refuse.
 *
 * Example:
 *
 *     static larder_status find_clock(const larder_host *host, const larder_clock **out) {
 *         *out = (const larder_clock *)host->extension(host, LARDER_STR(LARDER_EXT_CLOCK));
 *         if (*out) return LARDER_OK;
 *         host->fail(host, LARDER_UNSUPPORTED, LARDER_STR("the clock is withheld"));
 *         return LARDER_UNSUPPORTED;
 *     }
 */
#ifndef LARDER_HOST_H
#define LARDER_HOST_H


LARDER_BEGIN

typedef struct larder_host larder_host;

struct larder_host {
    uint32_t struct_size;
    /* LARDER_ABI_MINOR of the host. */
    uint32_t abi_minor;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Returns the table of a service, or null if the host has no service of this exact name or the operator withholds
     * it. `name` is the service's name, for example "larder.log/1". Returns the same pointer each time. The table stays
     * unchanged until `destroy` returns.
     * [any] since 1.0 */
    const void *LARDER_NULLABLE (*LARDER_NONNULL extension)(const larder_host *host, larder_str name);

    /* Says why the current call is about to fail. `status` is the status that the call will return. `message` is a
     * sentence for people, such as "the archive at /srv/a is not mounted"; the host copies it. If a call says it
     * several times, the last one counts. If the call then succeeds, the host forgets it. May be called inside create
     * too.
     * [any] since 1.0 */
    void (*fail)(const larder_host *host, larder_status status, larder_str message);
};

LARDER_END

#endif
/* item.h: a file or folder of the account, as a plugin sees it.
 *
 * An item has the fields that `larder ls --json` prints, in the same order. A plugin names the fields that it reads as
 * a mask, and the host fills only these: reading three columns of a row costs a third of reading fourteen. A set bit in
 * `present` means that the plugin asked for the field and the item has a value for it. Without the bit, the member is
 * zero and means nothing. So an absent value (a file whose size the server did not tell) differs from an empty one
 * (size 0).
 *
 * A plugin borrows an item. The item and everything that it points to are gone when the call returns. An item of a
 * cursor is gone when the plugin asks the cursor for the next one. Copy what you keep.
 *
 * Example:
 *
 *     static int is_large_file(const larder_item *item) {
 *         const uint64_t needed = LARDER_FIELD_BIT(LARDER_FIELD_TYPE) | LARDER_FIELD_BIT(LARDER_FIELD_SIZE);
 *         if ((item->present & needed) != needed) return 0;
 *         return item->type == LARDER_TYPE_FILE && item->size > 1000000;
 *     }
 */
#ifndef LARDER_ITEM_H
#define LARDER_ITEM_H


LARDER_BEGIN

/* The numbers of the fields: bits of a mask and of `present`. 23 to 63 are for later versions. */
#define LARDER_FIELD_PATH 0
#define LARDER_FIELD_NAME 1
#define LARDER_FIELD_TYPE 2
#define LARDER_FIELD_SIZE 3
#define LARDER_FIELD_MIME_TYPE 4
#define LARDER_FIELD_ETAG 5
#define LARDER_FIELD_FILE_ID 6
#define LARDER_FIELD_LOCAL_ID 7
#define LARDER_FIELD_LAST_MODIFIED 8
#define LARDER_FIELD_LAST_USED 9
#define LARDER_FIELD_CLOUD_STATUS 10
#define LARDER_FIELD_DOWNLOAD_TRIGGER 11
#define LARDER_FIELD_REMOVED 12
#define LARDER_FIELD_FAVORITE 13
#define LARDER_FIELD_REMOTE_VERSION 14
#define LARDER_FIELD_PARENT_PATH 15
#define LARDER_FIELD_OWNER 16
#define LARDER_FIELD_PERMISSIONS 17
#define LARDER_FIELD_AVAILABLE_OFFLINE 18
#define LARDER_FIELD_SYNC_ACTIVITY 19
#define LARDER_FIELD_LOCAL_PATH 20
#define LARDER_FIELD_SHARES 21
#define LARDER_FIELD_CLAIMS 22

/* The bit of a field in a mask and in `present`. */
#define LARDER_FIELD_BIT(field) (UINT64_C(1) << (field))

/* The kinds of items. */
#define LARDER_TYPE_FILE 0u
#define LARDER_TYPE_FOLDER 1u

/* The item is on the server only. */
#define LARDER_CLOUD_STATUS_CLOUD_ONLY 0u
/* The file has a local copy, which is the server's current version or an earlier one. The folder is kept here as a
 * folder. */
#define LARDER_CLOUD_STATUS_LOCAL_COPY 1u
/* The local copy has changes that the server is not known to have. */
#define LARDER_CLOUD_STATUS_LOCALLY_MODIFIED 2u
/* The item is here only. */
#define LARDER_CLOUD_STATUS_LOCAL_ONLY 3u

/* CURRENT: the copy is the newest version that the server is known to have. NEWER: the server has a newer version. */
#define LARDER_REMOTE_VERSION_CURRENT 0u
#define LARDER_REMOTE_VERSION_NEWER 1u

/* NONE: no policy keeps the item here. DIRECT: a policy names the item itself. INDIRECT: a policy names a folder above
 * it. */
#define LARDER_AVAILABLE_OFFLINE_NONE 0u
#define LARDER_AVAILABLE_OFFLINE_DIRECT 1u
#define LARDER_AVAILABLE_OFFLINE_INDIRECT 2u

/* The operations that are in progress on the item. This is a set. */
#define LARDER_SYNC_DOWNLOADING 0x01u
#define LARDER_SYNC_UPLOADING 0x02u
#define LARDER_SYNC_DELETING 0x04u
#define LARDER_SYNC_MOVING 0x08u
#define LARDER_SYNC_COPYING 0x10u
#define LARDER_SYNC_CREATING 0x20u
#define LARDER_SYNC_UPDATING 0x40u

/* The claims on the item's copy. This is a set. READ: somebody needs a version of the copy here, the newest if
 * possible. WRITE: somebody needs this very version. DELETE: somebody needs any version. Claims that have ended are not
 * included. The host removes no copy that is claimed. */
#define LARDER_CLAIM_READ 0x01u
#define LARDER_CLAIM_WRITE 0x02u
#define LARDER_CLAIM_DELETE 0x04u

/* An item. The comment of a field says what its value is if the bit in `present` is set. */
typedef struct larder_item {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t present;            /* the LARDER_FIELD_BIT of each field that has a value */
    larder_str path;             /* on the server, decoded, no closing slash: "/Photos/Ada.jpg"; the root is "/" */
    larder_str name;             /* "Ada.jpg" */
    larder_str mime_type;        /* "image/jpeg" */
    larder_str etag;             /* of the newest known version, without quotes and W/: "5f2-1a" */
    larder_str file_id;          /* the server's id of the item */
    larder_str local_id;         /* the host's id of the item, which survives moves; actions take it */
    larder_str download_trigger; /* the cause of the copy: "user", "availableOffline", or another plugin's id */
    larder_str parent_path;      /* "/Photos" */
    larder_str owner;            /* "ada" */
    larder_str permissions;      /* the server's letters: "RDNVW" */
    larder_str local_path;       /* the absolute path of the copy: "/home/ada/Cloud/Photos/Ada.jpg" */
    larder_str shares;           /* a JSON list of share ids; absent as long as no loop polls shares */
    int64_t size;                /* in bytes */
    int64_t last_modified;       /* in nanoseconds since 1970 UTC, as all times of day */
    int64_t last_used;           /* in nanoseconds since 1970 UTC */
    uint32_t type;               /* LARDER_TYPE_… */
    uint32_t cloud_status;       /* LARDER_CLOUD_STATUS_… */
    uint32_t removed;            /* 1: the item is no longer on the server */
    uint32_t favorite;           /* 1: the item is marked as a favorite on the server */
    uint32_t remote_version;     /* LARDER_REMOTE_VERSION_…; absent without a copy */
    uint32_t available_offline;  /* LARDER_AVAILABLE_OFFLINE_… */
    uint32_t sync_activity;      /* a set of LARDER_SYNC_… */
    uint32_t claims;             /* a set of LARDER_CLAIM_…; 0: nobody claims the copy */
} larder_item;

/* A stream of items. The host makes it. The comment of the function that hands it out says who closes it. */
typedef struct larder_item_cursor larder_item_cursor;

struct larder_item_cursor {
    uint32_t struct_size;
    uint32_t reserved;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the next item, or to null past the last item. Called again past the last item, it sets null again.
     * The item is borrowed until the next `next` or `close` of this cursor. Returns LARDER_CANCELLED (the call should
     * end) or LARDER_IO (the items cannot be read); the cursor is then at its end.
     * [processor] since 1.0 */
    larder_status (*next)(larder_item_cursor *cursor, const larder_item *LARDER_NULLABLE *LARDER_NONNULL out);
};

LARDER_END

#endif
/* module.h: the contents of a library, and an instance's life.
 *
 *   I.   The host opens the library and calls its entry function, which hands out a table: the module.
 *   II.  The host asks the module to describe its plugins, index by index, until the answer is null.
 *   III. For each account and each plugin that the config enables, the host creates an instance, asks it for its
 *        extensions, checks the settings against the plugin's schema, and starts the instance.
 *   IV.  When a setting changes, the host stops the instance and starts it again. `plugin disable` stops and destroys
 *       it.
 *   V.   The host never closes the library. There is no function for that: the library ends with the process.
 *
 * Advice to plugins: entry, describe and create are called often, also by tools, and sometimes in a process that ends
 * right after. These functions start no threads, open no files or sockets, do not change the environment, and do not
 * call the host, except for `fail`. Acquire an instance's resources in start and release them in stop. Keep no state
 * outside of instances: two accounts are two instances of one library, and calls into them, including create, may run
 * in parallel. A library that has globals all the same guards them.
 *
 * Advice to hosts: open the library with RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE. Copy tables by rule I. Refuse a table
 * with a null function pointer or with a size below that of version 1.0.
 *
 * Example:
 *
 *     static const larder_descriptor *describe(uint32_t index) {
 *         static const larder_descriptor archive = {
 *             sizeof(larder_descriptor), 0, {"org.example.archive", 19}, {"Archive", 7}, {"1.4.2", 5},
 *             {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
 *         return index == 0 ? &archive : NULL;
 *     }
 */
#ifndef LARDER_MODULE_H
#define LARDER_MODULE_H


LARDER_BEGIN

/* The identity of a plugin, for the host and for people. It stays unchanged while the library is open. */
typedef struct larder_descriptor {
    uint32_t struct_size;
    uint32_t reserved;
    /* A reversed domain of lower-case letters, digits, `-` and `.`, at most 128 bytes: "org.example.archive". */
    larder_str id;
    /* The name for people: "Archive". */
    larder_str name;
    /* The plugin's own version: "1.4.2". */
    larder_str version;
    /* The name of the author or company: "Example Ltd". May be absent. */
    larder_str vendor;
    /* One sentence without a full stop: "Keeps files that are older than five years". May be absent. */
    larder_str summary;
    /* The services without which the plugin does not start, separated by spaces: "larder.items/1 larder.actions/1". May
     * be absent. The host grants no service that is neither here nor in `wanted`. */
    larder_str required;
    /* The services that the plugin uses if it gets them, separated by spaces. May be absent. */
    larder_str wanted;
} larder_descriptor;

/* One plugin at work for one account. The table stays unchanged until `destroy` returns. */
typedef struct larder_instance {
    uint32_t struct_size;
    uint32_t reserved;
    /* The first argument of every function in this table and in the tables that `extension` hands out. May be null. */
    void *LARDER_NULLABLE context;

    /* Prepares the instance for work: it asks for services, reads the settings, and starts threads if it needs any.
     * Called once after create, and once after each stop. Returns LARDER_OK or the reason of a failure. A failed start
     * leaves the instance as it was before the call; the host then destroys it.
     * [control] since 1.0 */
    larder_status (*start)(void *LARDER_NULLABLE context);

    /* Releases everything that start acquired. When it returns, no thread of the plugin runs, and the plugin does not
     * call the host any more. Called once for each start that returned LARDER_OK.
     * [control] since 1.0 */
    void (*stop)(void *LARDER_NULLABLE context);

    /* Frees the instance, which is stopped or was never started. Called once, as the last call.
     * [control] since 1.0 */
    void (*destroy)(void *LARDER_NULLABLE context);

    /* Returns the table of a feature that the plugin offers, or null if it does not offer the feature. `name` is the
     * feature's name, for example "larder.item-policy-processor/1". Called at any time in the instance's life, also
     * before start. Returns the same pointer each time. The table stays unchanged until `destroy` returns.
     * [control] since 1.0 */
    const void *LARDER_NULLABLE (*LARDER_NONNULL extension)(void *LARDER_NULLABLE context, larder_str name);
} larder_instance;

/* The contents of a library. The table stays unchanged while the library is open. */
typedef struct larder_module {
    uint32_t struct_size;
    /* LARDER_ABI_MINOR of the headers that the plugin was built with. */
    uint32_t abi_minor;

    /* Returns the descriptor of the plugin with this index, or null past the last plugin. Indexes begin at 0 and have
     * no gaps. Returns the same pointer each time.
     * [control] since 1.0 */
    const larder_descriptor *LARDER_NULLABLE (*LARDER_NONNULL describe)(uint32_t index);

    /* Creates an instance of the plugin with this id, and sets `*out` to it. `host` stays valid until the instance is
     * destroyed. Each call creates another instance. Returns LARDER_NOT_FOUND for an id that the library does not
     * describe. On failure it does not touch `*out`.
     * [control] since 1.0 */
    larder_status (*create)(larder_str id, const larder_host *host,
                            const larder_instance *LARDER_NULLABLE *LARDER_NONNULL out);
} larder_module;

/* Sets `*out` to the library's module. This is the one function that a plugin exports. `host_minor` is LARDER_ABI_MINOR
 * of the host; it may be lower or higher than the plugin's own. Sets the same pointer each time. Returns
 * LARDER_UNSUPPORTED, without touching `*out`, if the plugin cannot work with a host of that version.
 * [control] since 1.0 */
LARDER_EXPORT larder_status larder_plugin_entry_v1(uint32_t host_minor,
                                                   const larder_module *LARDER_NULLABLE *LARDER_NONNULL out);

/* The name of the entry function, for dlsym, and its type. */
#define LARDER_ENTRY "larder_plugin_entry_v1"
typedef larder_status (*larder_plugin_entry)(uint32_t host_minor,
                                             const larder_module *LARDER_NULLABLE *LARDER_NONNULL out);

LARDER_END

#endif
/* policy.h: an item policy, as a plugin sees and writes it.
 *
 * A policy belongs to a kind, and a kind belongs to one processor. The policy's condition names the items that the
 * policy is for. The processor decides what happens to these items. The host only stores the members path, local_id and
 * data, which are the processor's own, and description, which is for people. An absent member has a null pointer.
 *
 * Example:
 *
 *     static uint64_t count_named(const larder_policy_list *list) {
 *         uint64_t index, named = 0;
 *         for (index = 0; index < list->count; index++) {
 *             if (larder_policy_at(list, index)->identifier.ptr) named++;
 *         }
 *         return named;
 *     }
 */
#ifndef LARDER_POLICY_H
#define LARDER_POLICY_H


LARDER_BEGIN

/* A policy. */
typedef struct larder_policy {
    uint32_t struct_size;
    uint32_t reserved;
    /* The revision, which rises with each update. */
    int64_t revision;
    larder_str id;               /* a UUID */
    larder_str kind;             /* "availableOffline" */
    larder_str identifier;       /* a stable name, may be absent; "_sys.…" is only listed on request */
    larder_str description;      /* for people, may be absent */
    larder_str condition;        /* "path == \"/Photos\" || path.startsWith(\"/Photos/\")" */
    larder_str path;             /* the processor's own, may be absent: "/Photos" */
    larder_str local_id;         /* the processor's own, may be absent */
    /* A condition, may be absent: the host removes the policy when a finished scan leaves no item that meets it. */
    larder_str remove_when_none;
    larder_bytes data; /* the processor's own, may be absent; at most 1 MiB */
} larder_policy;

/* A list of policies, oldest first. Use larder_policy_at to read it. */
typedef struct larder_policy_list {
    uint32_t struct_size;
    uint32_t stride; /* the distance from one policy to the next, in bytes */
    const void *LARDER_NULLABLE policies;
    uint64_t count;
} larder_policy_list;

/* Returns the policy with this index, which must be below `count`. It lives as long as the list. */
static inline const larder_policy *larder_policy_at(const larder_policy_list *list, uint64_t index) {
    return (const larder_policy *)(const void *)((const char *)list->policies + index * list->stride);
}

LARDER_END

#endif
/* trigger.h: the events that start processors.
 *
 * A processor names the triggers that it wants as a mask. The host asks for the mask before each run.
 *
 * Example:
 *
 *     static uint32_t triggers(void *context) {
 *         (void)context;
 *         return LARDER_TRIGGER_BIT(LARDER_TRIGGER_ITEMS_CHANGED) |
 *         LARDER_TRIGGER_BIT(LARDER_TRIGGER_POLICIES_CHANGED);
 *     }
 */
#ifndef LARDER_TRIGGER_H
#define LARDER_TRIGGER_H


/* One transaction added, updated or removed items. The run considers only these items. */
#define LARDER_TRIGGER_ITEMS_CHANGED 0u
/* A scan of the account finished with changes, or a scan finished for the first time since the start. The run considers
 * all items, including those that were removed on the server. */
#define LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED 1u
/* A scan finished and found nothing new. The run considers all items. */
#define LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES 2u
/* A policy was added, updated or removed. The run considers all items. */
#define LARDER_TRIGGER_POLICIES_CHANGED 3u
/* An earlier run left items because `max_records` actions of the processor were in progress, and now there is room. The
 * run considers all items. */
#define LARDER_TRIGGER_SYNC_CAPACITY 4u
/* Time has passed without a finished scan, because the server is not reachable. This trigger is for work that depends
 * on the time only and needs no server. The run considers all items in their last known state. */
#define LARDER_TRIGGER_TIMER 5u
/* Event loops added, changed or removed records (ext/records.h). Changes that follow each other fast may have one run in
 * common. The run considers all items. A processor whose wishes depend on records also wants
 * LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED, since the host may end between a change and its run. Since 1.2. */
#define LARDER_TRIGGER_RECORDS_CHANGED 6u

/* The bit of a trigger in a mask. */
#define LARDER_TRIGGER_BIT(trigger) (UINT32_C(1) << (trigger))
/* Every trigger, including those of later versions. */
#define LARDER_TRIGGERS_ALL 0xFFFFFFFFu

#endif

/* ext/actions.h: the actions that a plugin may ask for, "larder.actions/1".
 *
 * The host carries nothing out during the call. It notes the request. When the plugin's call returns LARDER_OK, the
 * request becomes a record in the journal of the sync engine, which carries it out when its turn comes, also after a
 * restart.
 *
 * While a request is in progress, a request of the same plugin for the same thing has no effect. So a run that is
 * repeated after a crash asks for nothing twice. Without a key, two requests ask for the same thing if they ask for the
 * same action on the same item. Such requests are the fastest: the host records many of them at once. A plugin that
 * means something else gives its requests keys of its own; then two ask for the same thing if they have the same key.
 *
 * A request without a key has an absent text as its key: `larder_str_make(NULL, 0)`. `download`, `remove_local_copy` and
 * `purge` take one since 1.4, and a host before that refuses it with LARDER_INVALID_ARGUMENT. Every other request needs
 * a key.
 *
 * The host refuses an action that would lose data, whoever asks for it: it neither removes nor overwrites a file with
 * changes that the server is not known to have.
 *
 * The functions from `create_folder` on change what is on the server. For them the operator must grant the plugin
 * `server-changes`; without the grant they return LARDER_DENIED. Their requests obey the same rules as a person's
 * commands. A request that turns out to be impossible, such as a move to a path at which there is something, changes
 * nothing, and the plugin's log says why. If a plugin's deletions of 24 hours go beyond the operator's `removal-guard`,
 * they wait for a person, who approves or rejects them.
 *
 * Example:
 *
 *     static larder_status download(const larder_host *host, const larder_actions *actions, const larder_item *item) {
 *         return actions->download(host, item->local_id, 0, larder_str_make(NULL, 0));
 *     }
 */
#ifndef LARDER_EXT_ACTIONS_H
#define LARDER_EXT_ACTIONS_H


#define LARDER_EXT_ACTIONS "larder.actions/1"

/* Downloads only if the item is still covered. Just before the first request to the server, the host checks whether the
 * item meets a stored policy of the processor's kind, or the policy condition that the processor gave in its last run.
 * If not, it drops the download. */
#define LARDER_DOWNLOAD_WHILE_COVERED 0x01u
/* Downloads only as an update: if there is no copy of which the server has a newer version, nothing happens. The copy
 * keeps its trigger. */
#define LARDER_DOWNLOAD_AS_UPDATE 0x02u

/* Keeps a copy that was here for another reason before this plugin asked for it. The copy gets its former trigger back
 * and counts as used now. Only a copy that came here for this plugin is removed. */
#define LARDER_REMOVE_RESTORE_FORMER 0x01u

/* Removes only a copy that nobody uses. The host skips a copy that a program has open, that is claimed, that was used
 * since the run began, that has been replaced since then, or that another action is already planned for. It then forgets
 * the request and reports it nowhere. Without this flag the host removes a copy that is in use or claimed later, when it
 * is neither any more. */
#define LARDER_REMOVE_IF_UNUSED 0x02u

/* Makes a new version of a file that the server has at the path. Without this flag such a file is in the way. */
#define LARDER_UPLOAD_REPLACE 0x01u

LARDER_BEGIN

/* The actions service. `local_id` is that of an item. `key` is absent where it may be, or 1 byte to 1 KiB; the host
 * copies both. */
typedef struct larder_actions {
    uint32_t struct_size;
    uint32_t reserved;

    /* Asks for a download of the file's newest version; for a folder: that it is kept here as a folder. `flags` is a
     * set of LARDER_DOWNLOAD_…. A copy that is current is adopted without a request to the server: its trigger becomes
     * the plugin's, and the host remembers the former one. A copy that is not current stays until the new one is
     * complete. A request that repeats one in progress, or asks for a state that is already reached, does nothing.
     * Returns LARDER_NOT_FOUND (no such item), LARDER_LIMIT (a key above 1 KiB, or max_records actions are in progress)
     * or LARDER_INVALID_ARGUMENT (an empty key).
     * [processor] since 1.0 */
    larder_status (*download)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks for the removal of the file's local copy; for a folder: of the folder, if it is empty by then. It needs no
     * server. `flags` is a set of LARDER_REMOVE_…. A modified copy stays. A copy that is in use or claimed stays as
     * long as it is, unless LARDER_REMOVE_IF_UNUSED says otherwise. The host checks again when the request's turn
     * comes: a copy that an available-offline policy covers by then stays. A request that repeats one in progress, or
     * asks for a state that is already reached, does nothing. Returns LARDER_NOT_FOUND, LARDER_LIMIT or
     * LARDER_INVALID_ARGUMENT as `download` does.
     * [processor] since 1.0 */
    larder_status (*remove_local_copy)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks the host to forget an item that is no longer on the server, and to remove its local copy. A folder is
     * removed only when it is empty. `flags` is 0. An item stays known as it is if its copy is modified, in use or
     * claimed, if it cannot be removed, or if it is on the server again; the plugin may ask again later. Returns
     * LARDER_NOT_FOUND, LARDER_LIMIT or LARDER_INVALID_ARGUMENT as `download` does.
     * [processor] since 1.0 */
    larder_status (*purge)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks the item list to check the file or folder with this path on the server now, and everything below it that
     * changed. `path` is an absolute path of an item. Several requests for one path lead to one check; a path that does
     * not exist leads to nothing. Not allowed in poll and on_error. Returns LARDER_INVALID_ARGUMENT (not an item's
     * path) or LARDER_LIMIT (the turn asks for more than 16 MiB).
     * [loop] since 1.0 */
    larder_status (*look)(const larder_host *host, larder_str path);

    /* Asks for the creation of a folder on the server. The folder above it is there, or was asked for before. `path` is
     * an absolute path of an item. `flags` is 0. A folder that is there, or about to be made, is left as it is. Returns
     * LARDER_DENIED (`server-changes` is not granted), LARDER_LIMIT (a key above 1 KiB, or max_records actions are in
     * progress) or LARDER_INVALID_ARGUMENT (an empty key, or not an item's path).
     * [processor] since 1.1 */
    larder_status (*create_folder)(const larder_host *host, larder_str path, uint32_t flags, larder_str key);

    /* Asks for the move of an item, with all that is in it, to another path on the server: also for another name. The
     * local copies move too. `target` is an absolute path at which there is nothing. `flags` is 0. Returns
     * LARDER_NOT_FOUND (no such item), LARDER_DENIED, LARDER_LIMIT or LARDER_INVALID_ARGUMENT as `create_folder` does.
     * [processor] since 1.1 */
    larder_status (*move)(const larder_host *host, larder_str local_id, larder_str target, uint32_t flags,
                          larder_str key);

    /* Asks for a copy of an item, with all that is in it, on the server. `target` is an absolute path at which there is
     * nothing. `flags` is 0. Returns the statuses that `move` does.
     * [processor] since 1.1 */
    larder_status (*copy)(const larder_host *host, larder_str local_id, larder_str target, uint32_t flags,
                          larder_str key);

    /* Asks for the deletion of an item, with all that is in it, on the server. Only what the host knows of is deleted:
     * if something there is new or has changed since, a person decides. Files that were changed here, or exist only
     * here, stay here. `flags` is 0. From the first deletion of a run on, the requests of the run wait for the run's
     * end, when the host knows how many deletions there are. Returns the statuses that `move` does.
     * [processor] since 1.1 */
    larder_status (*remove_from_server)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks to make an item a favorite of the account (`is_favorite` is 1), or to end that (0). Only servers of the
     * ownCloud family have favorites. `flags` is 0. Returns the statuses that `move` does.
     * [processor] since 1.1 */
    larder_status (*set_favorite)(const larder_host *host, larder_str local_id, uint32_t is_favorite, uint32_t flags,
                                  larder_str key);

    /* Asks for the upload of a file of the plugin's own, which is among the assets of one of its projects
     * (larder.projects/1). The host takes a snapshot of the file during the call, so that the plugin may change or
     * remove the file afterwards. The uploaded file is then also a copy here, with the plugin as its trigger. `project`
     * is the project's id. `file` is the file's path below the project's folder of assets, such as "out/list.csv": no
     * name in it is "." or "..", and nothing on it is a symbolic link. `path` is an absolute path of an item. `flags` is
     * a set of LARDER_UPLOAD_…. A version that the host does not know of is not replaced: a person, or the account's
     * rules for conflicts, decide. Returns LARDER_NOT_FOUND (no such project or file), LARDER_DENIED (`server-changes`
     * is not granted, or a symbolic link is on the way), LARDER_INVALID_ARGUMENT (also: it is no regular file),
     * LARDER_LIMIT (also: 100 uploads of the run are not recorded yet, which they are after 100 of them unless the run
     * asked for a deletion), LARDER_UNSUPPORTED (this host keeps no projects) or LARDER_IO (the file cannot be read, it
     * changes all the while, or there is no room for the snapshot).
     * [processor] since 1.1 */
    larder_status (*upload)(const larder_host *host, larder_str project, larder_str file, larder_str path,
                            uint32_t flags, larder_str key);
} larder_actions;

LARDER_END

#endif
/* ext/cancel.h: whether the current call should end, "larder.cancel/1".
 *
 * The host asks for an end when it is about to stop, or when the operator disables the plugin. A plugin with a long
 * loop checks from time to time, and returns LARDER_CANCELLED. The host then drops the requests of the call, so that
 * nothing is half done.
 *
 * Example:
 *
 *     static larder_status work(const larder_host *host, const larder_cancel *cancel, unsigned parts) {
 *         unsigned part;
 *         for (part = 0; part < parts; part++) {
 *             larder_status status = cancel->check(host);
 *             if (status != LARDER_OK) return status;
 *             // One part of the work.
 *         }
 *         return LARDER_OK;
 *     }
 */
#ifndef LARDER_EXT_CANCEL_H
#define LARDER_EXT_CANCEL_H


#define LARDER_EXT_CANCEL "larder.cancel/1"

LARDER_BEGIN

/* The cancellation service. */
typedef struct larder_cancel {
    uint32_t struct_size;
    uint32_t reserved;

    /* Returns LARDER_OK if the call may go on, and LARDER_CANCELLED if it should end. It is cheap enough for an inner
     * loop. Once it has returned LARDER_CANCELLED, it does so until the call ends.
     * [any] since 1.0 */
    larder_status (*check)(const larder_host *host);

    /* Sets `*out` to the time at which the host gives the current call up, on the clock of larder_clock.monotonic, in
     * nanoseconds; INT64_MAX: never. For items the deadline is that of the run, not of the call for one item.
     * [any] since 1.0 */
    larder_status (*deadline)(const larder_host *host, int64_t *out);
} larder_cancel;

LARDER_END

#endif
/* ext/clock.h: the time, "larder.clock/1".
 *
 * Advice to plugins: use only this clock, so that your tests can set it. A call has a cost: ask once in a run.
 *
 * Example:
 *
 *     static larder_status week_ago(const larder_host *host, const larder_clock *clock, int64_t *out) {
 *         int64_t now;
 *         larder_status status = clock->now(host, &now);
 *         if (status == LARDER_OK) *out = now - INT64_C(604800000000000);
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_CLOCK_H
#define LARDER_EXT_CLOCK_H


#define LARDER_EXT_CLOCK "larder.clock/1"

LARDER_BEGIN

/* The clock service. */
typedef struct larder_clock {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the time of day in nanoseconds since 1970 UTC, as far as the host trusts the system's clock. It
     * may jump. Compute ages with this clock.
     * [any] since 1.0 */
    larder_status (*now)(const larder_host *host, int64_t *out);

    /* Sets `*out` to the nanoseconds since an unspecified moment of this run of the host: values of two runs cannot be
     * compared. The clock never goes back, and it goes on while the machine sleeps. Measure waits and time limits with
     * this clock, and expect them to be over after a sleep.
     * [any] since 1.0 */
    larder_status (*monotonic)(const larder_host *host, int64_t *out);
} larder_clock;

LARDER_END

#endif
/* ext/config-schema.h: a plugin that has settings, "larder.config-schema/1".
 *
 * The schema is the text of a JSON Schema object. Its `properties` are the settings. The host checks the operator's
 * config against the schema before the plugin starts, names the wrong line and the nearest known name, and fills in
 * defaults:
 *
 *   {"properties": {"years": {"type": "integer", "minimum": 1, "default": 5,
 *   "description": "how long files are kept"}}}
 *
 * For each property the host reads `type` ("boolean", "integer", "number", "string", "array" with `items` of type
 * "string", or "object" with `properties` of its own), `default`, `description`, `enum`, `minimum` and `maximum`. Any
 * other keyword makes the schema invalid, so that no author relies on a check that the host does not make. A string may
 * have a `format`. With "duration", the operator writes 90s or 7d, and the plugin gets an integer in milliseconds. With
 * "size", the operator writes 700MB or 16GiB, and the plugin gets an integer in bytes.
 *
 * Only the host can act on a few settings. A property at the top level declares such a setting with `heeded-as`. The
 * host then acts on it for this plugin, and the plugin gets it too. `heeded-as` is one of
 *
 *   "ignored-readers"   An array of names of programs. Reading by one of these programs does not count as use of a
 *   copy. "poll-interval"     A string with the format "duration", at least one second: the wait of the plugin's event
 *   loops
 *                       between two polls. The value of the plugin with the core loop is for all event loops, and no
 *                       loop is polled more often.
 *
 * A setting that is not a property is an error in the config. A plugin without this extension takes no settings.
 *
 * Advice to plugins: name settings as the config does, in lower-case words joined by `-`. Give each setting a default,
 * so that an empty config works. Then your code never meets a setting that is missing or has another type (config.h).
 *
 * Example:
 *
 *     static larder_status schema(void *context, larder_str *out) {
 *         (void)context;
 *         *out = LARDER_STR("{\"properties\": {\"years\": {\"type\": \"integer\", \"default\": 5}}}");
 *         return LARDER_OK;
 *     }
 *
 *     static const larder_config_schema config_schema = {sizeof(larder_config_schema), 0, schema};
 */
#ifndef LARDER_EXT_CONFIG_SCHEMA_H
#define LARDER_EXT_CONFIG_SCHEMA_H


#define LARDER_EXT_CONFIG_SCHEMA "larder.config-schema/1"

LARDER_BEGIN

/* The schema of a plugin's settings. `context` is that of the instance. */
typedef struct larder_config_schema {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the schema's text, which stays unchanged until `destroy` returns. Sets the same text each time.
     * Also called before start.
     * [control] since 1.0 */
    larder_status (*schema)(void *LARDER_NULLABLE context, larder_str *out);
} larder_config_schema;

LARDER_END

#endif
/* ext/config.h: the plugin's settings, "larder.config/1".
 *
 * The settings are a JSON object with one member for each property of the plugin's schema (config-schema.h). The host
 * has checked them against the schema and filled in the defaults. They stay the same from start to stop: when a setting
 * changes, the host stops the instance and starts it again.
 *
 * Example:
 *
 *     static larder_status read_settings(const larder_host *host, const larder_config *config) {
 *         larder_str text = {NULL, 0};
 *         larder_status status = config->settings(host, &text);
 *         if (status != LARDER_OK) return status;
 *         // Parse text.ptr, text.len here: it is gone when the current call returns.
 *         return LARDER_OK;
 *     }
 */
#ifndef LARDER_EXT_CONFIG_H
#define LARDER_EXT_CONFIG_H


#define LARDER_EXT_CONFIG "larder.config/1"

LARDER_BEGIN

/* The settings service. */
typedef struct larder_config {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the settings' JSON text, such as {"years": 5}. The text is borrowed until the current call
     * returns. It is the same text each time.
     * [any] since 1.0 */
    larder_status (*settings)(const larder_host *host, larder_str *out);
} larder_config;

LARDER_END

#endif
/* ext/dav.h: PROPFIND and REPORT requests, "larder.dav/1".
 *
 * These requests are like those of larder.http/1, but the host parses the answer. The plugin gets a stream of
 * responses, each with the properties that it asked for, while the body is still arriving.
 *
 * Element names are in Clark notation: "{DAV:}getetag". The text of a property is its character data. If a property
 * contains elements, its text has one line for each element that contains no other: the element's name and, if there is
 * one, a space and the element's text or, without text, the value of its attribute `name`:
 *
 *   {DAV:}collection
 *   {urn:ietf:params:xml:ns:caldav}calendar
 *
 *   {DAV:}href /cal/ada/
 *
 *   {urn:ietf:params:xml:ns:caldav}comp VEVENT
 *
 * Example:
 *
 *     static larder_status count_members(const larder_host *host, const larder_dav *dav, uint64_t *out) {
 *         static const larder_str properties[] = {{"{DAV:}getetag", 13}};
 *         larder_dav_request request;
 *         larder_dav_answer *answer = NULL;
 *         const larder_dav_response *response = NULL;
 *         larder_status status;
 *         memset(&request, 0, sizeof request);
 *         request.struct_size = sizeof request;
 *         request.depth = 1;
 *         request.method = LARDER_STR("PROPFIND");
 *         request.target = LARDER_STR("/cal/ada/");
 *         request.properties = properties;
 *         request.property_count = 1;
 *         status = dav->open(host, &request, &answer);
 *         if (status != LARDER_OK) return status;
 *         *out = 0;
 *         while ((status = answer->next(answer, &response)) == LARDER_OK && response) ++*out;
 *         dav->close(host, answer);
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_DAV_H
#define LARDER_EXT_DAV_H


#define LARDER_EXT_DAV "larder.dav/1"

LARDER_BEGIN

/* Sends the request ahead: `open` returns at once, and the answer arrives while the plugin reads another one. The first
 * `next` waits for the answer, and returns the status that `open` would have returned. Until then the answer's status
 * is 0. If the operator allows one connection to the server only (`limits.connections`), the host sends the request in
 * that first `next`. Before that `next`, read the answers that you opened earlier to their end, or close them: the
 * server may not take two requests at a time. */
#define LARDER_DAV_AHEAD 0x01u

/* A request. */
typedef struct larder_dav_request {
    uint32_t struct_size;
    uint32_t depth;    /* 0 or 1 */
    larder_str method; /* "PROPFIND" or "REPORT" */
    larder_str target; /* as in larder_http_request */
    /* The request's XML. Absent for a PROPFIND, which asks for `properties`. */
    larder_str body;
    /* The names of the properties to hand out, in Clark notation. Null if there are none. */
    const larder_str *LARDER_NULLABLE properties;
    uint64_t property_count; /* at most 64 */
    uint32_t flags;          /* LARDER_DAV_AHEAD, or 0 */
    uint32_t reserved;
} larder_dav_request;

/* One response of a multistatus. */
typedef struct larder_dav_response {
    uint32_t struct_size;
    /* The status of the whole response; 200 if the response has properties. */
    uint32_t status;
    /* A path from the origin's root. It is always percent-encoded in the same way: "/cal/ada/1.ics". */
    larder_str href;
    /* The texts of the properties, in the order of the request. A text is absent if the server has no such property. */
    const larder_str *LARDER_NULLABLE values;
    uint64_t value_count;
    /* The element names inside the response's DAV:error, separated by spaces. Absent: there is no error. */
    larder_str error;
} larder_dav_response;

/* The facts that are known after the last response. */
typedef struct larder_dav_end {
    uint32_t struct_size;
    /* 1: the server left responses out (507 for the address itself, RFC 6578, section 3.6). */
    uint32_t truncated;
    larder_str sync_token; /* absent: the answer has none */
    /* The element names inside the answer's DAV:error, separated by spaces. Absent: there is no error. */
    larder_str error;
} larder_dav_end;

/* An answer. */
typedef struct larder_dav_answer larder_dav_answer;

struct larder_dav_answer {
    uint32_t struct_size;
    /* The status code. It is 207 if there are responses; with any other status there are none. 0: the request was sent
     * ahead, and `next` was not called yet, or the request failed. */
    uint32_t status;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the next response, or to null past the last response. Called again past the last response, it sets
     * null again. The response is borrowed until the next `next` or `close`. Returns LARDER_IO (the answer ended too
     * soon, or is no multistatus) or LARDER_CANCELLED; the responses so far are then incomplete.
     * [loop] since 1.0 */
    larder_status (*next)(larder_dav_answer *answer, const larder_dav_response *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Fills `*out` with the facts that are known at the end, after `next` set null. Set out->struct_size before. The
     * texts are borrowed until the answer is closed. Returns LARDER_WRONG_STATE before the end.
     * [loop] since 1.0 */
    larder_status (*end)(larder_dav_answer *answer, larder_dav_end *out);
};

/* The WebDAV service. */
typedef struct larder_dav {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sends a request, and sets `*out` to the answer. Waits, limits and statuses are those of `open` of larder_http
     * does; also returns LARDER_LIMIT for more than 64 properties, and LARDER_INVALID_ARGUMENT for another depth or a
     * name that is not in Clark notation. With LARDER_DAV_AHEAD it does not wait, and returns only the statuses that
     * are about the request itself.
     * [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_dav_request *request,
                          larder_dav_answer *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes an answer, and frees it. The host does not fetch the unread rest.
     * [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_dav_answer *answer);
} larder_dav;

LARDER_END

#endif
/* ext/discover.h: the addresses of the account's calendars and files, "larder.discover/1" (RFC 6764, RFC 5397, RFC
 * 4791).
 *
 * Example:
 *
 *     static larder_status find_calendars(const larder_host *host, const larder_discover *discover, larder_str *out) {
 *         larder_discovery found;
 *         larder_status status;
 *         found.struct_size = sizeof found;
 *         status = discover->find(host, LARDER_STR("caldav"), &found);
 *         if (status == LARDER_OK) *out = found.homes[0];
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_DISCOVER_H
#define LARDER_EXT_DISCOVER_H


#define LARDER_EXT_DISCOVER "larder.discover/1"

LARDER_BEGIN

/* The addresses that were found. */
typedef struct larder_discovery {
    uint32_t struct_size;
    uint32_t reserved;
    /* The account's principal, a percent-encoded path from the origin's root: "/principals/ada/". Absent for
     * "files". */
    larder_str principal;
    /* The homes, one or more percent-encoded paths from the origin's root: "/cal/ada/". */
    const larder_str *LARDER_NULLABLE homes;
    uint64_t home_count;
} larder_discovery;

/* The discovery service. */
typedef struct larder_discover {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the homes of a service. Set out->struct_size before. Everything that `*out` points to is
     * borrowed until the current call returns. `service` is "caldav" or "files". For "caldav" the host asks the server
     * each time. For "files" it knows the answer: the home below which the percent-encoded paths of all items are.
     * Returns LARDER_UNSUPPORTED (the server does not offer the service), LARDER_NOT_FOUND (the host found no home, and
     * a place that might know one cannot be asked now: ask again later), LARDER_IO, LARDER_CANCELLED or
     * LARDER_INVALID_ARGUMENT (no such service).
     * [loop] since 1.0 */
    larder_status (*find)(const larder_host *host, larder_str service, larder_discovery *out);
} larder_discover;

LARDER_END

#endif
/* ext/event-loop.h: a plugin that polls a server for news, "larder.event-loop/1".
 *
 * An event loop remembers its position in the server's history as an event id. The host stores the event id and does
 * not interpret it. A turn of a loop is this sequence of calls:
 *
 *   poll            asks the server for changes since the event id, and hands out a page
 *   process         applies the page to the loop's records
 *   release_page
 *
 * Then the host commits the requests of `process` together with the page's event id: both or none, whatever happens. If
 * the page says that there is more, another turn follows, after the turns of the other loops.
 *
 * The records may be too old for events to bring them up to date: the loop has no event id yet, or the page says
 * `refresh`. Then the host calls, in place of process,
 *
 *   refresh         takes a new event id (the anchor) first, then fetches everything and asks for the differences
 *   release_page
 *
 * and commits the requests together with the anchor. The anchor comes first so that changes during the fetch are not
 * lost.
 *
 * The host learns from the records which loops there are. A plugin whose `collection` is "calendars" has one loop for
 * each record in that collection, and the record's key is the loop's id. The loop begins when the record is committed,
 * and ends when the record is removed; everything that the loop stored is removed with it. A plugin without a
 * collection has one loop, whose id is `kind`.
 *
 * A collection has one writer. The loop of the kind "core", which comes first in every cycle, writes "calendars",
 * "shares" and "account". A loop of the kind "calendar" or "share" writes its own record there, and the collection that
 * belongs to that record. Every plugin writes the collection with its plugin's id or, if its loops are there for
 * records, the collection below it with the loop's id: "org.example.x/12". Collections that plugins name have no slash,
 * so that every collection with a slash belongs to one record.
 *
 * Scenarios:
 *
 *  I.   A calendar. Poll: a REPORT for the changes since the sync-token, which is the event id. Process: put and remove
 *     the
 *       calendar's objects. Refresh: an empty sync-token gives the listing and a new token in one answer; fetch the
 *       objects that differ.
 *  II.  A server that can only list. Poll: list; the event id is a digest of the listing. Process: compare the listing
 *      with
 *       the records.
 *  III. Much to fetch. A turn may ask for at most 16 MiB. Hand out a page with `more` and an event id that tells you
 *       what is left to fetch: "fetch:<token>".
 *  IV.  Nothing to poll. Return LARDER_UNSUPPORTED from poll or refresh: the host asks the loop again a day later.
 *
 * Advice to plugins: a page with the same event id and without `more` changes nothing and costs nothing. Fail when the
 * server fails: an error is not absence, and a record stays until you know that its thing is gone. The host asks a
 * failing loop less often, after 1, 1, 2, 3, 5 and 8 times the interval. It keeps any wait that the server asks for by
 * itself.
 *
 * Advice to hosts: run one loop at a time. A call that you give up because it takes too long fails its own loop only.
 *
 * Example:
 *
 *     // A poll that finds nothing new: the same event id, which must last until release_page, and no content.
 *     static larder_status poll(void *context, const larder_loop *loop, larder_event_page *out) {
 *         char *copy = (char *)malloc((size_t)loop->event_id.len);
 *         (void)context;
 *         if (!copy) return LARDER_LIMIT;
 *         memcpy(copy, loop->event_id.ptr, (size_t)loop->event_id.len);
 *         out->event_id = larder_str_make(copy, loop->event_id.len);
 *         return LARDER_OK;
 *     }
 *
 *     static void release_page(void *context, larder_event_page *page) {
 *         (void)context;
 *         free((void *)page->event_id.ptr);
 *     }
 */
#ifndef LARDER_EXT_EVENT_LOOP_H
#define LARDER_EXT_EVENT_LOOP_H


#define LARDER_EXT_EVENT_LOOP "larder.event-loop/1"

/* Asks for a refresh of everything. Smaller parts are bits of the loop's own, 0x01 to 0x80. */
#define LARDER_REFRESH_EVERYTHING 0xffu

/* The announcements that a server may make between two polls. The host polls a loop that declares a hint at once when
 * the hint comes. */
#define LARDER_HINT_ITEMS 0x01u   /* files and folders */
#define LARDER_HINT_SHARES 0x02u  /* shares */
#define LARDER_HINT_ACCOUNT 0x04u /* the account: spaces, memberships, notifications of any kind */

/* The reasons why a turn of a loop fails. */
#define LARDER_LOOP_MISSING_ID 1u   /* no event id: the loop never ran, or its cache was dropped; a refresh follows */
#define LARDER_LOOP_OUTDATED 2u     /* the page asked for a refresh, which follows */
#define LARDER_LOOP_POLL_FAILED 3u  /* poll or refresh failed */
#define LARDER_LOOP_PROCESSING 4u   /* process failed, or its requests were not committed */
#define LARDER_LOOP_TIMED_OUT 5u    /* the host gave the call up because it took too long */
#define LARDER_LOOP_NO_PROGRESS 6u  /* pages said that there is more, with the same event id */

LARDER_BEGIN

/* A loop in the current call. */
typedef struct larder_loop {
    uint32_t struct_size;
    uint32_t reserved;
    larder_str id;       /* the key of its record, "/ada/work/"; the kind, if the plugin has one loop */
    larder_str event_id; /* its position; absent: no position is known */
} larder_loop;

/* The result of a poll. The host passes it with struct_size set and zeros everywhere else. Everything that the plugin
 * makes it point to stays unchanged until release_page. */
typedef struct larder_event_page {
    uint32_t struct_size;
    /* The parts of the cache that are too old: 0, bits, or LARDER_REFRESH_EVERYTHING. If it is not 0, `event_id` and
     * `more` mean nothing. */
    uint32_t refresh;
    /* 1: there is more after this page. */
    uint32_t more;
    uint32_t reserved;
    /* The loop's position after this page. Not empty. */
    larder_str event_id;
    /* Belongs to the plugin; the host does not use it. */
    void *LARDER_NULLABLE content;
} larder_event_page;

/* The reason why a turn of a loop failed. */
typedef struct larder_loop_error {
    uint32_t struct_size;
    uint32_t code;        /* LARDER_LOOP_… */
    larder_status status; /* a status for the failure, as far as the host knows one */
    uint32_t reserved;
    /* A sentence for people, as in the log. */
    larder_str message;
} larder_loop_error;

/* The functions of a plugin with event loops. `context` is that of the instance. Arguments are borrowed for the
 * call. */
typedef struct larder_event_loop {
    uint32_t struct_size;
    /* The bits of a page's `refresh` for which the host calls `refresh` one by one. Together they are everything. A bit
     * that is not in this mask means everything. 0: the loop can only refresh everything. */
    uint32_t refresh_bits;
    /* The kind of the plugin's loops: letters and digits, or the plugin's id. It is unique among the plugins of a
     * host. */
    larder_str kind;
    /* The collection of which each record is a loop: "calendars". It has no slash. Absent: the plugin has one loop. */
    larder_str collection;
    /* The hints that concern the loops: a set of LARDER_HINT_…. */
    uint32_t hints;
    uint32_t reserved;

    /* Asks the server for changes since loop->event_id, which is present, and fills `*out`. `out` comes with
     * struct_size set and zeros everywhere else. May read records, but not change them. Returns LARDER_UNSUPPORTED if
     * there is nothing to poll.
     * [loop] since 1.0 */
    larder_status (*poll)(void *LARDER_NULLABLE context, const larder_loop *loop, larder_event_page *out);

    /* Applies a page of `poll` to the records. If it fails, the page comes again in a later turn.
     * [loop] since 1.0 */
    larder_status (*process)(void *LARDER_NULLABLE context, const larder_loop *loop, const larder_event_page *page);

    /* Takes a new anchor, then fetches what `what` says: one bit of refresh_bits, or LARDER_REFRESH_EVERYTHING. Fills
     * `*out` as `poll` does; its event_id is the anchor. If the host calls it for several bits, the anchor of the first
     * call counts. May set `more` with LARDER_REFRESH_EVERYTHING only. Returns LARDER_UNSUPPORTED as `poll` does.
     * [loop] since 1.0 */
    larder_status (*refresh)(void *LARDER_NULLABLE context, const larder_loop *loop, uint32_t what,
                             larder_event_page *out);

    /* Tells the loop why a turn failed, or that its cache cannot be used any more. May read records, but not change
     * them.
     * [loop] since 1.0 */
    void (*on_error)(void *LARDER_NULLABLE context, const larder_loop *loop, const larder_loop_error *error);

    /* Frees the memory that a page points to. Called once for each page that poll or refresh handed out with LARDER_OK,
     * at the latest before stop. It may call those functions of the host that are [any].
     * [loop] since 1.0 */
    void (*release_page)(void *LARDER_NULLABLE context, larder_event_page *page);
} larder_event_loop;

LARDER_END

#endif
/* ext/explain.h: a processor that says why, "larder.explain/1".
 *
 * `larder explain PATH` tells a person what each processor would do with an item, and which part of its conditions
 * decides. A processor that knows more than its conditions tell says it here, in its own words: why it leaves alone an
 * item that it is called for, or what it waits for.
 *
 * The host makes a run for this one item in which nothing is carried out, and then calls explain once. So the processor
 * has its policies, and knows what it found in that run. If it wants no trigger now, it gets its policies alone before
 * explain. After a failure of update_policies explain is not called. No other run calls explain.
 *
 * The call changes nothing: the functions of the host that change something return LARDER_WRONG_STATE in it. All others
 * that a processor may use work as in a run.
 *
 * The extension is for plugins with a processor. Without it the host tells what it knows by itself. A host before 1.3
 * does not ask for it.
 *
 * Example:
 *
 *     static larder_status explain(void *context, const larder_item *item, larder_str *out) {
 *         (void)context;
 *         if (item->claims & LARDER_CLAIM_WRITE) *out = LARDER_STR("it stays as long as somebody writes to it");
 *         return LARDER_OK;
 *     }
 *
 *     static const larder_explain explainer = {sizeof(larder_explain), 0, explain};
 */
#ifndef LARDER_EXT_EXPLAIN_H
#define LARDER_EXT_EXPLAIN_H


#define LARDER_EXT_EXPLAIN "larder.explain/1"

LARDER_BEGIN

/* What a processor says of items. `context` is that of the instance. */
typedef struct larder_explain {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to what the processor says of an item, for a person: a part of a sentence, without a full stop. The
     * host shows the first 1,024 bytes as one line. If `*out` is left absent or empty, the processor says nothing. The
     * item has the fields that the processor names, is perhaps removed, and need meet no condition of the processor's.
     * It is borrowed for the call. After a failure, or with a text that is not UTF-8, the host tells what it knows by
     * itself.
     * [processor] since 1.3 */
    larder_status (*explain)(void *LARDER_NULLABLE context, const larder_item *item, larder_str *out);
} larder_explain;

LARDER_END

#endif
/* ext/http.h: requests to the account's server, "larder.http/1".
 *
 * The host sends the request: only to the account's origin, with the account's credentials, within the host's limits on
 * connections and time. The plugin sees neither the name nor the password: if an answer repeats them, reading it ends
 * with LARDER_IO before that place. The methods are COPY, DELETE, GET, HEAD, MKCALENDAR, MKCOL, MOVE, OPTIONS, PATCH,
 * POST, PROPFIND, PROPPATCH, PUT, REPORT and SEARCH; the host refuses any other method with LARDER_DENIED. A call
 * blocks the plugin's thread and nothing else. It returns LARDER_CANCELLED when the host asks for an end.
 *
 * The host handles three answers itself, and the plugin only sees LARDER_IO. The first is a 401 for an address below
 * the account's files, or for any address if the server is of the ownCloud family and also refuses the files; the host
 * then sends no request until it tries the account again. (A 401 for another address may come from another service, so
 * the host hands it out.) The other two are 429 and 503; the host keeps the wait that they ask for, for the whole
 * account.
 *
 * If a loop's call fails after the host handed out a 401 or 403, the loop counts as refused: the host calls it again
 * after 30 s, and after a longer wait each time, up to 15 min. After a 401 all loops of the same kind wait with it.
 *
 * Example:
 *
 *     static larder_status has_news(const larder_host *host, const larder_http *http, int *out) {
 *         larder_http_request request;
 *         larder_http_answer *answer = NULL;
 *         larder_status status;
 *         memset(&request, 0, sizeof request);
 *         request.struct_size = sizeof request;
 *         request.header_stride = sizeof(larder_http_header);
 *         request.method = LARDER_STR("GET");
 *         request.target = LARDER_STR("/apps/news/newest");
 *         status = http->open(host, &request, &answer);
 *         if (status != LARDER_OK) return status;
 *         *out = answer->status == 200;
 *         return http->close(host, answer);
 *     }
 */
#ifndef LARDER_EXT_HTTP_H
#define LARDER_EXT_HTTP_H


#define LARDER_EXT_HTTP "larder.http/1"

LARDER_BEGIN

/* A header of a request. */
typedef struct larder_http_header {
    larder_str name;
    larder_str value;
} larder_http_header;

/* A request. */
typedef struct larder_http_request {
    uint32_t struct_size;
    /* The distance from one header to the next, in bytes. */
    uint32_t header_stride;
    larder_str method; /* "GET" */
    /* A percent-encoded path from the origin's root, with or without a query: "/ocs/v2.php/cloud/user?format=json". A
     * whole address is allowed if it is at the account's origin. */
    larder_str target;
    /* The headers, at most 64; null: none. The host sets Authorization, Host, Content-Length and the headers of the
     * connection itself, and refuses them here. */
    const larder_http_header *LARDER_NULLABLE headers;
    uint64_t header_count;
    larder_bytes body; /* may be absent */
} larder_http_request;

/* An answer. Its body is read piece by piece. */
typedef struct larder_http_answer larder_http_answer;

struct larder_http_answer {
    uint32_t struct_size;
    uint32_t status; /* the status code: 200 */
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the value of the header with this name, in any case; if there are several, to that of the first
     * one. The value is borrowed until the answer is closed. Returns LARDER_NOT_FOUND (no such header).
     * [loop] since 1.0 */
    larder_status (*header)(larder_http_answer *answer, larder_str name, larder_str *out);

    /* Sets `*out` to the next bytes of the body as they arrive, any number of them, and to absent bytes past the end.
     * They are borrowed until the next `read` or `close`. Returns LARDER_IO (the body ended too soon) or
     * LARDER_CANCELLED.
     * [loop] since 1.0 */
    larder_status (*read)(larder_http_answer *answer, larder_bytes *out);
};

/* The HTTP service. */
typedef struct larder_http {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sends a request, waits for the head of the answer, and sets `*out` to the answer. The host follows redirects
     * within the origin. At most 4 answers may be open at a time. The plugin closes the answer; the host closes answers
     * that are still open when the current call returns. An answer with an error status is handed out like any other.
     * Returns LARDER_IO (no answer; the log says why), LARDER_DENIED (another origin, a method that the host does not
     * send, or a header that is the host's or cannot be sent as it is), LARDER_LIMIT (4 answers are open, or more than
     * 64 headers) or LARDER_CANCELLED.
     * [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_http_request *request,
                          larder_http_answer *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes an answer, and frees it. The host does not fetch the unread rest of the body.
     * [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_http_answer *answer);
} larder_http;

LARDER_END

#endif
/* ext/items.h: all items that meet a condition, "larder.items/1".
 *
 * A processor uses this for questions that the items of a run do not answer: which other items lie in a folder, or how
 * many copies the plugin has here. A query sees the items in their state at the start of the run, so that a cursor
 * never shows half of a change.
 *
 * Advice to plugins: query in will_enter_trigger or end_matching, not in perform_action, which is called once for each
 * item. An index holds the items with a local copy in the order of their last use. So a query for the least recently
 * used copies, with a limit, costs only as much as the limit is high.
 *
 * Example:
 *
 *     static larder_status count_copies(const larder_host *host, const larder_items *items, uint64_t *out) {
 *         larder_query query = {sizeof(larder_query), 0, {NULL, 0}, LARDER_FIELD_BIT(LARDER_FIELD_SIZE), 0, 0, 0};
 *         larder_item_cursor *cursor = NULL;
 *         const larder_item *item = NULL;
 *         larder_status status;
 *         query.condition = LARDER_STR("cloudStatus == \"localCopy\" && !removed");
 *         status = items->open(host, &query, &cursor);
 *         if (status != LARDER_OK) return status;
 *         *out = 0;
 *         while ((status = cursor->next(cursor, &item)) == LARDER_OK && item) ++*out;
 *         items->close(host, cursor);
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_ITEMS_H
#define LARDER_EXT_ITEMS_H


#define LARDER_EXT_ITEMS "larder.items/1"

LARDER_BEGIN

/* The value of `sort` for a field. */
#define LARDER_SORT_BY(field) ((uint32_t)(field) + 1u)

/* Puts the greatest value first instead of the least. */
#define LARDER_QUERY_DESCENDING 0x01u

/* A query for items. */
typedef struct larder_query {
    uint32_t struct_size;
    uint32_t reserved;
    /* A text in the condition language: "type == \"file\" && !removed". It may name "availableOffline" and "claimed". */
    larder_str condition;
    /* The fields to fill: a mask of LARDER_FIELD_BITs. */
    uint64_t fields;
    /* LARDER_SORT_BY the path, name, size, last_modified or last_used; 0: in no particular order. Text is sorted by its
     * bytes. Items without a value come first, or last if descending. Items with equal values come in the order of
     * their paths. */
    uint32_t sort;
    /* A set of LARDER_QUERY_…. Without `sort` it means nothing. */
    uint32_t flags;
    /* The greatest number of items, the first ones of the order; 0: all items. */
    uint64_t limit;
} larder_query;

/* The items service. */
typedef struct larder_items {
    uint32_t struct_size;
    uint32_t reserved;

    /* Opens a cursor over the items that meet the query's condition, including removed items, and sets `*out` to it.
     * Each call opens another cursor; at most 16 may be open at a time. The plugin closes the cursor; the host closes
     * cursors that are still open when the current call returns. Returns LARDER_INVALID_ARGUMENT (the condition does
     * not parse, or items cannot be sorted by the field; the log says why), LARDER_LIMIT (16 cursors are open) or
     * LARDER_IO.
     * [processor] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_query *query,
                          larder_item_cursor *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes a cursor of `open`, and frees it. Returns LARDER_INVALID_ARGUMENT for any other cursor, such as that of
     * preflight.
     * [processor] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_item_cursor *cursor);
} larder_items;

LARDER_END

#endif
/* ext/kv.h: a small store of the plugin's own, "larder.kv/1".
 *
 * Each plugin has one store for each account, and sees no other. The store survives restarts and upgrades of the
 * plugin, so write values that you can still read in two years. The host makes the writes when the call returns
 * LARDER_OK, together with its other requests: all of them or none. Reads see the earlier writes of the same run or
 * loop turn. A loop may write only in process and refresh.
 *
 * Example:
 *
 *     static larder_status count_run(const larder_host *host, const larder_kv *kv) {
 *         larder_bytes key = {(const uint8_t *)"runs", 4}, value = {NULL, 0};
 *         uint64_t runs = 0;
 *         larder_status status = kv->get(host, key, &value);
 *         if (status == LARDER_OK && value.len == sizeof runs) memcpy(&runs, value.ptr, sizeof runs);
 *         else if (status != LARDER_NOT_FOUND) return status == LARDER_OK ? LARDER_FAILED : status;
 *         runs++;
 *         value.ptr = (const uint8_t *)&runs;
 *         value.len = sizeof runs;
 *         return kv->put(host, key, value);
 *     }
 */
#ifndef LARDER_EXT_KV_H
#define LARDER_EXT_KV_H


#define LARDER_EXT_KV "larder.kv/1"

LARDER_BEGIN

/* The store. A key is 1 byte to 1 KiB of any bytes: "last-run". */
typedef struct larder_kv {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the value of a key. The value is borrowed until the current call returns. Returns LARDER_NOT_FOUND
     * (the key has no value), LARDER_LIMIT (a key that is empty or above 1 KiB) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*get)(const larder_host *host, larder_bytes key, larder_bytes *out);

    /* Asks for a new value of a key, in place of its old value if it has one. A value is at most 1 MiB. The host copies
     * key and value. Returns LARDER_LIMIT (a key that is empty or above 1 KiB, a value above 1 MiB, more than 16 MiB in
     * a loop's turn, or more than the config's value-quota for all values with their keys: 64 MB as a rule).
     * [processor] [loop] since 1.0 */
    larder_status (*put)(const larder_host *host, larder_bytes key, larder_bytes value);

    /* Asks for the removal of a key's value. A key without a value is no error. Returns LARDER_LIMIT as `put` does.
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_bytes key);
} larder_kv;

LARDER_END

#endif
/* ext/log.h: lines in the host's log, "larder.log/1".
 *
 * The host adds the plugin's id and the account to each line. The operator's log level decides which lines are kept.
 * The host cuts off a flood of lines with a line that says how many it dropped.
 *
 * Advice to plugins: use `error` for a problem that the operator must act on, `warning` for a fact that the operator
 * may want to know, `info` for an event, and `debug` for the reason of a decision. Write one sentence without a full
 * stop, without line breaks and without secrets.
 *
 * Example:
 *
 *     static void report(const larder_host *host, const larder_log *log, unsigned count) {
 *         char line[64];
 *         int length = snprintf(line, sizeof line, "archived %u files", count);
 *         log->write(host, LARDER_LOG_INFO, larder_str_make(line, (uint64_t)length));
 *     }
 */
#ifndef LARDER_EXT_LOG_H
#define LARDER_EXT_LOG_H


#define LARDER_EXT_LOG "larder.log/1"

/* The levels of a line. */
#define LARDER_LOG_DEBUG 0u
#define LARDER_LOG_INFO 1u
#define LARDER_LOG_WARNING 2u
#define LARDER_LOG_ERROR 3u
/* The plugin noticed that the host broke a rule of the ABI. */
#define LARDER_LOG_HOST_MISBEHAVING 4u

LARDER_BEGIN

/* The log service. */
typedef struct larder_log {
    uint32_t struct_size;
    uint32_t reserved;

    /* Writes a line. `level` is one of LARDER_LOG_…. `message` is the line's text, such as "archived 12 files"; the
     * host copies it.
     * [any] since 1.0 */
    larder_status (*write)(const larder_host *host, uint32_t level, larder_str message);
} larder_log;

LARDER_END

#endif
/* ext/policies.h: the policies of the processor's own kind, "larder.policies/1".
 *
 * The host notes a change as it notes an action, and makes it when the call returns LARDER_OK. A processor neither sees
 * nor changes the policies of another processor.
 *
 * A change of policies fires LARDER_TRIGGER_POLICIES_CHANGED, and the run after it considers all items. A processor
 * that follows a moved folder only changes a policy's text, not the set of covered items: it passes
 * LARDER_POLICY_QUIET. The host calls the processor's update_policies before its next run in any case.
 *
 * Example:
 *
 *     static larder_status add_photos(const larder_host *host, const larder_policies *policies) {
 *         larder_policy policy;
 *         memset(&policy, 0, sizeof policy);
 *         policy.struct_size = sizeof policy;
 *         policy.condition = LARDER_STR("path == \"/Photos\" || path.startsWith(\"/Photos/\")");
 *         policy.path = LARDER_STR("/Photos");
 *         return policies->add(host, &policy, 0);
 *     }
 */
#ifndef LARDER_EXT_POLICIES_H
#define LARDER_EXT_POLICIES_H


#define LARDER_EXT_POLICIES "larder.policies/1"

/* Changes the policy without firing LARDER_TRIGGER_POLICIES_CHANGED. */
#define LARDER_POLICY_QUIET 0x01u

LARDER_BEGIN

/* The policies service. `flags` is LARDER_POLICY_QUIET or 0. */
typedef struct larder_policies {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the policies at the start of the run, as update_policies gets them. Set out->struct_size
     * before. The list and everything in it is borrowed until the current call returns.
     * [processor] since 1.0 */
    larder_status (*list)(const larder_host *host, larder_policy_list *out);

    /* Asks for a new policy. `policy` must have a condition. The host assigns id, revision and kind, and does not read
     * them. A repeated call adds another policy. Returns LARDER_INVALID_ARGUMENT (a condition does not parse, or
     * names "availableOffline" or "claimed", which policies decide; or `path` is not an item's path) or LARDER_LIMIT (data above 1 MiB, or 10,000 policies of this kind).
     * [processor] since 1.0 */
    larder_status (*add)(const larder_host *host, const larder_policy *policy, uint32_t flags);

    /* Asks for new values of all members but id, revision and kind of the policy with this id and revision. If the
     * policy changes or is removed after this call but before the host carries the update out, the host drops the
     * update and names it in the log. Returns LARDER_NOT_FOUND, LARDER_CONFLICT (the policy has another revision by
     * now), or a status of `add`.
     * [processor] since 1.0 */
    larder_status (*update)(const larder_host *host, const larder_policy *policy, uint32_t flags);

    /* Asks for the removal of the policy with this id and revision. Returns LARDER_NOT_FOUND or LARDER_CONFLICT (the
     * policy has another revision by now).
     * [processor] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str id, int64_t revision, uint32_t flags);
} larder_policies;

LARDER_END

#endif
/* ext/processor.h: a plugin that processes items, "larder.item-policy-processor/1".
 *
 * When a trigger of the processor's mask fires, the host makes a run. A run is this sequence of calls:
 *
 *   update_policies       in the first run, and whenever the policies changed since the last run
 *   preflight             with the changed items, if the trigger is about single items
 *   will_enter_trigger
 *   begin_matching        ┐
 *   perform_action        │ for each item that meets the match condition; none of the three calls if there is no such
 *   end_matching          ┘ item or no condition
 *   begin_cleanup         ┐
 *   perform_cleanup       │ the same for the cleanup condition
 *   end_cleanup           ┘
 *   did_pass_trigger
 *
 * A run sees the items in their state at its start. The processor's requests of a call (actions, policies, values) take
 * effect when the call returns LARDER_OK. The host drops the requests of a call that fails, and goes on with the next
 * call. It carries the requests out in order. That may fire the triggers again: they start another run after this one.
 *
 * Scenarios:
 *
 *  I.   Keep the items that a policy names. Match: items that are covered and not here. Action: download. Cleanup:
 *     items
 *       that this plugin brought here and that no policy covers any more. Action: remove the local copy.
 *  II.  Remove copies that were not used for a week. No policies, no match condition. Cleanup: `cloudStatus ==
 *      "localCopy"
 *       && lastUsed < now - duration("168h")`.
 *  III. Follow a folder that is moved. Preflight: one of the changed items has the id that a policy is for and another
 *       path. Update the policy.
 *  IV.  Work through many items a few at a time. Set max_records: the host hands over only as many items as there is
 *      room
 *       for, and the rest later with syncCapacity. Without max_records, the processor asks for actions for all matching
 *       items at once, and the host works these actions off in order.
 *
 * Advice to plugins: let the conditions decide, so that the host hands over only items that need something. An index
 * answers a condition; a call costs more. Ask only for changes that are still needed: the next run must come to rest.
 *
 * Advice to hosts: ask for the mask before each run, for the policy condition and the match condition after
 * will_enter_trigger, and for the cleanup condition after matching. If a condition does not parse, the call that
 * returned it has failed: name it in the log, and go on as if it were absent.
 *
 * Example:
 *
 *     struct archive {
 *         larder_instance instance;
 *         const larder_host *host;
 *         const larder_actions *actions;
 *     };
 *
 *     static larder_status match_condition(void *context, larder_str *out) {
 *         (void)context;
 *         *out = LARDER_STR("favorite && !removed && cloudStatus == \"cloudOnly\"");
 *         return LARDER_OK;
 *     }
 *
 *     static larder_status perform_action(void *context, uint32_t trigger, const larder_item *item) {
 *         struct archive *self = (struct archive *)context;
 *         (void)trigger;
 *         return self->actions->download(self->host, item->local_id, 0, item->local_id);
 *     }
 */
#ifndef LARDER_EXT_PROCESSOR_H
#define LARDER_EXT_PROCESSOR_H


#define LARDER_EXT_ITEM_POLICY_PROCESSOR "larder.item-policy-processor/1"

LARDER_BEGIN

/* The functions of a processor. `context` is that of the instance. A function that fails says why with the host's
 * `fail`; the host then goes on with the next call of the run, except where the function's comment says otherwise. */
typedef struct larder_item_policy_processor {
    uint32_t struct_size;
    uint32_t reserved;
    /* The kind of the policies that the processor is for: letters and digits, or the plugin's id. It is unique among
     * the plugins of a host. */
    larder_str kind;
    /* The fields that the processor reads of the items that it gets: a mask of LARDER_FIELD_BITs. */
    uint64_t fields;

    /* Returns the triggers that the processor wants now: a mask of LARDER_TRIGGER_BITs, LARDER_TRIGGERS_ALL, or 0 for
     * none. Called before each run.
     * [processor] since 1.0 */
    uint32_t (*triggers)(void *LARDER_NULLABLE context);

    /* Sets `*out` to the condition of the items that the processor covers. As a rule this is any of the policies'
     * conditions, together with the items that the processor covers by itself. Called in each run after
     * will_enter_trigger. If `*out` is left absent, the processor covers nothing by itself. The host uses the
     * condition, together with the stored policies of the kind, to say whether an item is covered. It has no part in
     * matching, which depends on the next two conditions only. Like a policy's condition, and unlike the next two, it
     * cannot name "availableOffline" and "claimed", which policies decide.
     * [processor] since 1.0 */
    larder_status (*policy_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* Sets `*out` to the condition of the items for which the host calls perform_action. If it is left absent, the host
     * calls perform_action for no item. Called in each run after will_enter_trigger.
     * [processor] since 1.0 */
    larder_status (*match_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* Sets `*out` to the condition of the items for which the host calls perform_cleanup. If it is left absent, the
     * host calls perform_cleanup for no item. Called in each run after matching.
     * [processor] since 1.0 */
    larder_status (*cleanup_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* Hands over all policies of the processor's kind. They replace those of the call before. The list is borrowed for
     * the call. After a failure the host hands the policies over again in the next run, and leaves matching and cleanup
     * out of this one.
     * [processor] since 1.0 */
    larder_status (*update_policies)(void *LARDER_NULLABLE context, const larder_policy_list *policies);

    /* Gives the processor the time to bring policies up to date. With LARDER_TRIGGER_ITEMS_CHANGED, `changed` is a
     * stream of the items that were added, updated or removed; a removed item has `removed` set. With every other
     * trigger `changed` is null. The host closes the stream. After a failure the host leaves matching and cleanup out of
     * this run.
     * [processor] since 1.0 */
    larder_status (*preflight)(void *LARDER_NULLABLE context, uint32_t trigger,
                               larder_item_cursor *LARDER_NULLABLE changed);

    /* Begins the main part of the run. This is the time to read the clock or to reset counters. After a failure the host
     * leaves matching and cleanup out of this run: a processor that does not know what it has to keep must fail here.
     * [processor] since 1.0 */
    larder_status (*will_enter_trigger)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Begins matching. Called only if at least one item matches.
     * [processor] since 1.0 */
    larder_status (*begin_matching)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Asks for actions for an item that matches. The item is borrowed for the call. A failure skips this item only.
     * [processor] since 1.0 */
    larder_status (*perform_action)(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item);

    /* Ends matching, after the last item that matches.
     * [processor] since 1.0 */
    larder_status (*end_matching)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Begins cleanup. Called only if at least one item meets the cleanup condition.
     * [processor] since 1.0 */
    larder_status (*begin_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Asks for actions for an item that meets the cleanup condition. The item is borrowed for the call. A failure skips
     * this item only.
     * [processor] since 1.0 */
    larder_status (*perform_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item);

    /* Ends cleanup, after the last item that meets the cleanup condition.
     * [processor] since 1.0 */
    larder_status (*end_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Ends the run for this processor.
     * [processor] since 1.0 */
    larder_status (*did_pass_trigger)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* The greatest number of the processor's actions that may be in progress at a time; 0: any number. With a maximum,
     * the host calls perform_action and perform_cleanup for no more items than there is room for, and not for items
     * whose earlier actions are in progress. It refuses an action beyond the maximum with LARDER_LIMIT. An action that
     * waits for a person, or for more than ten seconds, takes no room; once it may go on, the host holds it until there
     * is room. When about half of the other actions are done and items are left, the host makes another run with
     * LARDER_TRIGGER_SYNC_CAPACITY, which must be in the mask. */
    uint64_t max_records;
} larder_item_policy_processor;

LARDER_END

#endif
/* ext/projects.h: state with steps, undo and redo, "larder.projects/1".
 *
 * A project is a list of steps with a cursor, some bytes of the plugin's own (user data), and a folder of files
 * (assets). Each step has user data and assets too, and never changes. Undo and redo move the cursor. A new step
 * replaces the steps that were undone. A person sees the projects and undoes steps with `larder project`, so a plugin
 * fetches a project before it relies on its own idea of it.
 *
 * WRITES ARE MADE AT ONCE. They are on the disk when the function returns, whatever happens to the current call. Unlike
 * actions, policies, values and records, they are no part of the call's requests. So a call that fails has changed the
 * project all the same, and a call that is repeated after a crash finds the change of the first time. Put into the
 * project's user data, in the same update, whatever tells you how far you came: the event id or the run.
 *
 * Each update is atomic: a reader, also after a crash, finds the project either as it was before or as it is after. In
 * a preview, such as `larder explain`, reads work, and writes return LARDER_DENIED.
 *
 * A plugin sees only the projects that it made for this account, and their copies. They outlive the plugin: the
 * operator deletes them. The quota is for the files of all of the plugin's projects, including assets. A function may
 * wait for a command that writes at the same time.
 *
 * Example:
 *
 *     static larder_status lower_limit(const larder_host *host, const larder_projects *projects, larder_str id) {
 *         static const uint8_t limit[] = "500000";
 *         larder_project_new_step step;
 *         larder_bytes unchanged = {NULL, 0};
 *         larder_str step_id;
 *         memset(&step, 0, sizeof step);
 *         step.struct_size = sizeof step;
 *         step.user_data.ptr = limit;
 *         step.user_data.len = sizeof limit - 1;
 *         return projects->add_step(host, id, &step, unchanged, &step_id);
 *     }
 */
#ifndef LARDER_EXT_PROJECTS_H
#define LARDER_EXT_PROJECTS_H


#define LARDER_EXT_PROJECTS "larder.projects/1"

/* The parts of a project that `fetch` hands out on request. It always hands out the other members. */
#define LARDER_PROJECT_STEPS 0x01u
#define LARDER_PROJECT_USER_DATA 0x02u

/* The order of a list. Without a flag: by creation, the latest first. */
#define LARDER_PROJECTS_BY_MODIFICATION 0x01u
#define LARDER_PROJECTS_OLDEST_FIRST 0x02u

/* The cursor of an update that leaves the number of applied steps as it is. */
#define LARDER_PROJECT_CURSOR_STAYS (-1)

LARDER_BEGIN

/* Ids of projects or steps: "0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6". */
typedef struct larder_project_ids {
    uint32_t struct_size;
    uint32_t reserved;
    const larder_str *LARDER_NULLABLE ids;
    uint64_t count;
} larder_project_ids;

/* A project at the time of the fetch. */
typedef struct larder_project {
    uint32_t struct_size;
    uint32_t can_undo; /* 1: a step is applied */
    uint32_t can_redo; /* 1: a step is not applied */
    uint32_t reserved;
    int64_t created;     /* in nanoseconds since 1970 UTC */
    int64_t modified;    /* the last update, in nanoseconds since 1970 UTC; changes of assets do not count */
    uint64_t cursor;     /* the number of applied steps: the current step is the one before this index */
    uint64_t step_count;
    const larder_str *LARDER_NULLABLE step_ids; /* step_count ids in the steps' order; null unless asked for */
    larder_bytes user_data;                     /* absent unless asked for; empty in a new project */
    larder_str assets;                          /* the path of a folder that the plugin may change in any way */
} larder_project;

/* A step of a project. */
typedef struct larder_project_step {
    uint32_t struct_size;
    uint32_t reserved;
    larder_bytes user_data;
    larder_str assets; /* the path of a folder; empty if the step was added without assets */
} larder_project_step;

/* A step to add. */
typedef struct larder_project_new_step {
    uint32_t struct_size;
    uint32_t reserved;
    larder_bytes user_data; /* at most 16 MiB; absent: empty */
    /* The absolute path of a folder, which the host copies as the step's assets, by reference where the file system can
     * do that. Absent: the step has no assets. The folder stays, and the plugin removes it. It must not lie among the
     * projects, and it must not be, contain or lie in a vault or a folder of local copies. Its symbolic links must be
     * relative and must point to something inside it. */
    larder_str assets_source;
} larder_project_new_step;

/* A change of a project. The host makes it in this order: it adds the new steps at the cursor, deletes steps, and sets
 * the cursor. */
typedef struct larder_project_update {
    uint32_t struct_size;
    uint32_t add_stride; /* the distance from one step of `add` to the next, in bytes */
    int64_t cursor;      /* the number of applied steps after the update, or LARDER_PROJECT_CURSOR_STAYS */
    /* The ids of the steps to delete; null: none. The host ignores ids of steps that the project does not have. */
    const larder_str *LARDER_NULLABLE delete_ids;
    uint64_t delete_count;
    const void *LARDER_NULLABLE add; /* steps to add, larder_project_new_step, in their order; null: none */
    uint64_t add_count;
    larder_bytes user_data; /* replaces the project's user data, at most 16 MiB; absent: the user data stays */
    /* The value of `modified` that the plugin fetched: the host makes the update only if the project still has it. 0:
     * the host makes the update in any case. */
    int64_t if_modified;
} larder_project_update;

/* The room that the plugin's projects take. */
typedef struct larder_project_usage {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t bytes; /* the total size of all files of the plugin's projects */
    uint64_t quota; /* the greatest total size */
} larder_project_usage;

/* The projects service. Everything that a function hands out is borrowed until the current call returns. Set the
 * struct_size of a struct before a function fills it. An update may name at most 10,000 steps to delete and 10,000 to
 * add. An id that is no project's, or that of another plugin's or account's project, leads to LARDER_NOT_FOUND. */
typedef struct larder_projects {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the ids of the plugin's projects. `order` is a set of LARDER_PROJECTS_…. Returns LARDER_IO.
     * [any] since 1.0 */
    larder_status (*list)(const larder_host *host, uint32_t order, larder_project_ids *out);

    /* Fills `*out` with a project as it is now. `parts` is a set of LARDER_PROJECT_STEPS and LARDER_PROJECT_USER_DATA.
     * Returns LARDER_NOT_FOUND (no such project) or LARDER_IO (the project cannot be read, or is damaged).
     * [any] since 1.0 */
    larder_status (*fetch)(const larder_host *host, larder_str id, uint32_t parts, larder_project *out);

    /* Fills `*out` with a step. `id` is that of the project, `step` that of the step. Returns LARDER_NOT_FOUND (no such
     * project, or the project has no such step) or LARDER_IO.
     * [any] since 1.0 */
    larder_status (*fetch_step)(const larder_host *host, larder_str id, larder_str step, larder_project_step *out);

    /* Fills `*out` with the room that the plugin's projects take. It inspects each of their files. Returns LARDER_IO.
     * [any] since 1.0 */
    larder_status (*usage)(const larder_host *host, larder_project_usage *out);

    /* Creates a project without steps and user data, and sets `*out` to its id. Each call creates another project. This
     * function and all below are not allowed in a loop's poll and on_error. Returns LARDER_LIMIT (the quota is
     * reached), LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*create)(const larder_host *host, larder_str *out);

    /* Makes an update, all of it or nothing, and fills `*out` with the ids of the added steps. The quota does not stop
     * an update that makes the projects no larger. Returns LARDER_NOT_FOUND, LARDER_INVALID_ARGUMENT (a cursor beyond
     * the steps, or a source of assets that cannot be used), LARDER_CONFLICT (the project no longer has if_modified),
     * LARDER_LIMIT (the quota, more than 10,000 steps, or more than 16 MiB of user data), LARDER_DENIED (a preview) or
     * LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*update)(const larder_host *host, larder_str id, const larder_project_update *update,
                            larder_project_ids *out);

    /* Adds a step after the current one, makes it the current step, sets `*out` to its id, and deletes the steps that
     * were undone. `user_data` replaces the project's user data in the same update; absent: the user data stays. The
     * step is added to the project as it is now, whatever somebody else changed before. Returns the statuses of
     * `update`, but never LARDER_CONFLICT.
     * [processor] [loop] since 1.0 */
    larder_status (*add_step)(const larder_host *host, larder_str id, const larder_project_new_step *step,
                              larder_bytes user_data, larder_str *out);

    /* Moves the cursor one step back. Returns LARDER_NOT_FOUND (no such project, or no step is applied), LARDER_DENIED
     * (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*undo)(const larder_host *host, larder_str id);

    /* Moves the cursor one step forward. Returns LARDER_NOT_FOUND (no such project, or all steps are applied),
     * LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*redo)(const larder_host *host, larder_str id);

    /* Copies a project with its steps, cursor, user data and assets, and sets `*out` to the copy's id. The copy has
     * dates of its own, and its steps have the ids of the original's. Returns LARDER_NOT_FOUND, LARDER_LIMIT (the quota
     * is reached), LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*duplicate)(const larder_host *host, larder_str id, larder_str *out);

    /* Removes a project with everything in it, for good. Returns LARDER_NOT_FOUND (no such project, or it was removed
     * already), LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str id);
} larder_projects;

LARDER_END

#endif
/* ext/records.h: the records that event loops keep, "larder.records/1".
 *
 * A record has a key that is unique in its collection, a version, a value for programs, and perhaps a content, which is
 * the thing itself. The things that belong to one record lie in a collection of their own, whose name is made of the
 * record's collection, a slash and the record's key: the objects of the calendar "/ada/work/" in "calendars" lie in
 * "calendars//ada/work/". That collection is removed with the record.
 *
 * The host notes changes in process and refresh, and makes them when it commits the turn, together with the event id.
 * `get` sees the earlier requests of the same turn. A cursor shows the records at the start of the turn.
 *
 * All records that a plugin's loops keep in an account, with their keys, versions, values and contents, may take as much
 * as the config's record-quota says: 1 GB as a rule. After a record was refused because it would go above that, the host
 * lets the turn fail with LARDER_LIMIT, whatever the call returns. Nothing of the turn is kept, neither records nor
 * values nor the event id, so that the loop comes to the same events again and misses none. An issue names the plugin and
 * the setting. Records may still be removed, and replaced by ones that are not longer.
 *
 * Since 1.2 a processor may read all records too, in the state in which it sees the items of its run, and gets
 * LARDER_TRIGGER_RECORDS_CHANGED after they have changed. It changes none. A host before 1.2 refuses its calls with
 * LARDER_WRONG_STATE.
 *
 * Programs know these collections: "calendars" (value: name, href, components), a calendar's own collection (value:
 * uid, component, summary, start, end, rrule; content: iCalendar), which the host also writes as files, "shares" and
 * "account".
 *
 * Example:
 *
 *     static larder_status keep(const larder_host *host, const larder_records *records, larder_str etag) {
 *         larder_record record;
 *         memset(&record, 0, sizeof record);
 *         record.struct_size = sizeof record;
 *         record.key = LARDER_STR("headline-7");
 *         record.version = etag;
 *         record.value = LARDER_STR("{\"title\": \"Rain\"}");
 *         return records->put(host, LARDER_STR("org.example.headlines"), &record);
 *     }
 */
#ifndef LARDER_EXT_RECORDS_H
#define LARDER_EXT_RECORDS_H


#define LARDER_EXT_RECORDS "larder.records/1"

/* The parts of a record that a function reads. It always reads the key. */
#define LARDER_RECORD_VERSION 0x01u
#define LARDER_RECORD_VALUE 0x02u
#define LARDER_RECORD_CONTENT 0x04u

LARDER_BEGIN

/* A record. */
typedef struct larder_record {
    uint32_t struct_size;
    uint32_t reserved;
    larder_str key;       /* a path or an id; not empty, at most 4 KiB */
    larder_str version;   /* the server's version, such as an ETag; may be empty */
    larder_str value;     /* a JSON object, or empty if there is nothing to tell yet; at most 1 MiB */
    larder_bytes content; /* absent: the record has none, or the plugin did not ask for it */
} larder_record;

/* A stream of records in the order of their keys' bytes. */
typedef struct larder_record_cursor larder_record_cursor;

struct larder_record_cursor {
    uint32_t struct_size;
    uint32_t reserved;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the next record, or to null past the last record. Called again past the last record, it sets null
     * again. The record is borrowed until the next `next` or `close` of this cursor. Returns LARDER_CANCELLED (the call
     * should end) or LARDER_IO (the records cannot be read); the cursor is then at its end.
     * [processor] [loop] since 1.0 */
    larder_status (*next)(larder_record_cursor *cursor, const larder_record *LARDER_NULLABLE *LARDER_NONNULL out);
};

/* The records service. `collection` is the name of a collection. `parts` is a set of LARDER_RECORD_…. */
typedef struct larder_records {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the asked parts of the record with this key. Set out->struct_size before. Everything that
     * `*out` points to is borrowed until the current call returns. Returns LARDER_NOT_FOUND (no such record) or
     * LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*get)(const larder_host *host, larder_str collection, larder_str key, uint32_t parts,
                         larder_record *out);

    /* Opens a cursor over a collection's records, and sets `*out` to it. If `after` is present, the cursor shows only
     * the records with a greater key. The cursor of a collection that does not exist is empty. At most 16 cursors may
     * be open at a time. The plugin closes the cursor; the host closes cursors that are still open when the current
     * call returns. Returns LARDER_LIMIT (16 cursors are open) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, larder_str collection, larder_str after, uint32_t parts,
                          larder_record_cursor *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes a cursor of `open`, and frees it.
     * [processor] [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_record_cursor *cursor);

    /* Asks for a record as given, in place of the record with its key if there is one. The host copies all of it. Not
     * allowed in poll and on_error. Returns LARDER_DENIED (another loop's collection, or in a processor), LARDER_LIMIT
     * (more than 16 MiB in the turn, a member that is larger than larder_record allows, or more than the config's
     * record-quota for all records of the plugin's loops: the turn then fails) or LARDER_INVALID_ARGUMENT (an empty key,
     * or a value that is not a JSON object).
     * [processor] [loop] since 1.0 */
    larder_status (*put)(const larder_host *host, larder_str collection, const larder_record *record);

    /* Asks for the removal of the record with this key and of everything that belongs to it. A record that does not
     * exist is no error. Not allowed in poll and on_error. Returns LARDER_DENIED (another loop's collection, or in a
     * processor), LARDER_LIMIT (a key above 4 KiB, or more than 16 MiB in the turn) or LARDER_INVALID_ARGUMENT (an
     * empty key).
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str collection, larder_str key);
} larder_records;

LARDER_END

#endif
/* ext/usage.h: the room that local copies take, and the room that is left, "larder.usage/1".
 *
 * This service is for a plugin that keeps the local copies below a size, or keeps some of the disk free.
 *
 * Advice to plugins: ask once in a run, in will_enter_trigger. The figures do not include the requests of the run,
 * which are not carried out yet: add up the sizes of the copies that you ask to be removed.
 *
 * Example:
 *
 *     static larder_status is_nearly_full(const larder_host *host, const larder_usage *usage, int *out) {
 *         larder_usage_figures figures;
 *         larder_status status;
 *         figures.struct_size = sizeof figures;
 *         status = usage->read(host, &figures);
 *         if (status == LARDER_OK) *out = figures.free_bytes < figures.total_bytes / 10;
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_USAGE_H
#define LARDER_EXT_USAGE_H


#define LARDER_EXT_USAGE "larder.usage/1"

LARDER_BEGIN

/* Sizes and counts at one moment. */
typedef struct larder_usage_figures {
    uint32_t struct_size;
    uint32_t reserved;
    /* The total recorded size in bytes of the files that are here as a version of the server's, including those with
     * local changes; and the number of these files. Both are as of the start of the run. Copies whose removal was
     * requested before and waits for nothing count as gone. */
    int64_t local_bytes;
    int64_t local_copies;
    /* The file system of the local copies, in bytes, now: the room that the host's user may still fill, plus the room
     * of the copies that are about to be removed; and the total size. */
    int64_t free_bytes;
    int64_t total_bytes;
} larder_usage_figures;

/* The usage service. */
typedef struct larder_usage {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the figures. Set out->struct_size before. The first two figures stay the same during a run.
     * Returns LARDER_IO (the folder of the local copies cannot be reached).
     * [processor] since 1.0 */
    larder_status (*read)(const larder_host *host, larder_usage_figures *out);
} larder_usage;

LARDER_END

#endif

#endif
/* layout.h: assertions of every size and offset of the ABI.
 *
 * larder.h does not include this header. Include it once in a plugin's sources, or translate it to the assertions of
 * another language, to check that your compiler lays the structs out as the host's did. A line here never changes; new
 * members get new lines. The sizes are those of the newest version: a received struct may be smaller or larger.
 */
#ifndef LARDER_LAYOUT_H
#define LARDER_LAYOUT_H


#if defined(__cplusplus)
#define LARDER_ASSERT(name, condition) static_assert(condition, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define LARDER_ASSERT(name, condition) _Static_assert(condition, #name)
#else
#define LARDER_ASSERT(name, condition) typedef char larder_assert_##name[(condition) ? 1 : -1]
#endif

#define LARDER_ASSERT_SIZE(type, size) LARDER_ASSERT(type, sizeof(type) == (size))
#define LARDER_ASSERT_OFFSET(type, member, offset) LARDER_ASSERT(type##_##member, offsetof(type, member) == (offset))

LARDER_ASSERT(pointers_have_64_bits, sizeof(void *) == 8);
LARDER_ASSERT(function_pointers_are_pointers, sizeof(void (*)(void)) == sizeof(void *));

LARDER_ASSERT_SIZE(larder_str, 16);
LARDER_ASSERT_OFFSET(larder_str, ptr, 0);
LARDER_ASSERT_OFFSET(larder_str, len, 8);

LARDER_ASSERT_SIZE(larder_bytes, 16);
LARDER_ASSERT_OFFSET(larder_bytes, ptr, 0);
LARDER_ASSERT_OFFSET(larder_bytes, len, 8);

LARDER_ASSERT_SIZE(larder_host, 32);
LARDER_ASSERT_OFFSET(larder_host, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_host, abi_minor, 4);
LARDER_ASSERT_OFFSET(larder_host, context, 8);
LARDER_ASSERT_OFFSET(larder_host, extension, 16);
LARDER_ASSERT_OFFSET(larder_host, fail, 24);

LARDER_ASSERT_SIZE(larder_descriptor, 120);
LARDER_ASSERT_OFFSET(larder_descriptor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_descriptor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_descriptor, id, 8);
LARDER_ASSERT_OFFSET(larder_descriptor, name, 24);
LARDER_ASSERT_OFFSET(larder_descriptor, version, 40);
LARDER_ASSERT_OFFSET(larder_descriptor, vendor, 56);
LARDER_ASSERT_OFFSET(larder_descriptor, summary, 72);
LARDER_ASSERT_OFFSET(larder_descriptor, required, 88);
LARDER_ASSERT_OFFSET(larder_descriptor, wanted, 104);

LARDER_ASSERT_SIZE(larder_instance, 48);
LARDER_ASSERT_OFFSET(larder_instance, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_instance, reserved, 4);
LARDER_ASSERT_OFFSET(larder_instance, context, 8);
LARDER_ASSERT_OFFSET(larder_instance, start, 16);
LARDER_ASSERT_OFFSET(larder_instance, stop, 24);
LARDER_ASSERT_OFFSET(larder_instance, destroy, 32);
LARDER_ASSERT_OFFSET(larder_instance, extension, 40);

LARDER_ASSERT_SIZE(larder_module, 24);
LARDER_ASSERT_OFFSET(larder_module, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_module, abi_minor, 4);
LARDER_ASSERT_OFFSET(larder_module, describe, 8);
LARDER_ASSERT_OFFSET(larder_module, create, 16);

LARDER_ASSERT_SIZE(larder_item, 264);
LARDER_ASSERT_OFFSET(larder_item, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_item, reserved, 4);
LARDER_ASSERT_OFFSET(larder_item, present, 8);
LARDER_ASSERT_OFFSET(larder_item, path, 16);
LARDER_ASSERT_OFFSET(larder_item, name, 32);
LARDER_ASSERT_OFFSET(larder_item, mime_type, 48);
LARDER_ASSERT_OFFSET(larder_item, etag, 64);
LARDER_ASSERT_OFFSET(larder_item, file_id, 80);
LARDER_ASSERT_OFFSET(larder_item, local_id, 96);
LARDER_ASSERT_OFFSET(larder_item, download_trigger, 112);
LARDER_ASSERT_OFFSET(larder_item, parent_path, 128);
LARDER_ASSERT_OFFSET(larder_item, owner, 144);
LARDER_ASSERT_OFFSET(larder_item, permissions, 160);
LARDER_ASSERT_OFFSET(larder_item, local_path, 176);
LARDER_ASSERT_OFFSET(larder_item, shares, 192);
LARDER_ASSERT_OFFSET(larder_item, size, 208);
LARDER_ASSERT_OFFSET(larder_item, last_modified, 216);
LARDER_ASSERT_OFFSET(larder_item, last_used, 224);
LARDER_ASSERT_OFFSET(larder_item, type, 232);
LARDER_ASSERT_OFFSET(larder_item, cloud_status, 236);
LARDER_ASSERT_OFFSET(larder_item, removed, 240);
LARDER_ASSERT_OFFSET(larder_item, favorite, 244);
LARDER_ASSERT_OFFSET(larder_item, remote_version, 248);
LARDER_ASSERT_OFFSET(larder_item, available_offline, 252);
LARDER_ASSERT_OFFSET(larder_item, sync_activity, 256);
LARDER_ASSERT_OFFSET(larder_item, claims, 260);

LARDER_ASSERT_SIZE(larder_item_cursor, 24);
LARDER_ASSERT_OFFSET(larder_item_cursor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_item_cursor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_item_cursor, context, 8);
LARDER_ASSERT_OFFSET(larder_item_cursor, next, 16);

LARDER_ASSERT_SIZE(larder_policy, 160);
LARDER_ASSERT_OFFSET(larder_policy, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_policy, reserved, 4);
LARDER_ASSERT_OFFSET(larder_policy, revision, 8);
LARDER_ASSERT_OFFSET(larder_policy, id, 16);
LARDER_ASSERT_OFFSET(larder_policy, kind, 32);
LARDER_ASSERT_OFFSET(larder_policy, identifier, 48);
LARDER_ASSERT_OFFSET(larder_policy, description, 64);
LARDER_ASSERT_OFFSET(larder_policy, condition, 80);
LARDER_ASSERT_OFFSET(larder_policy, path, 96);
LARDER_ASSERT_OFFSET(larder_policy, local_id, 112);
LARDER_ASSERT_OFFSET(larder_policy, remove_when_none, 128);
LARDER_ASSERT_OFFSET(larder_policy, data, 144);

LARDER_ASSERT_SIZE(larder_policy_list, 24);
LARDER_ASSERT_OFFSET(larder_policy_list, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_policy_list, stride, 4);
LARDER_ASSERT_OFFSET(larder_policy_list, policies, 8);
LARDER_ASSERT_OFFSET(larder_policy_list, count, 16);

LARDER_ASSERT_SIZE(larder_item_policy_processor, 152);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, kind, 8);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, fields, 24);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, triggers, 32);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, policy_condition, 40);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, match_condition, 48);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, cleanup_condition, 56);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, update_policies, 64);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, preflight, 72);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, will_enter_trigger, 80);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, begin_matching, 88);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, perform_action, 96);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, end_matching, 104);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, begin_cleanup, 112);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, perform_cleanup, 120);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, end_cleanup, 128);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, did_pass_trigger, 136);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, max_records, 144);

LARDER_ASSERT_SIZE(larder_config_schema, 16);
LARDER_ASSERT_OFFSET(larder_config_schema, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_config_schema, reserved, 4);
LARDER_ASSERT_OFFSET(larder_config_schema, schema, 8);

LARDER_ASSERT_SIZE(larder_explain, 16);
LARDER_ASSERT_OFFSET(larder_explain, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_explain, reserved, 4);
LARDER_ASSERT_OFFSET(larder_explain, explain, 8);

LARDER_ASSERT_SIZE(larder_log, 16);
LARDER_ASSERT_OFFSET(larder_log, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_log, reserved, 4);
LARDER_ASSERT_OFFSET(larder_log, write, 8);

LARDER_ASSERT_SIZE(larder_config, 16);
LARDER_ASSERT_OFFSET(larder_config, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_config, reserved, 4);
LARDER_ASSERT_OFFSET(larder_config, settings, 8);

LARDER_ASSERT_SIZE(larder_clock, 24);
LARDER_ASSERT_OFFSET(larder_clock, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_clock, reserved, 4);
LARDER_ASSERT_OFFSET(larder_clock, now, 8);
LARDER_ASSERT_OFFSET(larder_clock, monotonic, 16);

LARDER_ASSERT_SIZE(larder_query, 48);
LARDER_ASSERT_OFFSET(larder_query, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_query, reserved, 4);
LARDER_ASSERT_OFFSET(larder_query, condition, 8);
LARDER_ASSERT_OFFSET(larder_query, fields, 24);
LARDER_ASSERT_OFFSET(larder_query, sort, 32);
LARDER_ASSERT_OFFSET(larder_query, flags, 36);
LARDER_ASSERT_OFFSET(larder_query, limit, 40);

LARDER_ASSERT_SIZE(larder_items, 24);
LARDER_ASSERT_OFFSET(larder_items, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_items, reserved, 4);
LARDER_ASSERT_OFFSET(larder_items, open, 8);
LARDER_ASSERT_OFFSET(larder_items, close, 16);

LARDER_ASSERT_SIZE(larder_actions, 88);
LARDER_ASSERT_OFFSET(larder_actions, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_actions, reserved, 4);
LARDER_ASSERT_OFFSET(larder_actions, download, 8);
LARDER_ASSERT_OFFSET(larder_actions, remove_local_copy, 16);
LARDER_ASSERT_OFFSET(larder_actions, purge, 24);
LARDER_ASSERT_OFFSET(larder_actions, look, 32);
LARDER_ASSERT_OFFSET(larder_actions, create_folder, 40);
LARDER_ASSERT_OFFSET(larder_actions, move, 48);
LARDER_ASSERT_OFFSET(larder_actions, copy, 56);
LARDER_ASSERT_OFFSET(larder_actions, remove_from_server, 64);
LARDER_ASSERT_OFFSET(larder_actions, set_favorite, 72);
LARDER_ASSERT_OFFSET(larder_actions, upload, 80);

LARDER_ASSERT_SIZE(larder_policies, 40);
LARDER_ASSERT_OFFSET(larder_policies, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_policies, reserved, 4);
LARDER_ASSERT_OFFSET(larder_policies, list, 8);
LARDER_ASSERT_OFFSET(larder_policies, add, 16);
LARDER_ASSERT_OFFSET(larder_policies, update, 24);
LARDER_ASSERT_OFFSET(larder_policies, remove, 32);

LARDER_ASSERT_SIZE(larder_kv, 32);
LARDER_ASSERT_OFFSET(larder_kv, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_kv, reserved, 4);
LARDER_ASSERT_OFFSET(larder_kv, get, 8);
LARDER_ASSERT_OFFSET(larder_kv, put, 16);
LARDER_ASSERT_OFFSET(larder_kv, remove, 24);

LARDER_ASSERT_SIZE(larder_usage_figures, 40);
LARDER_ASSERT_OFFSET(larder_usage_figures, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_usage_figures, reserved, 4);
LARDER_ASSERT_OFFSET(larder_usage_figures, local_bytes, 8);
LARDER_ASSERT_OFFSET(larder_usage_figures, local_copies, 16);
LARDER_ASSERT_OFFSET(larder_usage_figures, free_bytes, 24);
LARDER_ASSERT_OFFSET(larder_usage_figures, total_bytes, 32);

LARDER_ASSERT_SIZE(larder_usage, 16);
LARDER_ASSERT_OFFSET(larder_usage, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_usage, reserved, 4);
LARDER_ASSERT_OFFSET(larder_usage, read, 8);

LARDER_ASSERT_SIZE(larder_cancel, 24);
LARDER_ASSERT_OFFSET(larder_cancel, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_cancel, reserved, 4);
LARDER_ASSERT_OFFSET(larder_cancel, check, 8);
LARDER_ASSERT_OFFSET(larder_cancel, deadline, 16);

LARDER_ASSERT_SIZE(larder_loop, 40);
LARDER_ASSERT_OFFSET(larder_loop, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_loop, reserved, 4);
LARDER_ASSERT_OFFSET(larder_loop, id, 8);
LARDER_ASSERT_OFFSET(larder_loop, event_id, 24);

LARDER_ASSERT_SIZE(larder_event_page, 40);
LARDER_ASSERT_OFFSET(larder_event_page, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_event_page, refresh, 4);
LARDER_ASSERT_OFFSET(larder_event_page, more, 8);
LARDER_ASSERT_OFFSET(larder_event_page, reserved, 12);
LARDER_ASSERT_OFFSET(larder_event_page, event_id, 16);
LARDER_ASSERT_OFFSET(larder_event_page, content, 32);

LARDER_ASSERT_SIZE(larder_loop_error, 32);
LARDER_ASSERT_OFFSET(larder_loop_error, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_loop_error, code, 4);
LARDER_ASSERT_OFFSET(larder_loop_error, status, 8);
LARDER_ASSERT_OFFSET(larder_loop_error, reserved, 12);
LARDER_ASSERT_OFFSET(larder_loop_error, message, 16);

LARDER_ASSERT_SIZE(larder_event_loop, 88);
LARDER_ASSERT_OFFSET(larder_event_loop, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_event_loop, refresh_bits, 4);
LARDER_ASSERT_OFFSET(larder_event_loop, kind, 8);
LARDER_ASSERT_OFFSET(larder_event_loop, collection, 24);
LARDER_ASSERT_OFFSET(larder_event_loop, hints, 40);
LARDER_ASSERT_OFFSET(larder_event_loop, reserved, 44);
LARDER_ASSERT_OFFSET(larder_event_loop, poll, 48);
LARDER_ASSERT_OFFSET(larder_event_loop, process, 56);
LARDER_ASSERT_OFFSET(larder_event_loop, refresh, 64);
LARDER_ASSERT_OFFSET(larder_event_loop, on_error, 72);
LARDER_ASSERT_OFFSET(larder_event_loop, release_page, 80);

LARDER_ASSERT_SIZE(larder_record, 72);
LARDER_ASSERT_OFFSET(larder_record, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_record, reserved, 4);
LARDER_ASSERT_OFFSET(larder_record, key, 8);
LARDER_ASSERT_OFFSET(larder_record, version, 24);
LARDER_ASSERT_OFFSET(larder_record, value, 40);
LARDER_ASSERT_OFFSET(larder_record, content, 56);

LARDER_ASSERT_SIZE(larder_record_cursor, 24);
LARDER_ASSERT_OFFSET(larder_record_cursor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_record_cursor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_record_cursor, context, 8);
LARDER_ASSERT_OFFSET(larder_record_cursor, next, 16);

LARDER_ASSERT_SIZE(larder_records, 48);
LARDER_ASSERT_OFFSET(larder_records, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_records, reserved, 4);
LARDER_ASSERT_OFFSET(larder_records, get, 8);
LARDER_ASSERT_OFFSET(larder_records, open, 16);
LARDER_ASSERT_OFFSET(larder_records, close, 24);
LARDER_ASSERT_OFFSET(larder_records, put, 32);
LARDER_ASSERT_OFFSET(larder_records, remove, 40);

LARDER_ASSERT_SIZE(larder_http_header, 32);
LARDER_ASSERT_OFFSET(larder_http_header, name, 0);
LARDER_ASSERT_OFFSET(larder_http_header, value, 16);

LARDER_ASSERT_SIZE(larder_http_request, 72);
LARDER_ASSERT_OFFSET(larder_http_request, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_http_request, header_stride, 4);
LARDER_ASSERT_OFFSET(larder_http_request, method, 8);
LARDER_ASSERT_OFFSET(larder_http_request, target, 24);
LARDER_ASSERT_OFFSET(larder_http_request, headers, 40);
LARDER_ASSERT_OFFSET(larder_http_request, header_count, 48);
LARDER_ASSERT_OFFSET(larder_http_request, body, 56);

LARDER_ASSERT_SIZE(larder_http_answer, 32);
LARDER_ASSERT_OFFSET(larder_http_answer, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_http_answer, status, 4);
LARDER_ASSERT_OFFSET(larder_http_answer, context, 8);
LARDER_ASSERT_OFFSET(larder_http_answer, header, 16);
LARDER_ASSERT_OFFSET(larder_http_answer, read, 24);

LARDER_ASSERT_SIZE(larder_http, 24);
LARDER_ASSERT_OFFSET(larder_http, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_http, reserved, 4);
LARDER_ASSERT_OFFSET(larder_http, open, 8);
LARDER_ASSERT_OFFSET(larder_http, close, 16);

LARDER_ASSERT_SIZE(larder_dav_request, 80);
LARDER_ASSERT_OFFSET(larder_dav_request, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_request, depth, 4);
LARDER_ASSERT_OFFSET(larder_dav_request, method, 8);
LARDER_ASSERT_OFFSET(larder_dav_request, target, 24);
LARDER_ASSERT_OFFSET(larder_dav_request, body, 40);
LARDER_ASSERT_OFFSET(larder_dav_request, properties, 56);
LARDER_ASSERT_OFFSET(larder_dav_request, property_count, 64);
LARDER_ASSERT_OFFSET(larder_dav_request, flags, 72);
LARDER_ASSERT_OFFSET(larder_dav_request, reserved, 76);

LARDER_ASSERT_SIZE(larder_dav_response, 56);
LARDER_ASSERT_OFFSET(larder_dav_response, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_response, status, 4);
LARDER_ASSERT_OFFSET(larder_dav_response, href, 8);
LARDER_ASSERT_OFFSET(larder_dav_response, values, 24);
LARDER_ASSERT_OFFSET(larder_dav_response, value_count, 32);
LARDER_ASSERT_OFFSET(larder_dav_response, error, 40);

LARDER_ASSERT_SIZE(larder_dav_end, 40);
LARDER_ASSERT_OFFSET(larder_dav_end, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_end, truncated, 4);
LARDER_ASSERT_OFFSET(larder_dav_end, sync_token, 8);
LARDER_ASSERT_OFFSET(larder_dav_end, error, 24);

LARDER_ASSERT_SIZE(larder_dav_answer, 32);
LARDER_ASSERT_OFFSET(larder_dav_answer, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_answer, status, 4);
LARDER_ASSERT_OFFSET(larder_dav_answer, context, 8);
LARDER_ASSERT_OFFSET(larder_dav_answer, next, 16);
LARDER_ASSERT_OFFSET(larder_dav_answer, end, 24);

LARDER_ASSERT_SIZE(larder_dav, 24);
LARDER_ASSERT_OFFSET(larder_dav, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav, reserved, 4);
LARDER_ASSERT_OFFSET(larder_dav, open, 8);
LARDER_ASSERT_OFFSET(larder_dav, close, 16);

LARDER_ASSERT_SIZE(larder_discovery, 40);
LARDER_ASSERT_OFFSET(larder_discovery, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_discovery, reserved, 4);
LARDER_ASSERT_OFFSET(larder_discovery, principal, 8);
LARDER_ASSERT_OFFSET(larder_discovery, homes, 24);
LARDER_ASSERT_OFFSET(larder_discovery, home_count, 32);

LARDER_ASSERT_SIZE(larder_discover, 16);
LARDER_ASSERT_OFFSET(larder_discover, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_discover, reserved, 4);
LARDER_ASSERT_OFFSET(larder_discover, find, 8);

LARDER_ASSERT_SIZE(larder_project_ids, 24);
LARDER_ASSERT_OFFSET(larder_project_ids, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_ids, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_ids, ids, 8);
LARDER_ASSERT_OFFSET(larder_project_ids, count, 16);

LARDER_ASSERT_SIZE(larder_project, 88);
LARDER_ASSERT_OFFSET(larder_project, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project, can_undo, 4);
LARDER_ASSERT_OFFSET(larder_project, can_redo, 8);
LARDER_ASSERT_OFFSET(larder_project, reserved, 12);
LARDER_ASSERT_OFFSET(larder_project, created, 16);
LARDER_ASSERT_OFFSET(larder_project, modified, 24);
LARDER_ASSERT_OFFSET(larder_project, cursor, 32);
LARDER_ASSERT_OFFSET(larder_project, step_count, 40);
LARDER_ASSERT_OFFSET(larder_project, step_ids, 48);
LARDER_ASSERT_OFFSET(larder_project, user_data, 56);
LARDER_ASSERT_OFFSET(larder_project, assets, 72);

LARDER_ASSERT_SIZE(larder_project_step, 40);
LARDER_ASSERT_OFFSET(larder_project_step, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_step, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_step, user_data, 8);
LARDER_ASSERT_OFFSET(larder_project_step, assets, 24);

LARDER_ASSERT_SIZE(larder_project_new_step, 40);
LARDER_ASSERT_OFFSET(larder_project_new_step, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_new_step, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_new_step, user_data, 8);
LARDER_ASSERT_OFFSET(larder_project_new_step, assets_source, 24);

LARDER_ASSERT_SIZE(larder_project_update, 72);
LARDER_ASSERT_OFFSET(larder_project_update, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_update, add_stride, 4);
LARDER_ASSERT_OFFSET(larder_project_update, cursor, 8);
LARDER_ASSERT_OFFSET(larder_project_update, delete_ids, 16);
LARDER_ASSERT_OFFSET(larder_project_update, delete_count, 24);
LARDER_ASSERT_OFFSET(larder_project_update, add, 32);
LARDER_ASSERT_OFFSET(larder_project_update, add_count, 40);
LARDER_ASSERT_OFFSET(larder_project_update, user_data, 48);
LARDER_ASSERT_OFFSET(larder_project_update, if_modified, 64);

LARDER_ASSERT_SIZE(larder_project_usage, 24);
LARDER_ASSERT_OFFSET(larder_project_usage, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_usage, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_usage, bytes, 8);
LARDER_ASSERT_OFFSET(larder_project_usage, quota, 16);

LARDER_ASSERT_SIZE(larder_projects, 96);
LARDER_ASSERT_OFFSET(larder_projects, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_projects, reserved, 4);
LARDER_ASSERT_OFFSET(larder_projects, list, 8);
LARDER_ASSERT_OFFSET(larder_projects, fetch, 16);
LARDER_ASSERT_OFFSET(larder_projects, fetch_step, 24);
LARDER_ASSERT_OFFSET(larder_projects, usage, 32);
LARDER_ASSERT_OFFSET(larder_projects, create, 40);
LARDER_ASSERT_OFFSET(larder_projects, update, 48);
LARDER_ASSERT_OFFSET(larder_projects, add_step, 56);
LARDER_ASSERT_OFFSET(larder_projects, undo, 64);
LARDER_ASSERT_OFFSET(larder_projects, redo, 72);
LARDER_ASSERT_OFFSET(larder_projects, duplicate, 80);
LARDER_ASSERT_OFFSET(larder_projects, remove, 88);

#endif
/* single.h: a library that holds one plugin.
 *
 * Every library with one plugin has the same code between the plugin's own functions and the entry function: a
 * descriptor, a module, an instance with a struct behind it, and a search for a name. LARDER_SINGLE makes all of that.
 * The author writes a struct, a start function, and a table of what the plugin offers.
 *
 * larder.h does not include this header: a plugin can do without it, and a library with several plugins must. Nothing
 * in it is part of the ABI. Besides the ABI's headers it needs <stdlib.h> and <string.h>, and in C++ also
 * <type_traits>.
 *
 * Example:
 *
 *     struct archive {
 *         larder_instance instance;
 *         const larder_host *host;
 *         const larder_actions *actions;
 *     };
 *
 *     // The table of ext/processor.h, in another file.
 *     extern const larder_item_policy_processor processor;
 *
 *     static larder_status start(void *context) {
 *         struct archive *self = (struct archive *)context;
 *         self->actions = (const larder_actions *)self->host->extension(self->host, LARDER_STR(LARDER_EXT_ACTIONS));
 *         return self->actions ? LARDER_OK : LARDER_UNSUPPORTED;
 *     }
 *
 *     static const larder_offer offers[] = {{LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}};
 *
 *     LARDER_SINGLE(struct archive, start, larder_no_stop, offers,
 *                   "org.example.archive", "Archive", "1.4.2",
 *                   "Example Ltd", "Keeps files that are older than five years",
 *                   LARDER_EXT_ACTIONS " " LARDER_EXT_CLOCK, LARDER_EXT_LOG);
 */
#ifndef LARDER_SINGLE_H
#define LARDER_SINGLE_H


#include <stdlib.h>
#include <string.h>
#if defined(__cplusplus)
#include <type_traits>
#endif

/* Makes the initializer of a larder_str of a literal, for a table: {sizeof processor, 0, LARDER_TEXT("archive"), ...}.
 * An empty literal makes an absent text. Use LARDER_STR in functions. */
#define LARDER_TEXT(literal) {sizeof(literal) > 1 ? "" literal : NULL, sizeof(literal) - 1}

/* Defines the one plugin of a library. Write it once in all of the library's files, below the definitions of its
 * arguments:
 *
 *   type       The struct of an instance. All of the plugin's functions get a pointer to it as their context. It has
 *   the
 *              members `larder_instance instance` and `const larder_host *host`, in any place. Before start both are
 *              set, and all other members are zero. `destroy` frees it. In C++ it has neither constructor nor
 *              destructor.
 *   start      The functions `start` and `stop` of larder_instance. Release in stop what start acquired. A plugin that
 *   stop       needs none of the two passes larder_no_start or larder_no_stop.
 *   offers     An array of larder_offer: the features that every instance offers.
 *   id         The members of larder_descriptor with these names, as literals. An empty literal is an absent text.
 *   name
 *   version
 *   vendor
 *   summary
 *   required
 *   wanted
 *
 * `create` returns LARDER_LIMIT if there is no memory for an instance. The plugin works with hosts of all minor
 * versions: a member that an older host lacks is missing from the tables that the plugin asks for. */
#define LARDER_SINGLE(type_, start_, stop_, offers_, id_, name_, version_, vendor_, summary_, required_, wanted_)      \
    LARDER_SINGLE_IS_PLAIN(type_)                                                                                      \
    static const larder_descriptor larder_single_descriptor = {                                                        \
        sizeof(larder_descriptor), 0, LARDER_TEXT(id_), LARDER_TEXT(name_), LARDER_TEXT(version_),                     \
        LARDER_TEXT(vendor_), LARDER_TEXT(summary_), LARDER_TEXT(required_), LARDER_TEXT(wanted_)};                    \
    static const larder_descriptor *larder_single_describe(uint32_t index) {                                           \
        return index == 0 ? &larder_single_descriptor : NULL;                                                          \
    }                                                                                                                  \
    static const void *larder_single_extension(void *context, larder_str name) {                                       \
        (void)context;                                                                                                 \
        return larder_single_find(offers_, sizeof(offers_) / sizeof(larder_offer), name);                              \
    }                                                                                                                  \
    static larder_status larder_single_create(larder_str id, const larder_host *host, const larder_instance **out) {   \
        type_ *made;                                                                                                   \
        if (!larder_single_same(id, larder_single_descriptor.id)) return LARDER_NOT_FOUND;                             \
        made = (type_ *)calloc(1, sizeof(type_));                                                                      \
        if (!made) return LARDER_LIMIT;                                                                                \
        made->instance.struct_size = sizeof(larder_instance);                                                          \
        made->instance.context = made;                                                                                 \
        made->instance.start = start_;                                                                                 \
        made->instance.stop = stop_;                                                                                   \
        made->instance.destroy = free;                                                                                 \
        made->instance.extension = larder_single_extension;                                                            \
        made->host = host;                                                                                             \
        *out = &made->instance;                                                                                        \
        return LARDER_OK;                                                                                              \
    }                                                                                                                  \
    static const larder_module larder_single_module = {                                                                \
        sizeof(larder_module), LARDER_ABI_MINOR, larder_single_describe, larder_single_create};                        \
    larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out) {                             \
        (void)host_minor;                                                                                              \
        *out = &larder_single_module;                                                                                  \
        return LARDER_OK;                                                                                              \
    }                                                                                                                  \
    larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out)

#if defined(__cplusplus)
#define LARDER_SINGLE_IS_PLAIN(type)                                                                                   \
    static_assert(std::is_trivially_default_constructible<type>::value && std::is_trivially_destructible<type>::value, \
                  "the struct of an instance has neither constructor nor destructor");
#else
#define LARDER_SINGLE_IS_PLAIN(type)
#endif

LARDER_BEGIN

/* A feature that a plugin offers, for example {LARDER_EXT_CONFIG_SCHEMA, &schema}. With a null table the plugin does
 * not offer it. */
typedef struct larder_offer {
    const char *name;
    const void *LARDER_NULLABLE table;
} larder_offer;

/* Starts a plugin that needs no preparation. */
static inline larder_status larder_no_start(void *LARDER_NULLABLE context) {
    (void)context;
    return LARDER_OK;
}

/* Stops a plugin that has nothing to release. */
static inline void larder_no_stop(void *LARDER_NULLABLE context) { (void)context; }

/* Tells whether two texts are the same bytes. Neither text may be empty or absent. */
static inline int larder_single_same(larder_str one, larder_str other) {
    return one.len == other.len && memcmp(one.ptr, other.ptr, (size_t)one.len) == 0;
}

/* Returns the table of the offer with this name, or null if there is none. */
static inline const void *LARDER_NULLABLE larder_single_find(const larder_offer *offers, size_t count,
                                                             larder_str name) {
    size_t i;
    for (i = 0; i < count; i++) {
        if (larder_single_same(name, larder_str_make(offers[i].name, strlen(offers[i].name)))) return offers[i].table;
    }
    return NULL;
}

LARDER_END

#endif
/* helper.h: what many plugins in C need beside the interface.
 *
 * No-ops for a processor's table, a table of the usual parts, settings by their names, and texts in conditions. larder.h
 * does not include this header, and nothing in it is part of the ABI. It needs <string.h> and single.h. It allocates
 * no memory.
 *
 * Example:
 *
 *     struct rare {
 *         larder_instance instance;
 *         const larder_host *host;
 *         const larder_config *config;
 *         const larder_actions *actions;
 *         char condition[600];
 *     };
 *
 *     static larder_status start(void *context) {
 *         struct rare *self = (struct rare *)context;
 *         char folder[128];
 *         size_t at;
 *         larder_status status;
 *         self->config = (const larder_config *)self->host->extension(self->host, LARDER_STR(LARDER_EXT_CONFIG));
 *         self->actions = (const larder_actions *)self->host->extension(self->host, LARDER_STR(LARDER_EXT_ACTIONS));
 *         if (!self->config || !self->actions) return LARDER_UNSUPPORTED;
 *         status = larder_setting_text(self->host, self->config, "folder", folder, sizeof folder);
 *         if (status != LARDER_OK) return status;
 *         memcpy(self->condition, "path in ", 8);
 *         at = 8 + larder_quote(larder_str_make(folder, strlen(folder)), self->condition + 8, sizeof self->condition - 8);
 *         return at < sizeof self->condition ? LARDER_OK : LARDER_LIMIT;
 *     }
 *
 *     static larder_status wanted(void *context, larder_str *out) {
 *         *out = larder_str_make(((struct rare *)context)->condition, strlen(((struct rare *)context)->condition));
 *         return LARDER_OK;
 *     }
 *
 *     static larder_status download(void *context, uint32_t trigger, const larder_item *item) {
 *         struct rare *self = (struct rare *)context;
 *         (void)trigger;
 *         return self->actions->download(self->host, item->local_id, 0, larder_str_make(NULL, 0));
 *     }
 *
 *     static const larder_item_policy_processor processor =
 *         LARDER_PROCESSOR("rare", LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID), wanted, download, larder_no_condition,
 *                          larder_no_item);
 */
#ifndef LARDER_HELPER_H
#define LARDER_HELPER_H


#include <string.h>

/* Makes the initializer of a processor's table: a larder_item_policy_processor that uses all triggers, covers nothing by
 * itself, and has a condition and a function for matching and for cleanup. For the two that it does not need, it passes
 * larder_no_condition and larder_no_item. */
#define LARDER_PROCESSOR(kind, fields, match_condition, perform_action, cleanup_condition, perform_cleanup)            \
    {sizeof(larder_item_policy_processor),                                                                             \
     0,                                                                                                                \
     LARDER_TEXT(kind),                                                                                                \
     fields,                                                                                                           \
     larder_all_triggers,                                                                                              \
     larder_no_condition,                                                                                              \
     match_condition,                                                                                                  \
     cleanup_condition,                                                                                                \
     larder_no_policies,                                                                                               \
     larder_no_preflight,                                                                                              \
     larder_no_step,                                                                                                   \
     larder_no_step,                                                                                                   \
     perform_action,                                                                                                   \
     larder_no_step,                                                                                                   \
     larder_no_step,                                                                                                   \
     perform_cleanup,                                                                                                  \
     larder_no_step,                                                                                                   \
     larder_no_step,                                                                                                   \
     0}

LARDER_BEGIN

/* Functions of a processor that do nothing, for the places of its table that it does not need. */
static inline uint32_t larder_all_triggers(void *LARDER_NULLABLE context) {
    (void)context;
    return LARDER_TRIGGERS_ALL;
}

static inline larder_status larder_no_condition(void *LARDER_NULLABLE context, larder_str *out) {
    (void)context;
    (void)out;
    return LARDER_OK;
}

static inline larder_status larder_no_policies(void *LARDER_NULLABLE context, const larder_policy_list *policies) {
    (void)context;
    (void)policies;
    return LARDER_OK;
}

static inline larder_status larder_no_preflight(void *LARDER_NULLABLE context, uint32_t trigger,
                                                larder_item_cursor *LARDER_NULLABLE changed) {
    (void)context;
    (void)trigger;
    (void)changed;
    return LARDER_OK;
}

static inline larder_status larder_no_step(void *LARDER_NULLABLE context, uint32_t trigger) {
    (void)context;
    (void)trigger;
    return LARDER_OK;
}

static inline larder_status larder_no_item(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item) {
    (void)context;
    (void)trigger;
    (void)item;
    return LARDER_OK;
}

/* Writes a text as a condition has it: in quotes, with a backslash before what would end it. Like snprintf, it writes at
 * most `room` bytes, the last of which is 0, and returns the length that all of it has. The text was cut if that is not
 * less than `room`. */
static inline size_t larder_quote(larder_str text, char *out, size_t room) {
    static const char digits[] = "0123456789abcdef";
    size_t length = 0;
    uint64_t i, k, count;
    for (i = 0; i <= text.len + 1; i++) {
        char part[4];
        unsigned char byte = i > 0 && i <= text.len ? (unsigned char)text.ptr[i - 1] : 0;
        if (i == 0 || i > text.len) {
            part[0] = '"';
            count = 1;
        } else if (byte == '"' || byte == '\\') {
            part[0] = '\\';
            part[1] = (char)byte;
            count = 2;
        } else if (byte < 0x20 || byte == 0x7f) {
            part[0] = '\\';
            part[1] = 'x';
            part[2] = digits[byte >> 4];
            part[3] = digits[byte & 15];
            count = 4;
        } else {
            part[0] = (char)byte;
            count = 1;
        }
        for (k = 0; k < count; k++, length++)
            if (length + 1 < room) out[length] = part[k];
    }
    if (room > 0) out[length < room ? length : room - 1] = 0;
    return length;
}

/* A character of a JSON string, as UTF-8, and where the next one begins. */
typedef struct larder_json_character {
    const char *next;
    uint32_t count; /* of the bytes; 0 at the end of the string */
    char bytes[4];
} larder_json_character;

/* Reads the character of a JSON string that begins at a place, behind its opening quote. At the closing quote it goes
 * behind that. */
static inline larder_json_character larder_json_next(const char *at, const char *end) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    larder_json_character read = {at, 0, {0, 0, 0, 0}};
    uint32_t number = 0;
    const char *name;
    int i, units;
    if (at == end) return read;
    read.next = at + 1;
    if (*at == '"') return read;
    read.count = 1;
    read.bytes[0] = *at;
    if (*at != '\\' || end - at < 2) return read;
    name = at[1] ? strchr(names, at[1]) : NULL;
    if (name) {
        read.next = at + 2;
        read.bytes[0] = values[name - names];
        return read;
    }
    /* \uXXXX, and two of them for a character beyond 0xffff. */
    for (units = 0; units < 2 && end - at >= 6 && at[0] == '\\' && at[1] == 'u'; at += 6) {
        uint32_t unit = 0;
        for (i = 2; i < 6; i++) {
            unsigned char digit = (unsigned char)at[i];
            unit = unit << 4 | (uint32_t)(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
        }
        number = units++ == 0 ? unit : 0x10000 + ((number & 0x3ff) << 10) + (unit & 0x3ff);
        read.next = at + 6;
        if (number < 0xd800 || number > 0xdbff) break;
    }
    if (units == 0) return read;
    if (number < 0x80) {
        read.bytes[0] = (char)number;
        return read;
    }
    read.count = number < 0x800 ? 2 : number < 0x10000 ? 3 : 4;
    for (i = (int)read.count - 1; i > 0; i--, number >>= 6) read.bytes[i] = (char)(0x80 | (number & 0x3f));
    read.bytes[0] = (char)((read.count == 2 ? 0xc0 : read.count == 3 ? 0xe0 : 0xf0) | number);
    return read;
}

static inline const char *larder_json_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

/* Returns the end of the JSON value that begins at a place. */
static inline const char *larder_json_value(const char *at, const char *end) {
    size_t depth = 0;
    while (at < end) {
        char first = *at;
        if (first == '"') {
            larder_json_character read = larder_json_next(at + 1, end);
            while (read.count > 0) read = larder_json_next(read.next, end);
            at = read.next;
            if (depth == 0) return at;
        } else if (first == '{' || first == '[') {
            depth++;
            at++;
        } else if (first == '}' || first == ']' || (depth == 0 && (first == ',' || first <= ' '))) {
            if (depth == 0) return at;
            at++;
            if (--depth == 0) return at;
        } else {
            at++;
        }
    }
    return at;
}

/* Finds the JSON of a setting by its name, such as 10, "7d" or ["a","b"]. The text is borrowed until the current call
 * returns. Returns LARDER_NOT_FOUND if there is no such setting or it is null, or what the host returns. */
static inline larder_status larder_setting(const larder_host *host, const larder_config *config, const char *name,
                                           larder_str *out) {
    larder_str settings = {NULL, 0};
    larder_status status = config->settings(host, &settings);
    const char *at, *end;
    if (status != LARDER_OK) return status;
    at = settings.ptr;
    end = at + settings.len;
    at = larder_json_blanks(at, end);
    if (at == end || *at != '{') return LARDER_NOT_FOUND;
    at++;
    while ((at = larder_json_blanks(at, end)) < end && *at == '"') {
        const char *rest = name, *from;
        larder_json_character read;
        int same = 1;
        for (read = larder_json_next(at + 1, end); read.count > 0; read = larder_json_next(read.next, end)) {
            same = same && strlen(rest) >= read.count && memcmp(rest, read.bytes, read.count) == 0;
            if (same) rest += read.count;
        }
        at = larder_json_blanks(read.next, end);
        if (at == end || *at != ':') return LARDER_NOT_FOUND;
        from = larder_json_blanks(at + 1, end);
        at = larder_json_value(from, end);
        if (same && *rest == 0) {
            *out = larder_str_make(from, (uint64_t)(at - from));
            if (out->len == 0 || (out->len == 4 && memcmp(from, "null", 4) == 0)) return LARDER_NOT_FOUND;
            return LARDER_OK;
        }
        at = larder_json_blanks(at, end);
        if (at < end && *at == ',') at++;
    }
    return LARDER_NOT_FOUND;
}

/* Reads a setting that is a whole number: also a duration, which comes in milliseconds, and a size, in bytes. Returns
 * LARDER_INVALID_ARGUMENT if it is something else, else as larder_setting. */
static inline larder_status larder_setting_integer(const larder_host *host, const larder_config *config,
                                                   const char *name, int64_t *out) {
    larder_str json = {NULL, 0};
    larder_status status = larder_setting(host, config, name, &json);
    uint64_t i = 0, number = 0, limit = INT64_MAX;
    if (status != LARDER_OK) return status;
    if (json.ptr[0] == '-') {
        limit++;
        i++;
    }
    if (i == json.len) return LARDER_INVALID_ARGUMENT;
    for (; i < json.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)json.ptr[i] - '0';
        if (digit > 9 || number > (limit - digit) / 10) return LARDER_INVALID_ARGUMENT;
        number = number * 10 + digit;
    }
    *out = json.ptr[0] != '-' ? (int64_t)number : number == 0 ? 0 : -(int64_t)(number - 1) - 1;
    return LARDER_OK;
}

/* Reads a setting that is true or false, as 1 or 0. Returns as larder_setting_integer. */
static inline larder_status larder_setting_flag(const larder_host *host, const larder_config *config, const char *name,
                                                int *out) {
    larder_str json = {NULL, 0};
    larder_status status = larder_setting(host, config, name, &json);
    if (status != LARDER_OK) return status;
    if (json.len == 4 && memcmp(json.ptr, "true", 4) == 0) *out = 1;
    else if (json.len == 5 && memcmp(json.ptr, "false", 5) == 0) *out = 0;
    else return LARDER_INVALID_ARGUMENT;
    return LARDER_OK;
}

/* Reads a setting that is a text, as UTF-8 with 0 behind it. Returns LARDER_LIMIT if there is no room for all of it,
 * LARDER_INVALID_ARGUMENT if it is something else or has a 0 in it, else as larder_setting. */
static inline larder_status larder_setting_text(const larder_host *host, const larder_config *config, const char *name,
                                                char *out, size_t room) {
    larder_str json = {NULL, 0};
    larder_status status = larder_setting(host, config, name, &json);
    larder_json_character read;
    const char *end;
    size_t length = 0;
    if (status != LARDER_OK) return status;
    if (*json.ptr != '"') return LARDER_INVALID_ARGUMENT;
    end = json.ptr + json.len;
    for (read = larder_json_next(json.ptr + 1, end); read.count > 0; read = larder_json_next(read.next, end)) {
        if (read.count == 1 && read.bytes[0] == 0) return LARDER_INVALID_ARGUMENT;
        if (length + read.count >= room) return LARDER_LIMIT;
        memcpy(out + length, read.bytes, read.count);
        length += read.count;
    }
    if (length >= room) return LARDER_LIMIT;
    out[length] = 0;
    return LARDER_OK;
}

LARDER_END

#endif
