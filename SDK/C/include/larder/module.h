/* module.h: what a library holds, and an instance's life.
 *
 *   I.   The host opens the library and calls its entry function, which hands out a table: the module.
 *   II.  It asks the module to describe its plugins, index by index, until the answer is null.
 *   III. For each account and each plugin that the config enables it creates an instance, asks it for its extensions,
 *        checks the settings against the plugin's schema, and starts it.
 *   IV.  A changed setting stops and starts the instance. `plugin disable` stops and destroys it.
 *   V.   The library is never closed. There is no function for that: the end of the process is the end.
 *
 * Advice to plugins: entry, describe and create are called often, by tools too, sometimes in a process that lives no
 * longer than that. They start no threads, open no files or sockets, change no environment, and do not call the host
 * (but `fail`). What belongs to an instance is made in start and given back in stop. Keep no state outside of
 * instances: two accounts are two instances of one library, whose calls, create among them, may run side by side. A
 * library that has globals all the same guards them.
 *
 * Advice to hosts: open with RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE. Copy tables by rule I and refuse one with a null
 * function pointer or a size below that of version 1.0.
 */
#ifndef LARDER_MODULE_H
#define LARDER_MODULE_H

#include "base.h"
#include "host.h"

LARDER_BEGIN

/* Says what a plugin is without creating it. All of it stays as it is while the library is open. */
typedef struct larder_descriptor {
    uint32_t struct_size;
    uint32_t reserved;
    /* Reversed domain, lower-case letters, digits, `-` and `.`, at most 128 bytes: "org.example.archive". */
    larder_str id;
    /* For people: "Archive". */
    larder_str name;
    /* The plugin's own: "1.4.2". */
    larder_str version;
    /* May be absent: "Example Ltd". */
    larder_str vendor;
    /* May be absent: "Keeps what is older than five years". One sentence without a full stop. */
    larder_str summary;
    /* The services without which it does not start, separated by spaces, and those that it merely wants:
     * "larder.items/1 larder.actions/1". Both may be absent. What is in neither is not granted. */
    larder_str required;
    larder_str wanted;
} larder_descriptor;

/* One plugin at work for one account. The table stays as it is until `destroy` returns. */
typedef struct larder_instance {
    uint32_t struct_size;
    uint32_t reserved;
    /* The first argument of every function here and in the tables that `extension` hands out. */
    void *LARDER_NULLABLE context;

    /* Makes the instance ready for work: services, settings, threads of its own. Called once after create, and once
     * after each stop. A failure leaves the instance as if it had not been called; it is then destroyed.
     * [control] since 1.0 */
    larder_status (*start)(void *LARDER_NULLABLE context);

    /* Gives back what start made. When it returns, no thread of the plugin's runs and the host is not called any more.
     * Called once for each start that returned LARDER_OK.
     * [control] since 1.0 */
    void (*stop)(void *LARDER_NULLABLE context);

    /* Frees the instance, which is stopped or was never started. Called once, last.
     * [control] since 1.0 */
    void (*destroy)(void *LARDER_NULLABLE context);

    /* Hands out the table of what the plugin offers, for example of "larder.item-policy-processor/1"; null if it does
     * not offer it. Called at any time in the instance's life, also before start; hands out the same each time. The
     * table stays as it is until `destroy` returns.
     * [control] since 1.0 */
    const void *LARDER_NULLABLE (*LARDER_NONNULL extension)(void *LARDER_NULLABLE context, larder_str name);
} larder_instance;

/* What a library holds. It stays as it is while the library is open. */
typedef struct larder_module {
    uint32_t struct_size;
    /* LARDER_ABI_MINOR of the headers that the plugin was built with. */
    uint32_t abi_minor;

    /* Describes the plugin with this index, from 0 without gaps; null past the last. The same answer each time.
     * [control] since 1.0 */
    const larder_descriptor *LARDER_NULLABLE (*LARDER_NONNULL describe)(uint32_t index);

    /* Makes an instance of the plugin with this id. `host` stays valid until the instance is destroyed. Each call
     * makes another one. Returns LARDER_NOT_FOUND for an id that the library does not describe; `*out` is left alone
     * on failure.
     * [control] since 1.0 */
    larder_status (*create)(larder_str id, const larder_host *host,
                            const larder_instance *LARDER_NULLABLE *LARDER_NONNULL out);
} larder_module;

/* The one function that a plugin exports. `host_minor` is LARDER_ABI_MINOR of the host: it may be lower or higher than
 * the plugin's own. Hands out the same module each time. Returns LARDER_UNSUPPORTED if the plugin cannot work with a
 * host as old as that; `*out` is left alone then.
 * [control] since 1.0 */
LARDER_EXPORT larder_status larder_plugin_entry_v1(uint32_t host_minor,
                                                   const larder_module *LARDER_NULLABLE *LARDER_NONNULL out);

/* The name to look up, and the type of what is found. */
#define LARDER_ENTRY "larder_plugin_entry_v1"
typedef larder_status (*larder_plugin_entry)(uint32_t host_minor,
                                             const larder_module *LARDER_NULLABLE *LARDER_NONNULL out);

LARDER_END

#endif
