/* A processor that says of an item what its setting `says` names: `state`, `reads` and `writes` are about what it found
 * and what it may do; other words are about faulty answers, and all others are the answer itself. Its setting
 * `triggers` is its mask. With SILENT it says nothing. */
#include <larder/larder.h>
#include <larder/single.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S(literal) LARDER_STR(literal)
#ifndef SILENT
#define SILENT 0
#endif

struct talker {
    larder_instance instance;
    const larder_host *host;
    char says[64], triggers[16], text[256];
    char *huge;
    unsigned policies, performed, passed;
};

static void setting(larder_str json, const char *quoted, char *out, size_t size) {
    const char *end = json.ptr + json.len, *at = json.ptr;
    size_t n = strlen(quoted), length = 0;
    while (at + n < end && memcmp(at, quoted, n) != 0) at++;
    for (at += n; at < end && *at != '"'; at++) {}
    for (at++; at < end && *at != '"' && length + 1 < size; at++)
        out[length++] = *at == '\\' && at + 1 < end ? *++at : *at;
    out[length] = 0;
}

static const void *ask(struct talker *me, const char *name) {
    return me->host->extension(me->host, larder_str_make(name, strlen(name)));
}

static larder_status answer(const char *text, larder_str *out) {
    *out = larder_str_make(text, strlen(text));
    return LARDER_OK;
}

static larder_status hand_out(struct talker *me, larder_str *out) { return answer(me->text, out); }

