/* A processor around the guide's functions, which are included before it (-include). It calls each function in each
 * run, and logs the results. Its setting `largest` says how many of the largest files to add up. */
#include <larder/larder.h>
#include <larder/single.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S(literal) LARDER_STR(literal)

struct parts {
    larder_instance instance;
    const larder_host *host;
};

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status none(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *changed) {
    (void)me; (void)trigger; (void)changed;
    return LARDER_OK;
}
static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }
static larder_status item(void *me, uint32_t trigger, const larder_item *one) {
    (void)me; (void)trigger; (void)one;
    return LARDER_OK;
}

static const void *ask(const larder_host *host, const char *name) {
    return host->extension(host, larder_str_make(name, strlen(name)));
}

static larder_status enter(void *me, uint32_t trigger) {
    const larder_host *host = ((struct parts *)me)->host;
    int64_t largest = 0, every = 0, bytes = 0;
    uint64_t runs = 0;
    larder_status status;
    char line[128];
    (void)trigger;
    if ((status = read_settings(host, (const larder_config *)ask(host, LARDER_EXT_CONFIG), &largest, &every))
            != LARDER_OK
        || (status = count_runs(host, (const larder_kv *)ask(host, LARDER_EXT_KV), &runs)) != LARDER_OK
        || (status = cover(host, (const larder_policies *)ask(host, LARDER_EXT_POLICIES), S("favorite"))) != LARDER_OK
        || (status = size_of_largest(host, (const larder_items *)ask(host, LARDER_EXT_ITEMS), (uint64_t)largest,
                                     &bytes)) != LARDER_OK
        || (status = add_number(host, (const larder_projects *)ask(host, LARDER_EXT_PROJECTS), (long)runs))
            != LARDER_OK)
        return status;
    snprintf(line, sizeof line, "run %d: %ld bytes, every %ld ms", (int)runs, (long)bytes, (long)every);
    return ((const larder_log *)ask(host, LARDER_EXT_LOG))
        ->write(host, LARDER_LOG_INFO, larder_str_make(line, strlen(line)));
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("parts"), 0, triggers, none, none, none, update, preflight, enter, nothing, item,
    nothing, nothing, item, nothing, nothing, 0};
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_CONFIG_SCHEMA, &schema}};

LARDER_SINGLE(struct parts, larder_no_start, larder_no_stop, offers, "org.example.parts", "Parts", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_KV " " LARDER_EXT_POLICIES " " LARDER_EXT_ITEMS " " LARDER_EXT_PROJECTS
              " " LARDER_EXT_LOG, "");
