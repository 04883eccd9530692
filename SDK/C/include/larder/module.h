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

#include "base.h"
#include "host.h"

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