/* Reads what a processor may read. */
static larder_status read_all(struct talker *me, larder_str *out) {
    const larder_host *host = me->host;
    const larder_items *items = ask(me, LARDER_EXT_ITEMS);
    const larder_policies *policies = ask(me, LARDER_EXT_POLICIES);
    const larder_kv *kv = ask(me, LARDER_EXT_KV);
    const larder_usage *usage = ask(me, LARDER_EXT_USAGE);
    const larder_records *records = ask(me, LARDER_EXT_RECORDS);
    const larder_projects *projects = ask(me, LARDER_EXT_PROJECTS);
    larder_query query = {sizeof query, 0, S("type == \"file\""), LARDER_FIELD_BIT(LARDER_FIELD_PATH), 0, 0, 0};
    larder_policy_list list = {sizeof list, 0, NULL, 0};
    larder_usage_figures figures = {sizeof figures, 0, 0, 0, 0, 0};
    larder_project_ids ids = {sizeof ids, 0, NULL, 0};
    larder_record record = {sizeof record, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    larder_bytes key = {(const uint8_t *)"k", 1}, value = {0, 0};
    larder_item_cursor *cursor;
    const larder_item *item;
    unsigned files = 0;
    if (items->open(host, &query, &cursor) != LARDER_OK) return LARDER_FAILED;
    while (cursor->next(cursor, &item) == LARDER_OK && item) files++;
    snprintf(me->text, sizeof me->text, "%u files %d, policies %d %u, kv %d, usage %d, records %d, projects %d", files,
             (int)items->close(host, cursor), (int)policies->list(host, &list), (unsigned)list.count,
             (int)kv->get(host, key, &value), (int)usage->read(host, &figures),
             (int)records->get(host, S("list"), S("key"), 0, &record),
             projects ? (int)projects->list(host, 0, &ids) : LARDER_UNSUPPORTED);
    return hand_out(me, out);
}

/* Tries everything that changes something. */
static larder_status write_all(struct talker *me, const larder_item *item, larder_str *out) {
    const larder_host *host = me->host;
    const larder_actions *actions = ask(me, LARDER_EXT_ACTIONS);
    const larder_policies *policies = ask(me, LARDER_EXT_POLICIES);
    const larder_kv *kv = ask(me, LARDER_EXT_KV);
    const larder_records *records = ask(me, LARDER_EXT_RECORDS);
    const larder_projects *projects = ask(me, LARDER_EXT_PROJECTS);
    larder_bytes key = {(const uint8_t *)"k", 1};
    larder_record record = {sizeof record, 0, S("/mine"), S("1"), S("{}"), {0, 0}};
    larder_str id = item->local_id, made;
    larder_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.struct_size = sizeof policy;
    policy.condition = S("favorite");
    larder_status got[] = {
        actions->download(host, id, 0, S("k")),
        actions->remove_local_copy(host, id, 0, S("k")),
        actions->purge(host, id, 0, S("k")),
        actions->look(host, S("/")),
        actions->create_folder(host, S("/new"), 0, S("k")),
        actions->move(host, id, S("/new"), 0, S("k")),
        actions->copy(host, id, S("/new"), 0, S("k")),
        actions->remove_from_server(host, id, 0, S("k")),
        actions->set_favorite(host, id, 1, 0, S("k")),
        actions->upload(host, S("p"), S("f"), S("/new"), 0, S("k")),
        policies->add(host, &policy, 0),
        policies->update(host, &policy, 0),
        policies->remove(host, S("x"), 1, 0),
        kv->put(host, key, key),
        kv->remove(host, key),
        records->put(host, S("org.example.talker"), &record),
        records->remove(host, S("org.example.talker"), S("/mine")),
        projects->create(host, &made),
        projects->remove(host, S("x")),
    };
    unsigned refused = 0, count = sizeof got / sizeof *got;
    for (unsigned i = 0; i < count; i++) refused += got[i] == LARDER_WRONG_STATE;
    snprintf(me->text, sizeof me->text, "%u of %u refused", refused, count);
    return hand_out(me, out);
}

/* Hands out 1 MiB of characters of three bytes behind two others, so that one of them lies across byte 1,024. */
static larder_status hand_out_huge(struct talker *me, int is_text, larder_str *out) {
    if (!me->huge) me->huge = malloc(1 << 20);
    if (!me->huge) return LARDER_LIMIT;
    for (size_t i = 2; i < 1 << 20; i++) me->huge[i] = is_text ? "\xe2\x82\xac"[(i - 2) % 3] : '\x80';
    me->huge[0] = me->huge[1] = 'x';
    *out = larder_str_make(me->huge, 1 << 20);
    return LARDER_OK;
}

static larder_status explain(void *me_, const larder_item *item, larder_str *out) {
    struct talker *me = me_;
    const char *says = me->says;
    if (!strcmp(says, "absent")) return LARDER_OK;
    if (!strcmp(says, "empty")) return answer("", out);
    if (!strcmp(says, "bad")) return answer("caf\xe9", out);
    if (!strcmp(says, "huge") || !strcmp(says, "huge and bad")) return hand_out_huge(me, !strcmp(says, "huge"), out);
    if (!strcmp(says, "hostile"))
        return answer("\x1b[2J\x1b]0;x\x07 a\r\nvacuum  \xc2\x9b" "1A\xe2\x80\xae" "back\b", out);
    if (!strcmp(says, "nothing more") || !strcmp(says, "unknown")) {
        answer("not this", out);
        return !strcmp(says, "unknown") ? 42 : LARDER_FAILED;
    }
    if (!strcmp(says, "failure")) {
        me->host->fail(me->host, LARDER_FAILED, S("the archive is not mounted"));
        return LARDER_FAILED;
    }
    if (!strcmp(says, "reads")) return read_all(me, out);
    if (!strcmp(says, "writes")) return write_all(me, item, out);
    if (!strcmp(says, "state")) {
        snprintf(me->text, sizeof me->text, "%.*s %d: %u policies, %u performed, %u passed, %d", (int)item->path.len,
                 item->path.ptr, (int)item->removed, me->policies, me->performed, me->passed,
                 !!(item->present & LARDER_FIELD_BIT(LARDER_FIELD_ETAG)));
        return hand_out(me, out);
    }
    return answer(says, out);
}

static uint32_t triggers(void *me) { return (uint32_t)strtoul(((struct talker *)me)->triggers, 0, 0); }
static larder_status files(void *me, larder_str *out) { (void)me; return answer("type == \"file\" && !removed", out); }
static larder_status none(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me_, const larder_policy_list *list) {
    struct talker *me = me_;
    if (!strcmp(me->says, "lost")) return LARDER_FAILED;
    me->policies = (unsigned)list->count;
    return LARDER_OK;
}
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *changed) {
    (void)me; (void)trigger; (void)changed;
    return LARDER_OK;
}
static larder_status enter(void *me_, uint32_t trigger) {
    struct talker *me = me_;
    (void)trigger;
    me->performed = me->passed = 0;
    return LARDER_OK;
}
static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }
static larder_status perform(void *me_, uint32_t trigger, const larder_item *item) {
    struct talker *me = me_;
    (void)trigger; (void)item;
    me->performed++;
    return LARDER_OK;
}
static larder_status clean(void *me, uint32_t trigger, const larder_item *item) {
    (void)me; (void)trigger; (void)item;
    return LARDER_OK;
}
static larder_status did_pass(void *me_, uint32_t trigger) {
    struct talker *me = me_;
    (void)trigger;
    me->passed++;
    return LARDER_OK;
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("talker"),
    LARDER_FIELD_BIT(LARDER_FIELD_PATH) | LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID)
        | LARDER_FIELD_BIT(LARDER_FIELD_REMOVED),
    triggers, none, files, none, update, preflight, enter, nothing, perform, nothing, nothing, clean, nothing, did_pass,
    0};
static const larder_explain explainer = {sizeof explainer, 0, explain};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = S("{\"properties\": {\"says\": {\"type\": \"string\", \"default\": \"\"}, "
             "\"triggers\": {\"type\": \"string\", \"default\": \"0xffffffff\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct talker *me = me_;
    const larder_config *config = ask(me, LARDER_EXT_CONFIG);
    larder_str json;
    if (config->settings(me->host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    setting(json, "\"says\"", me->says, sizeof me->says);
    setting(json, "\"triggers\"", me->triggers, sizeof me->triggers);
    return LARDER_OK;
}
static void stop(void *me_) {
    struct talker *me = me_;
    free(me->huge);
    me->huge = NULL;
}
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_CONFIG_SCHEMA, &schema},
    {LARDER_EXT_EXPLAIN, SILENT ? NULL : &explainer}};

LARDER_SINGLE(struct talker, start, stop, offers, "org.example.talker", "Talker", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS " " LARDER_EXT_ITEMS " " LARDER_EXT_POLICIES " " LARDER_EXT_KV
              " " LARDER_EXT_USAGE " " LARDER_EXT_RECORDS " " LARDER_EXT_PROJECTS, "");
