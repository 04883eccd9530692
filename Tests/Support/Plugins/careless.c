/* A processor that does in one call what no plugin may do, and records the result of each step. */
#include <larder/larder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S(literal) LARDER_STR(literal)
#ifndef ABI_MINOR
#define ABI_MINOR LARDER_ABI_MINOR
#endif
#ifndef PERFORM_STATUS
#define PERFORM_STATUS LARDER_OK
#endif

struct careless {
    larder_instance instance;
    const larder_host *host;
    const larder_log *log;
    larder_str item;
    char id[128];
    char lines[3000];
    size_t length;
};

static const void *ask(struct careless *me, const char *name) {
    return me->host->extension(me->host, larder_str_make(name, strlen(name)));
}

/* Logs many lines at once: a flood of lines would be cut off. */
static void flush(struct careless *me) {
    me->log->write(me->host, LARDER_LOG_INFO, larder_str_make(me->lines, me->length));
    me->length = 0;
}

static void say(struct careless *me, const char *what, long status) {
    if (me->length + 200 > sizeof me->lines) flush(me);
    me->length += (size_t)snprintf(me->lines + me->length, 200, "%s %ld\n", what, status);
}
#define SAY(call) say(me, #call, call)

static void tell(struct careless *me) {
    const larder_log *log = me->log;
    const larder_host *host = me->host;
    larder_str absent = {0, 0};
    SAY(log->write(host, 5, S("x")));
    SAY(log->write(host, UINT32_MAX, S("x")));
    SAY(log->write(host, LARDER_LOG_INFO, absent));
    SAY(log->write(host, LARDER_LOG_INFO, S("\xed\xa0\x80")));
    SAY(log->write(host, LARDER_LOG_INFO, S("")));
    host->fail(host, LARDER_FAILED, absent);
    SAY(ask(me, LARDER_EXT_CLOCK) != 0);      /* not declared */
    SAY(ask(me, "larder.wormhole/1") != 0);   /* wanted, but absent */
    SAY(ask(me, "larder.log") != 0);
    SAY(ask(me, "") != 0);
}

static void act(struct careless *me) {
    const larder_actions *actions = ask(me, LARDER_EXT_ACTIONS);
    const larder_host *host = me->host;
    larder_str absent = {0, 0}, item = me->item, key = S("k");
    static char longest[1025];
    memset(longest, 'k', sizeof longest);
    SAY(actions->download(host, item, 0x80, key));
    SAY(actions->download(host, absent, 0, key));
    SAY(actions->download(host, S("\xff"), 0, key));
    SAY(actions->download(host, S("nobody"), 0, key));
    SAY(actions->download(host, item, 0, absent));
    SAY(actions->download(host, item, 0, S("")));
    SAY(actions->download(host, item, 0, S("\xff")));
    SAY(actions->download(host, item, 0, larder_str_make(longest, 1025)));
    SAY(actions->download(host, item, 0, larder_str_make(longest, 1024)));
    SAY(actions->remove_local_copy(host, item, 0x80, key));
    SAY(actions->purge(host, item, 1, key));
    SAY(actions->look(host, S("/")));
    SAY(actions->download(host, item, 0, S("too many")));
}

static void look(struct careless *me) {
    const larder_items *items = ask(me, LARDER_EXT_ITEMS);
    const larder_usage *usage = ask(me, LARDER_EXT_USAGE);
    const larder_host *host = me->host;
    larder_query query = {sizeof query, 0, S("true"), LARDER_FIELD_BIT(LARDER_FIELD_PATH), 0, 0, 0};
    larder_usage_figures figures = {39, 0, 0, 0, 0, 0};
    larder_item_cursor *cursor, *others[16];
    const larder_item *found;
    query.struct_size = 31;
    SAY(items->open(host, &query, &cursor));
    query.struct_size = 65537;
    SAY(items->open(host, &query, &cursor));
    query.struct_size = 32;
    SAY(items->open(host, &query, &cursor));
    SAY(cursor->next(cursor, &found));
    SAY(items->close(host, cursor));
    SAY(items->close(host, cursor));
    query.struct_size = sizeof query;
    query.condition = larder_str_make(0, 0);
    SAY(items->open(host, &query, &cursor));
    query.condition = S("\xff");
    SAY(items->open(host, &query, &cursor));
    query.condition = S("true");
    query.sort = LARDER_SORT_BY(LARDER_FIELD_ETAG);
    SAY(items->open(host, &query, &cursor));
    query.sort = 0;
    query.flags = 2;
    SAY(items->open(host, &query, &cursor));
    query.flags = 0;
    for (int i = 0; i < 16; i++) SAY(items->open(host, &query, &others[i]));
    SAY(items->open(host, &query, &cursor));
    SAY(usage->read(host, &figures));
}

