/* A small processor that same.cpp, same.rs and same.swift also are: each call does the same in each language. It uses the
 * headers alone. */
#include <larder/helper.h>
#include <larder/larder.h>
#include <stdio.h>
#include <stdlib.h>

struct same {
    larder_instance instance;
    const larder_host *host;
    const larder_config *config;
    const larder_actions *actions;
    const larder_kv *kv;
    const larder_items *items;
    const larder_policies *policies;
    const larder_log *log;
    int64_t largest;
    char match[600];
    uint64_t policy_count;
};

static const void *service(struct same *me, const char *name) {
    return me->host->extension(me->host, larder_str_make(name, strlen(name)));
}

static void say(struct same *me, const char *line) {
    if (me->log) me->log->write(me->host, LARDER_LOG_INFO, larder_str_make(line, strlen(line)));
}

/* Says why a call fails. */
static larder_status fail(struct same *me, larder_status status, const char *message) {
    me->host->fail(me->host, status, larder_str_make(message, strlen(message)));
    return status;
}

static larder_status start(void *context) {
    struct same *me = (struct same *)context;
    char folder[256];
    larder_status status;
    size_t length;
    me->config = (const larder_config *)service(me, LARDER_EXT_CONFIG);
    me->actions = (const larder_actions *)service(me, LARDER_EXT_ACTIONS);
    me->kv = (const larder_kv *)service(me, LARDER_EXT_KV);
    me->items = (const larder_items *)service(me, LARDER_EXT_ITEMS);
    me->policies = (const larder_policies *)service(me, LARDER_EXT_POLICIES);
    me->log = (const larder_log *)service(me, LARDER_EXT_LOG);
    status = larder_setting_text(me->host, me->config, "folder", folder, sizeof folder);
    if (status == LARDER_OK) status = larder_setting_integer(me->host, me->config, "largest", &me->largest);
    if (status != LARDER_OK) return status;
    if (me->largest == 0) return fail(me, LARDER_INVALID_ARGUMENT, "nothing is as small as 0 bytes");
    length = (size_t)snprintf(me->match, sizeof me->match, "type == \"file\" && !removed && parentPath == ");
    larder_quote(larder_str_make(folder, strlen(folder)), me->match + length, sizeof me->match - length);
    return LARDER_OK;
}

static larder_status policy_condition(void *context, larder_str *out) {
    (void)context;
    *out = LARDER_STR("favorite");
    return LARDER_OK;
}

static larder_status match_condition(void *context, larder_str *out) {
    struct same *me = (struct same *)context;
    *out = larder_str_make(me->match, strlen(me->match));
    return LARDER_OK;
}

static larder_status cleanup_condition(void *context, larder_str *out) {
    (void)context;
    *out = LARDER_STR("cloudStatus == \"localCopy\"");
    return LARDER_OK;
}

static larder_status update_policies(void *context, const larder_policy_list *policies) {
    ((struct same *)context)->policy_count = policies->count;
    return LARDER_OK;
}

static larder_status preflight(void *context, uint32_t trigger, larder_item_cursor *changed) {
    struct same *me = (struct same *)context;
    const larder_item *item = NULL;
    larder_status status = LARDER_OK;
    (void)trigger;
    while (changed && (status = changed->next(changed, &item)) == LARDER_OK && item) {
        char line[300];
        snprintf(line, sizeof line, "changed: %.*s", (int)item->path.len, item->path.ptr);
        say(me, line);
    }
    return status;
}

