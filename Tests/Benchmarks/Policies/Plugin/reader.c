/* A processor that reads path, size and last use of each item that meets its setting `match`, asks for nothing, and
 * says in the log what it read of all of them. */
#include <larder/larder.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    larder_instance instance;
    const larder_host *host;
    const larder_log *log;
    char match[1024];
    int64_t rows, sum;
};

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status absent(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status matching(void *me_, larder_str *out) {
    struct reader *me = me_;
    *out = larder_str_make(me->match, strlen(me->match));
    return LARDER_OK;
}
static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t t, larder_item_cursor *c) {
    (void)me; (void)t; (void)c;
    return LARDER_OK;
}
static larder_status step(void *me, uint32_t t) { (void)me; (void)t; return LARDER_OK; }
static larder_status begin(void *me_, uint32_t t) {
    struct reader *me = me_;
    (void)t;
    me->rows = me->sum = 0;
    return LARDER_OK;
}
static larder_status read_item(void *me_, uint32_t t, const larder_item *item) {
    struct reader *me = me_;
    (void)t;
    me->rows++;
    if (item->path.ptr) me->sum += (int64_t)item->path.len + (unsigned char)item->path.ptr[0];
    if (item->present & LARDER_FIELD_BIT(LARDER_FIELD_SIZE)) me->sum += item->size;
    if (item->present & LARDER_FIELD_BIT(LARDER_FIELD_LAST_USED)) me->sum += item->last_used;
    return LARDER_OK;
}
static larder_status end(void *me_, uint32_t t) {
    struct reader *me = me_;
    char line[80];
    int length = snprintf(line, sizeof line, "%" PRId64 " %" PRId64, me->rows, me->sum);
    (void)t;
    return me->log->write(me->host, LARDER_LOG_INFO, larder_str_make(line, (uint64_t)length));
}
static larder_status clean(void *me, uint32_t t, const larder_item *i) { (void)me; (void)t; (void)i; return LARDER_OK; }

static const larder_item_policy_processor processor = {
    sizeof processor, 0, {"reader", 6},
    LARDER_FIELD_BIT(LARDER_FIELD_PATH) | LARDER_FIELD_BIT(LARDER_FIELD_SIZE)
        | LARDER_FIELD_BIT(LARDER_FIELD_LAST_USED),
    triggers, absent, matching, absent, update, preflight, step, begin, read_item, end, step, clean, step, step};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = LARDER_STR("{\"properties\": {\"match\": {\"type\": \"string\", \"default\": \"true\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

/* Reads the text behind `"match": "` in the settings. The text has apostrophes instead of double quotes. */
static larder_status start(void *me_) {
    struct reader *me = me_;
    const larder_config *config = me->host->extension(me->host, LARDER_STR(LARDER_EXT_CONFIG));
    larder_str json;
    uint64_t at = 0, length = 0;
    me->log = me->host->extension(me->host, LARDER_STR(LARDER_EXT_LOG));
    if (!me->log || !config || config->settings(me->host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    while (at + 7 < json.len && memcmp(json.ptr + at, "\"match\"", 7) != 0) at++;
    for (at += 7; at < json.len && json.ptr[at] != '"'; at++) {}
    for (at++; at < json.len && json.ptr[at] != '"' && length < sizeof me->match - 1; at++)
        me->match[length++] = json.ptr[at];
    me->match[length] = 0;
    return LARDER_OK;
}
static void stop(void *me) { (void)me; }
static const void *extension(void *me, larder_str name) {
    (void)me;
    if (name.len == strlen(LARDER_EXT_CONFIG_SCHEMA) && !memcmp(name.ptr, LARDER_EXT_CONFIG_SCHEMA, name.len))
        return &schema;
    return name.len == strlen(LARDER_EXT_ITEM_POLICY_PROCESSOR) ? &processor : 0;
}

static const larder_descriptor descriptor = {
    sizeof descriptor, 0, {"org.example.reader", 18}, {"Reader", 6}, {"1.0.0", 5}, {0, 0}, {0, 0},
    {LARDER_EXT_CONFIG " " LARDER_EXT_LOG, sizeof(LARDER_EXT_CONFIG " " LARDER_EXT_LOG) - 1}, {0, 0}};
static const larder_descriptor *describe(uint32_t index) { return index == 0 ? &descriptor : 0; }
static larder_status create(larder_str id, const larder_host *host, const larder_instance **out) {
    struct reader *me;
    if (id.len != descriptor.id.len || memcmp(id.ptr, descriptor.id.ptr, id.len)) return LARDER_NOT_FOUND;
    if (!(me = calloc(1, sizeof *me))) return LARDER_LIMIT;
    me->instance = (larder_instance){sizeof me->instance, 0, me, start, stop, free, extension};
    me->host = host;
    *out = &me->instance;
    return LARDER_OK;
}
static const larder_module module = {sizeof module, LARDER_ABI_MINOR, describe, create};
larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out) {
    (void)host_minor;
    *out = &module;
    return LARDER_OK;
}
