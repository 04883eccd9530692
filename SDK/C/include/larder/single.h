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

#include "base.h"
#include "host.h"
#include "module.h"

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