static void change(struct careless *me) {
    const larder_policies *policies = ask(me, LARDER_EXT_POLICIES);
    const larder_host *host = me->host;
    larder_policy policy, good;
    larder_policy_list list = {23, 0, 0, 0};
    memset(&good, 0, sizeof good);
    good.struct_size = sizeof good;
    good.condition = S("true");
    SAY(policies->list(host, &list));
    SAY(policies->add(host, &good, 2));
#define WRONG(member, value) \
    policy = good; \
    policy.member = value; \
    say(me, "policy " #member, policies->add(host, &policy, 0))
    WRONG(struct_size, 159);
    WRONG(condition, larder_str_make(0, 0));
    WRONG(condition, S(""));
    WRONG(condition, S("\xff"));
    WRONG(identifier, S("\xff"));
    WRONG(description, S("\xff"));
    WRONG(local_id, S("\xff"));
    WRONG(remove_when_none, S("\xff"));
    WRONG(path, S(""));
    WRONG(path, S("a"));
    WRONG(path, S("/a//b"));
    WRONG(path, S("/a/../b"));
    WRONG(path, S("/a/"));
    WRONG(data.len, 1048577);
    SAY(policies->update(host, &good, 0));
    good.id = S("nobody");
    SAY(policies->update(host, &good, 0));
    SAY(policies->remove(host, larder_str_make(0, 0), 0, 0));
    SAY(policies->remove(host, S("\xff"), 0, 0));
    SAY(policies->remove(host, S("nobody"), 0, 0));
    SAY(policies->remove(host, S("nobody"), 0, 2));
}

static void keep(struct careless *me) {
    const larder_kv *kv = ask(me, LARDER_EXT_KV);
    const larder_records *records = ask(me, LARDER_EXT_RECORDS);
    const larder_config *config = ask(me, LARDER_EXT_CONFIG);
    const larder_host *host = me->host;
    static uint8_t bytes[1048577];
    larder_bytes key = {bytes, 1}, none = {0, 0}, missing = {0, 1}, empty = {bytes, 0}, longest = {bytes, 1024},
                 longer = {bytes, 1025}, large = {bytes, 1048576}, larger = {bytes, 1048577}, out;
    larder_record record = {sizeof record, 0, S("x"), {0, 0}, {0, 0}, {0, 0}};
    const larder_record *found = 0;
    larder_record_cursor *cursor = 0;
    larder_str settings;
    memset(bytes, 'k', sizeof bytes);
    SAY(kv->get(host, none, &out));
    SAY(kv->get(host, missing, &out));
    SAY(kv->get(host, longer, &out));
    SAY(kv->get(host, longest, &out));
    SAY(kv->put(host, none, key));
    SAY(kv->put(host, missing, key));
    SAY(kv->put(host, longer, key));
    SAY(kv->put(host, longest, large));
    SAY(kv->put(host, key, larger));
    SAY(kv->put(host, key, none));
    SAY(kv->put(host, key, missing));
    SAY(kv->put(host, key, empty));
    SAY(kv->get(host, key, &out));
    SAY(kv->remove(host, none));
    SAY(records->get(host, S("x"), S("x"), 0, &record));
    SAY(records->put(host, S("x"), &record));
    record.struct_size = 8;
    SAY(records->put(host, S("x"), &record));
    SAY(records->get(host, S("x"), S("x"), 0, &record));
    record.struct_size = sizeof record;
    SAY(records->get(host, larder_str_make(0, 0), S("x"), 0, &record));
    SAY(records->get(host, S("x"), S("\xff"), 0, &record));
    SAY(records->get(host, S("x"), S("x"), 8, &record));
    SAY(records->remove(host, S("x"), S("x")));
    SAY(records->open(host, S("x"), larder_str_make(0, 0), 8, &cursor));
    SAY(records->open(host, larder_str_make(0, 0), S("x"), 0, &cursor));
    SAY(records->open(host, S("x"), larder_str_make(0, 0), 0, &cursor));
    SAY(cursor->next(cursor, &found));
    say(me, "a record", found != 0);
    SAY(records->close(host, cursor));
    SAY(records->close(host, cursor));
    for (int i = 0; i < 16; i++) records->open(host, S("x"), larder_str_make(0, 0), 0, &cursor);
    SAY(records->open(host, S("x"), larder_str_make(0, 0), 0, &cursor));
    if (config->settings(host, &settings) == LARDER_OK) me->log->write(host, LARDER_LOG_INFO, settings);
}

/* The actions that the processor requests set off other triggers. */
static uint32_t triggers(void *me) { (void)me; return 1u << LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED; }
static larder_status all(void *me, larder_str *out) { (void)me; *out = S("true"); return LARDER_OK; }
static larder_status none(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *changed) {
    (void)me; (void)trigger; (void)changed;
    return LARDER_OK;
}
static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }
static larder_status clean(void *me, uint32_t trigger, const larder_item *item) {
    (void)me; (void)trigger; (void)item;
    return LARDER_OK;
}
static larder_status perform(void *me_, uint32_t trigger, const larder_item *item) {
    struct careless *me = me_;
    (void)trigger;
    if (item->local_id.len < sizeof me->id) memcpy(me->id, item->local_id.ptr, item->local_id.len);
    me->item = larder_str_make(me->id, item->local_id.len);
    return PERFORM_STATUS;
}
static larder_status did_pass(void *me, uint32_t trigger) {
    (void)trigger;
    tell(me);
    act(me);
    look(me);
    change(me);
    keep(me);
    flush(me);
    return LARDER_OK;
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, {"careless", 8}, LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID), triggers, none, all, none, update,
    preflight, nothing, nothing, perform, nothing, nothing, clean, nothing, did_pass, 1};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = S("{\"properties\": {\"after\": {\"type\": \"string\", \"format\": \"duration\", \"default\": \"7d\"}, "
             "\"room\": {\"type\": \"string\", \"format\": \"size\"}, "
             "\"names\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, "
             "\"default\": [\"\\u00e9\\\"\"]}, "
             "\"deep\": {\"type\": \"object\", \"default\": {\"b\": 2}, \"properties\": {\"a\": "
             "{\"type\": \"integer\", \"default\": 1}, "
             "\"b\": {\"type\": \"number\", \"minimum\": 0.5}}}, \"none\": {\"type\": "
             "\"boolean\"}, \"mode\": {\"type\": \"string\", \"enum\": [\"slow\", \"fast\"], \"default\": \"slow\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct careless *me = me_;
    const larder_actions *actions = ask(me, LARDER_EXT_ACTIONS);
    me->log = ask(me, LARDER_EXT_LOG);
    SAY(actions->download(me->host, S("x"), 0, S("k")));
    return LARDER_OK;
}
static void stop(void *me) { (void)me; }
static const void *extension(void *me_, larder_str name) {
    struct careless *me = me_;
    if (!me->log && ask(me, LARDER_EXT_LOG)) abort(); /* before start the host hands out nothing */
    if (name.len == strlen(LARDER_EXT_CONFIG_SCHEMA) && !memcmp(name.ptr, LARDER_EXT_CONFIG_SCHEMA, name.len))
        return &schema;
    return name.len == strlen(LARDER_EXT_ITEM_POLICY_PROCESSOR) ? &processor : 0;
}

