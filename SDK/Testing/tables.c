/* The checks of everything that a plugin hands out before it is called. They are those of the host. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

/* A table of the plugin's: its size when it was published, and the place of its functions, none of which may be
 * null. */
struct table {
    const char *name;
    size_t size, first, offset;
    const char *const *functions;
    size_t count;
};

static int take_table(larder_fake *fake, void *to, const struct table *what, const void *given) {
    if (!given) {
        set_problem(fake, "null table: %s", what->name);
        return 0;
    }
    if (!take(to, what->size, given, what->first)) {
        set_problem(fake, "bad size: %s says a size outside of %zu to 65536", what->name, what->first);
        return 0;
    }
    for (size_t i = 0; i < what->count; i++) {
        void (*function)(void);
        memcpy(&function, (const char *)to + what->offset + i * sizeof function, sizeof function);
        if (function) continue;
        set_problem(fake, "null function: %s.%s", what->name, what->functions[i]);
        return 0;
    }
    return 1;
}

/* The library and the descriptors of its plugins. */

#define MOST_PLUGINS 256u

static int is_id(larder_str id) {
    if (!id.len || id.len > 128 || !is_text(id) || !memchr(id.ptr, '.', id.len)) return 0;
    for (uint64_t i = 0; i < id.len; i++) {
        if (!id.ptr[i] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", id.ptr[i])) return 0;
    }
    return 1;
}

static int describe(larder_fake *fake, uint32_t index, larder_descriptor *out) {
    static const struct table table = {"descriptor", sizeof *out, 120, 0, NULL, 0};
    const larder_descriptor *given = fake->module->describe(index);
    if (!given || !take_table(fake, out, &table, given)) return 0;
    if (!is_id(out->id)) set_problem(fake, "bad text: the id of plugin %u is not valid", index);
    else if (!out->name.len || !is_text(out->name) || !out->version.len || !is_text(out->version))
        set_problem(fake, "bad text: %.*s has no name or no version", (int)out->id.len, out->id.ptr);
    else if (!is_utf8(out->required) || !is_utf8(out->wanted))
        set_problem(fake, "bad text: the services that %.*s asks for are not UTF-8", (int)out->id.len, out->id.ptr);
    return !fake->problem;
}

int take_module(larder_fake *fake, const larder_module *given) {
    static const char *const functions[] = {"describe", "create"};
    static const struct table table = {"module", sizeof fake->tables.module, 24, 8, functions, 2};
    larder_descriptor one, other;
    if (!take_table(fake, &fake->tables.module, &table, given)) return 0;
    fake->module = &fake->tables.module;
    for (uint32_t i = 0; i < MOST_PLUGINS && !fake->problem && describe(fake, i, &one); i++) {
        for (uint32_t k = 0; k < i && describe(fake, k, &other); k++) {
            if (one.id.len == other.id.len && !memcmp(one.id.ptr, other.id.ptr, one.id.len))
                set_problem(fake, "duplicate id: the library describes %.*s twice", (int)one.id.len, one.id.ptr);
        }
    }
    if (!fake->problem && fake->module->describe(MOST_PLUGINS))
        set_problem(fake, "bad text: it describes more than %u plugins", MOST_PLUGINS);
    if (fake->problem) fake->module = NULL;
    return fake->module != NULL;
}

/* Adds the services of a list, each with spaces around it. Returns 0 if a required service does not exist. */
static int add_services(larder_fake *fake, struct text *list, larder_str named, int is_required) {
    for (uint64_t from = 0; from < named.len;) {
        const char *word = named.ptr + from, *space = memchr(word, ' ', named.len - from);
        uint64_t length = space ? (uint64_t)(space - word) : named.len - from;
        larder_str name = larder_str_make(word, length);
        from += length + 1;
        if (!length) continue;
        for (uint64_t i = 0; i < length; i++) APPEND(*list, word[i]);
        APPEND(*list, ' ');
        if (!is_required) continue;
        for (size_t i = 0; i < fake->withheld.count; i++) {
            if (!same(name, fake->withheld.at[i])) continue;
            set_problem(fake, "it requires the service %.*s, which the test withholds", (int)length, word);
            return 0;
        }
        if (service(name)) continue;
        set_problem(fake, "it requires the service %.*s, which this host does not have", (int)length, word);
        return 0;
    }
    return 1;
}

larder_status take_description(larder_fake *fake, const char *id) {
    larder_descriptor found;
    struct text services = {0};
    uint32_t index = 0;
    int is_there, is_served;
    while ((is_there = describe(fake, index, &found)) && !same(found.id, id)) index++;
    if (!is_there) {
        set_problem(fake, "id not as configured: the library has no %s", id);
        return LARDER_NOT_FOUND;
    }
    APPEND(services, ' ');
    is_served = add_services(fake, &services, found.required, 1) && add_services(fake, &services, found.wanted, 0);
    APPEND(services, '\0');
    free(fake->services);
    fake->services = services.at;
    return is_served ? LARDER_OK : LARDER_UNSUPPORTED;
}

/* The instance and its offers. */

int take_instance(larder_fake *fake, const larder_instance *given) {
    static const char *const functions[] = {"start", "stop", "destroy", "extension"};
    static const struct table table = {"instance", sizeof fake->tables.instance, 48, 16, functions, 4};
    if (!take_table(fake, &fake->tables.instance, &table, given)) return 0;
    fake->instance = &fake->tables.instance;
    return 1;
}

static const void *ask(larder_fake *fake, const char *name) {
    char *lent = copied(name);
    const void *offered;
    begin_call(fake, CREATE);
    offered = fake->instance->extension(fake->instance->context, larder_str_make(lent, strlen(lent)));
    end_call(fake, LARDER_OK);
    free(lent);
    return offered;
}

static int take_schema(larder_fake *fake) {
    static const char *const functions[] = {"schema"};
    static const struct table table = {LARDER_EXT_CONFIG_SCHEMA, sizeof(larder_config_schema), 16, 8, functions, 1};
    const void *given = ask(fake, LARDER_EXT_CONFIG_SCHEMA);
    larder_config_schema offered;
    larder_str text = {NULL, 0};
    larder_status status;
    if (!given) return take_settings(fake, NULL);
    if (!take_table(fake, &offered, &table, given)) return 0;
    begin_call(fake, CREATE);
    status = end_call(fake, offered.schema(fake->instance->context, &text));
    if (status != LARDER_OK || !is_text(text)) {
        set_problem(fake, "bad text: its settings' schema is missing or not UTF-8");
        return 0;
    }
    free(fake->schema);
    fake->schema = text_of(text);
    return take_settings(fake, fake->schema);
}

int take_offers(larder_fake *fake) {
    static const char *const calls[] = {
        "triggers", "policy_condition", "match_condition", "cleanup_condition", "update_policies", "preflight",
        "will_enter_trigger", "begin_matching", "perform_action", "end_matching", "begin_cleanup", "perform_cleanup",
        "end_cleanup", "did_pass_trigger"};
    static const char *const explains[] = {"explain"};
    static const char *const turns[] = {"poll", "process", "refresh", "on_error", "release_page"};
    static const struct table processors = {
        LARDER_EXT_ITEM_POLICY_PROCESSOR, sizeof fake->tables.processor, 144, 32, calls, 14};
    static const struct table explainers = {
        LARDER_EXT_EXPLAIN, sizeof fake->tables.explainer, 16, 8, explains, 1};
    static const struct table loops = {LARDER_EXT_EVENT_LOOP, sizeof fake->tables.loops, 88, 48, turns, 5};
    const void *given = ask(fake, LARDER_EXT_ITEM_POLICY_PROCESSOR);
    const larder_event_loop *loop = &fake->tables.loops;
    if (given && !take_table(fake, &fake->tables.processor, &processors, given)) return 0;
    fake->processor = given ? &fake->tables.processor : NULL;
    if (!take_schema(fake)) return 0;
    if (given && (!fake->processor->kind.len || !is_text(fake->processor->kind))) {
        set_problem(fake, "bad text: its processor's kind is missing or not UTF-8");
        return 0;
    }
    given = fake->processor ? ask(fake, LARDER_EXT_EXPLAIN) : NULL;
    if (given && !take_table(fake, &fake->tables.explainer, &explainers, given)) return 0;
    fake->explainer = given ? &fake->tables.explainer : NULL;
    given = ask(fake, LARDER_EXT_EVENT_LOOP);
    if (given && !take_table(fake, &fake->tables.loops, &loops, given)) return 0;
    fake->loops = given ? loop : NULL;
    if (!given) return 1;
    if (!loop->kind.len || !is_text(loop->kind))
        set_problem(fake, "bad text: its event loop's kind is missing or not UTF-8");
    else if (loop->collection.ptr && (!loop->collection.len || !is_utf8(loop->collection)))
        set_problem(fake, "bad text: its event loop's collection is empty or not UTF-8");
    else if (loop->refresh_bits & ~LARDER_REFRESH_EVERYTHING)
        set_problem(fake, "bad text: its event loop has refresh_bits above 0xff");
    return !fake->problem;
}
