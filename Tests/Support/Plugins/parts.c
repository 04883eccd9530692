/* A processor around the guide's functions, which come before it (-include): it calls each in each run, and says what they came to.
 * Its setting `largest` says how many. */
#include <larder/larder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S(literal) LARDER_STR(literal)

static const larder_host *host_of;

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status none(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *changed) { (void)me; (void)trigger; (void)changed; return LARDER_OK; }
static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }
static larder_status item(void *me, uint32_t trigger, const larder_item *one) { (void)me; (void)trigger; (void)one; return LARDER_OK; }

static const void *ask(const char *name) { return host_of->extension(host_of, larder_str_make(name, strlen(name))); }

static larder_status enter(void *me, uint32_t trigger) {
    int64_t largest = 0, every = 0, bytes = 0;
    uint64_t runs = 0;
    larder_status status;
    char line[128];
    (void)me; (void)trigger;
    if ((status = number_setting(host_of, (const larder_config *)ask(LARDER_EXT_CONFIG), "\"largest\"", &largest)) != LARDER_OK
        || (status = number_setting(host_of, (const larder_config *)ask(LARDER_EXT_CONFIG), "\"every\"", &every)) != LARDER_OK
        || (status = count_runs(host_of, (const larder_kv *)ask(LARDER_EXT_KV), &runs)) != LARDER_OK
        || (status = cover(host_of, (const larder_policies *)ask(LARDER_EXT_POLICIES), S("favorite"))) != LARDER_OK
        || (status = size_of_largest(host_of, (const larder_items *)ask(LARDER_EXT_ITEMS), (uint64_t)largest, &bytes)) != LARDER_OK
        || (status = add_number(host_of, (const larder_projects *)ask(LARDER_EXT_PROJECTS), (long)runs)) != LARDER_OK)
        return status;
    snprintf(line, sizeof line, "run %d: %ld bytes, every %ld ms", (int)runs, (long)bytes, (long)every);
    return ((const larder_log *)ask(LARDER_EXT_LOG))->write(host_of, LARDER_LOG_INFO, larder_str_make(line, strlen(line)));
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, {"parts", 5}, 0, triggers, none, none, none, update, preflight, enter, nothing, item, nothing, nothing, item,
    nothing, nothing, 0};
static larder_status start(void *me) { (void)me; return LARDER_OK; }
static void stop(void *me) { (void)me; }
static const void *extension(void *me, larder_str name) {
    (void)me;
    if (name.len == strlen(LARDER_EXT_CONFIG_SCHEMA) && !memcmp(name.ptr, LARDER_EXT_CONFIG_SCHEMA, name.len)) return &schema;
    return name.len == strlen(LARDER_EXT_ITEM_POLICY_PROCESSOR) ? &processor : NULL;
}
static const larder_instance instance = {sizeof instance, 0, NULL, start, stop, stop, extension};
#define SERVICES                                                                                                                          \
    LARDER_EXT_CONFIG " " LARDER_EXT_KV " " LARDER_EXT_POLICIES " " LARDER_EXT_ITEMS " " LARDER_EXT_PROJECTS " " LARDER_EXT_LOG
static const larder_descriptor descriptor = {
    sizeof descriptor, 0, {"org.example.parts", 17}, {"Parts", 5}, {"1.0.0", 5}, {0, 0}, {0, 0}, {SERVICES, sizeof(SERVICES) - 1}, {0, 0}};
static const larder_descriptor *describe(uint32_t index) { return index == 0 ? &descriptor : NULL; }
static larder_status create(larder_str id, const larder_host *host, const larder_instance **out) {
    (void)id;
    host_of = host;
    *out = &instance;
    return LARDER_OK;
}
static const larder_module module = {sizeof module, LARDER_ABI_MINOR, describe, create};
larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out) {
    (void)host_minor;
    *out = &module;
    return LARDER_OK;
}