static larder_status will_enter_trigger(void *context, uint32_t trigger) {
    struct same *me = (struct same *)context;
    larder_bytes key = {(const uint8_t *)"runs", 4}, value = {NULL, 0};
    larder_query query;
    larder_item_cursor *cursor = NULL;
    const larder_item *item = NULL;
    char runs[64] = "", line[128];
    uint64_t count = 0;
    larder_status status = me->kv->get(me->host, key, &value);
    if (status != LARDER_OK && status != LARDER_NOT_FOUND) return status;
    snprintf(runs, sizeof runs, "%.*s|", (int)value.len, value.ptr ? (const char *)value.ptr : "");
    value.ptr = (const uint8_t *)runs;
    value.len = strlen(runs);
    status = me->kv->put(me->host, key, value);
    if (status != LARDER_OK) return status;
    memset(&query, 0, sizeof query);
    query.struct_size = sizeof query;
    query.condition = LARDER_STR("type == \"folder\"");
    query.fields = LARDER_FIELD_BIT(LARDER_FIELD_PATH);
    query.sort = LARDER_SORT_BY(LARDER_FIELD_PATH);
    status = me->items->open(me->host, &query, &cursor);
    if (status != LARDER_OK) return status;
    while ((status = cursor->next(cursor, &item)) == LARDER_OK && item) count++;
    me->items->close(me->host, cursor);
    if (status != LARDER_OK) return status;
    snprintf(line, sizeof line, "trigger %u, runs %s, policies %llu, folders %llu", trigger, runs,
             (unsigned long long)me->policy_count, (unsigned long long)count);
    say(me, line);
    if (me->policy_count == 0) {
        larder_policy policy;
        memset(&policy, 0, sizeof policy);
        policy.struct_size = sizeof policy;
        policy.condition = LARDER_STR("favorite");
        policy.identifier = LARDER_STR("same");
        return me->policies->add(me->host, &policy, 0);
    }
    return LARDER_OK;
}

static larder_status perform_action(void *context, uint32_t trigger, const larder_item *item) {
    struct same *me = (struct same *)context;
    char text[300];
    (void)trigger;
    if (item->size > me->largest) {
        snprintf(text, sizeof text, "%.*s is too large", (int)item->path.len, item->path.ptr);
        return fail(me, LARDER_LIMIT, text);
    }
    snprintf(text, sizeof text, "get:%.*s", (int)item->path.len, item->path.ptr);
    return me->actions->download(me->host, item->local_id, LARDER_DOWNLOAD_WHILE_COVERED,
                                 larder_str_make(text, strlen(text)));
}

static larder_status perform_cleanup(void *context, uint32_t trigger, const larder_item *item) {
    struct same *me = (struct same *)context;
    (void)trigger;
    return me->actions->remove_local_copy(me->host, item->local_id, LARDER_REMOVE_IF_UNUSED, larder_str_make(NULL, 0));
}

static larder_status end_cleanup(void *context, uint32_t trigger) {
    struct same *me = (struct same *)context;
    larder_status status = me->actions->download(me->host, LARDER_STR("nobody"), 0, larder_str_make(NULL, 0));
    (void)trigger;
    return fail(me, status, "the host's actions.download failed: not found");
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("same"),
    LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID) | LARDER_FIELD_BIT(LARDER_FIELD_PATH) | LARDER_FIELD_BIT(LARDER_FIELD_SIZE),
    larder_all_triggers, policy_condition, match_condition, cleanup_condition, update_policies, preflight,
    will_enter_trigger, larder_no_step, perform_action, larder_no_step, larder_no_step, perform_cleanup, end_cleanup,
    larder_no_step, 20};

static larder_status explain(void *context, const larder_item *item, larder_str *out) {
    if (item->size > ((struct same *)context)->largest) *out = LARDER_STR("it is too large");
    return LARDER_OK;
}
static const larder_explain explainer = {sizeof explainer, 0, explain};

static larder_status schema_text(void *context, larder_str *out) {
    (void)context;
    *out = LARDER_STR("{\"properties\": {\"folder\": {\"type\": \"string\", \"default\": \"/it \\\"is\\\"\"}, "
                      "\"largest\": {\"type\": \"string\", \"format\": \"size\", \"default\": \"1kB\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static const larder_offer offers[] = {{LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor},
                                      {LARDER_EXT_EXPLAIN, &explainer},
                                      {LARDER_EXT_CONFIG_SCHEMA, &schema}};

LARDER_SINGLE(struct same, start, larder_no_stop, offers, "org.example.same", "Same", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS " " LARDER_EXT_KV " " LARDER_EXT_ITEMS " " LARDER_EXT_POLICIES,
              LARDER_EXT_LOG);