#define SERVICES \
    LARDER_EXT_LOG " " LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS " " LARDER_EXT_ITEMS " " LARDER_EXT_POLICIES \
                   " " LARDER_EXT_KV \
                   " " LARDER_EXT_USAGE " " LARDER_EXT_RECORDS
static const larder_descriptor descriptor = {
    sizeof descriptor, 0, {"org.example.careless", 20}, {"Careless", 8}, {"1.0.0", 5}, {0, 0}, {0, 0},
    {SERVICES, sizeof(SERVICES) - 1}, {"larder.wormhole/1", 17}};
static const larder_descriptor *describe(uint32_t index) { return index == 0 ? &descriptor : 0; }
static larder_status create(larder_str id, const larder_host *host, const larder_instance **out) {
    struct careless *me;
    if (id.len != descriptor.id.len || memcmp(id.ptr, descriptor.id.ptr, id.len)) return LARDER_NOT_FOUND;
    if (!(me = calloc(1, sizeof *me))) return LARDER_LIMIT;
    me->instance = (larder_instance){sizeof me->instance, 0, me, start, stop, free, extension};
    me->host = host;
    *out = &me->instance;
    return LARDER_OK;
}
static const larder_module module = {sizeof module, ABI_MINOR, describe, create};
larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out) {
    (void)host_minor;
    *out = &module;
    return LARDER_OK;
}
