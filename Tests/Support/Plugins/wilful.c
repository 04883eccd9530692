/* A processor that behaves as its setting `mode` says, in each call for an item unless the mode is about another
 * call. Its settings `match` and `cleanup` are its conditions, and `triggers` its mask. Built with -pthread. */
#include <larder/larder.h>
#include <larder/single.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S(literal) LARDER_STR(literal)
#ifndef MAX_RECORDS
#define MAX_RECORDS 0
#endif

struct wilful {
    larder_instance instance;
    const larder_host *host;
    const larder_actions *actions;
    const larder_items *items;
    const larder_kv *kv;
    const larder_log *log;
    const larder_policies *policies;
    const larder_usage *usage;
    char mode[64], match[1024], cleanup[1024], triggers[16];
    larder_str id;
    larder_status answer;
    int has_learnt;
    unsigned asked;
    void *volatile lost;
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

static int is(struct wilful *me, const char *mode) { return !strcmp(me->mode, mode); }

static int is_item(const larder_item *item, const char *path) {
    return item->path.len == strlen(path) && !memcmp(item->path.ptr, path, item->path.len);
}

static void say(struct wilful *me, const char *word, long number) {
    char line[128];
    int length = snprintf(line, sizeof line, "%s %ld", word, number);
    me->log->write(me->host, LARDER_LOG_INFO, larder_str_make(line, (uint64_t)length));
}

static larder_status text(const char *from, larder_str *out) {
    if (*from) *out = larder_str_make(from, strlen(from));
    return LARDER_OK;
}

static uint32_t triggers(void *me_) {
    struct wilful *me = me_;
    uint32_t mask = (uint32_t)strtoul(me->triggers, 0, 0);
    if (is(me, "moody") && me->asked++ % 2) return 0; /* every second call it wants no triggers */
    return mask;
}
static larder_status matching(void *me, larder_str *out) { return text(((struct wilful *)me)->match, out); }
/* Returns the covered condition: the match condition, but for the modes that are about coverage. */
static larder_status covered(void *me_, larder_str *out) {
    struct wilful *me = me_;
    if (is(me, "uncovered") || (is(me, "learns") && !me->has_learnt)) return LARDER_OK;
    return matching(me, out);
}
static larder_status unwanted(void *me, larder_str *out) { return text(((struct wilful *)me)->cleanup, out); }

static larder_status update(void *me_, const larder_policy_list *list) {
    struct wilful *me = me_;
    if (is(me, "updates fail")) return LARDER_FAILED;
    for (uint64_t i = 0; is(me, "list") && i < list->count; i++) {
        const larder_policy *policy = larder_policy_at(list, i);
        me->log->write(me->host, LARDER_LOG_INFO, policy->condition);
    }
    return LARDER_OK;
}

static larder_status preflight(void *me_, uint32_t trigger, larder_item_cursor *changed) {
    struct wilful *me = me_;
    const larder_item *item;
    (void)trigger;
    if (is(me, "preflight fails")) return LARDER_FAILED;
    if (!is(me, "preflight")) return LARDER_OK;
    if (!changed) say(me, "no batch", 0);
    while (changed && changed->next(changed, &item) == LARDER_OK && item)
        say(me, item->removed ? "gone" : "there", item->size);
    return LARDER_OK;
}

/* Stores values in place of 60 stored ones, or none, and then two new ones, the second of which is too large. */
static void rewrite(struct wilful *me, uint8_t count) {
    static uint8_t bytes[1000];
    uint8_t key = 0;
    larder_bytes value = {bytes, sizeof bytes}, name = {&key, 1};
    long written = 0, added = 0;
    for (key = 0; key < count; key++) written += me->kv->put(me->host, name, value) == LARDER_OK;
    say(me, "rewritten", written);
    for (key = 100; key < 102; key++) added += me->kv->put(me->host, name, value) == LARDER_OK;
    say(me, "added", added);
}

static larder_status will_enter(void *me_, uint32_t trigger) {
    struct wilful *me = me_;
    larder_bytes value, one = {(const uint8_t *)"1", 1};
    larder_policy policy;
    (void)trigger;
    me->has_learnt = 1;
    if (is(me, "kv")) {
        say(me, "stored", me->kv->get(me->host, one, &value));
        me->kv->put(me->host, one, one);
        say(me, "own", me->kv->get(me->host, one, &value));
    }
    if (is(me, "kv fails")) {
        me->kv->put(me->host, one, one);
        return LARDER_FAILED;
    }
    if (is(me, "rewrite")) rewrite(me, 60);
    if (is(me, "adds and fails")) {
        rewrite(me, 0);
        return LARDER_FAILED;
    }
    if (is(me, "decides")) {
        memset(&policy, 0, sizeof policy);
        policy.struct_size = sizeof policy;
        policy.condition = S("availableOffline == \"none\"");
        say(me, "condition", me->policies->add(me->host, &policy, 0));
        policy.condition = S("false");
        policy.remove_when_none = S("!claimed");
        say(me, "removal", me->policies->add(me->host, &policy, 0));
    }
    if (is(me, "restless")) {
        memset(&policy, 0, sizeof policy);
        policy.struct_size = sizeof policy;
        policy.condition = S("path == \"/x\"");
        return me->policies->add(me->host, &policy, 0);
    }
    return LARDER_OK;
}

/* Queries the sizes of the two largest files and the least size, then orders that the host refuses. */
static void ask_sorted(struct wilful *me) {
    larder_query query = {sizeof query, 0, S("type == \"file\""), LARDER_FIELD_BIT(LARDER_FIELD_SIZE),
                          LARDER_SORT_BY(LARDER_FIELD_SIZE), LARDER_QUERY_DESCENDING, 2};
    larder_item_cursor *cursor;
    const larder_item *item;
    for (int i = 0; i < 3; i++) {
        if (me->items->open(me->host, &query, &cursor) != LARDER_OK) return;
        while (cursor->next(cursor, &item) == LARDER_OK && item) say(me, item->present ? "size" : "none", item->size);
        me->items->close(me->host, cursor);
        query.flags = 0;
        /* Acts as a plugin that was built before queries had an order. */
        if (i == 1) query.struct_size = 32;
    }
    query.struct_size = sizeof query;
    query.sort = LARDER_SORT_BY(LARDER_FIELD_ETAG);
    say(me, "by etag", me->items->open(me->host, &query, &cursor));
    query.sort = UINT32_MAX;
    say(me, "by nothing", me->items->open(me->host, &query, &cursor));
    query.sort = 0;
    query.flags = 2;
    say(me, "flags", me->items->open(me->host, &query, &cursor));
}

static void ask_usage(struct wilful *me) {
    larder_usage_figures figures = {0, 0, 0, 0, 0, 0};
    say(me, "no size", me->usage->read(me->host, &figures));
    figures.struct_size = sizeof figures;
    say(me, "usage", me->usage->read(me->host, &figures));
    say(me, "bytes", figures.local_bytes);
    say(me, "copies", figures.local_copies);
    say(me, "room", figures.free_bytes > 0 && figures.free_bytes <= figures.total_bytes);
}

static larder_status did_pass(void *me_, uint32_t trigger) {
    struct wilful *me = me_;
    larder_bytes value, one = {(const uint8_t *)"1", 1};
    larder_query query = {sizeof query, 0, S("type == \"file\""), LARDER_FIELD_BIT(LARDER_FIELD_PATH), 0, 0, 0};
    larder_item_cursor *cursor;
    const larder_item *item;
    long count = 0;
    (void)trigger;
    if (is(me, "kv") || is(me, "kv fails")) say(me, "later", me->kv->get(me->host, one, &value));
    if (is(me, "sorted")) ask_sorted(me);
    if (is(me, "usage")) ask_usage(me);
    if (is(me, "claims")) {
        query.fields |= LARDER_FIELD_BIT(LARDER_FIELD_CLAIMS);
        if (me->items->open(me->host, &query, &cursor) != LARDER_OK) return LARDER_FAILED;
        while (cursor->next(cursor, &item) == LARDER_OK && item)
            say(me, "claims", item->present & LARDER_FIELD_BIT(LARDER_FIELD_CLAIMS) ? (long)item->claims : -1);
        return me->items->close(me->host, cursor);
    }
    if (is(me, "shares")) {
        query.fields |= LARDER_FIELD_BIT(LARDER_FIELD_SHARES);
        if (me->items->open(me->host, &query, &cursor) != LARDER_OK) return LARDER_FAILED;
        while (cursor->next(cursor, &item) == LARDER_OK && item)
            me->log->write(me->host, LARDER_LOG_INFO,
                           item->present & LARDER_FIELD_BIT(LARDER_FIELD_SHARES) ? item->shares : S("none"));
        return me->items->close(me->host, cursor);
    }
    if (is(me, "items") && me->items->open(me->host, &query, &cursor) == LARDER_OK) {
        while (cursor->next(cursor, &item) == LARDER_OK && item) count++;
        say(me, "files", count);
        say(me, "closed", me->items->close(me->host, cursor));
        say(me, "closed again", me->items->close(me->host, cursor));
        query.condition = S("path ==");
        say(me, "no condition", me->items->open(me->host, &query, &cursor));
    }
    return LARDER_OK;
}

/* Stores more values than the quota allows, then one in place of another, one more, and one in place of a removed one. */
static void hoard(struct wilful *me) {
    static uint8_t bytes[1000];
    uint8_t key = 0;
    larder_bytes value = {bytes, sizeof bytes}, name = {&key, 1};
    long taken = 0;
    for (key = 0; key < 70; key++) taken += me->kv->put(me->host, name, value) == LARDER_OK;
    say(me, "taken", taken);
    key = 0;
    say(me, "again", me->kv->put(me->host, name, value));
    key = 200;
    say(me, "full", me->kv->put(me->host, name, value));
    key = 1;
    me->kv->remove(me->host, name);
    say(me, "room", me->kv->put(me->host, name, value));
}

/* Adds up to 6,000 policies. */
static void add_rules(struct wilful *me) {
    larder_policy policy;
    long added = 0;
    memset(&policy, 0, sizeof policy);
    policy.struct_size = sizeof policy;
    policy.condition = S("false");
    while (added < 6000 && me->policies->add(me->host, &policy, LARDER_POLICY_QUIET) == LARDER_OK) added++;
    say(me, "rules", added);
}

static void *elsewhere(void *me_) {
    struct wilful *me = me_;
    me->answer = me->actions->download(me->host, me->id, 0, S("elsewhere"));
    return 0;
}

static larder_status perform(void *me_, uint32_t trigger, const larder_item *item) {
    struct wilful *me = me_;
    int is_bad = item->path.len >= 3 && !memcmp(item->path.ptr + item->path.len - 3, "bad", 3);
    (void)trigger;
    if (is(me, "prints")) {
        printf("the plugin's own line about %.*s\n", (int)item->path.len, item->path.ptr);
        fflush(stdout);
    }
    if (is(me, "leak")) me->lost = malloc(16 << 20);
    if (is(me, "hoard")) hoard(me);
    if (is(me, "rules")) add_rules(me);
    if (is(me, "leak") || is(me, "hoard") || is(me, "rules")) return LARDER_OK;
    if (is(me, "fails")) return LARDER_FAILED;
    if (is(me, "hands on")) return me->actions->download(me->host, item->local_id, 0, S(""));
    if (is(me, "keyless")) {
        int has_key = is_item(item, "/c"), count = is_item(item, "/b") ? 2 : 1;
        while (count--) {
            larder_status status = me->actions->download(
                me->host, item->local_id, 0, has_key ? item->path : larder_str_make(NULL, 0));
            if (status != LARDER_OK) return status;
        }
        return LARDER_OK;
    }
    if (is(me, "no key")) say(me, "no key", me->actions->download(me->host, item->local_id, 0, S("")));
    if (is(me, "no text")) {
        say(me, "no text", me->log->write(me->host, LARDER_LOG_INFO, S("\xff\xfe")));
        say(me, "no text", me->actions->download(me->host, item->local_id, 0, S("k\xff")));
        return LARDER_OK;
    }
    if (is(me, "no item")) say(me, "no item", me->actions->download(me->host, S("nobody"), 0, S("k")));
    if (is(me, "thread")) {
        pthread_t thread;
        me->id = item->local_id;
        if (pthread_create(&thread, 0, elsewhere, me) || pthread_join(thread, 0)) return LARDER_FAILED;
        say(me, "thread", me->answer);
        return LARDER_OK;
    }
    if (!is(me, "no key") && !is(me, "no item")) {
        uint32_t flags = is(me, "uncovered") || is(me, "learns") ? LARDER_DOWNLOAD_WHILE_COVERED : 0;
        larder_status status = me->actions->download(me->host, item->local_id, flags, item->path);
        if (status != LARDER_OK) return status;
    }
    if (is(me, "twice")) say(me, "twice", me->actions->download(me->host, item->local_id, 0, S("again")));
    if (is(me, "fail") && is_bad) {
        me->host->fail(me->host, LARDER_FAILED, S("it is bad"));
        return LARDER_FAILED;
    }
    return is(me, "unknown") && is_bad ? 42 : LARDER_OK;
}

static larder_status clean(void *me_, uint32_t trigger, const larder_item *item) {
    struct wilful *me = me_;
    (void)trigger;
    uint32_t flags = is(me, "if unused") ? LARDER_REMOVE_IF_UNUSED : is(me, "flags") ? 0x80u : 0;
    return me->actions->remove_local_copy(me->host, item->local_id, flags, item->path);
}

static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("wilful"),
    LARDER_FIELD_BIT(LARDER_FIELD_PATH) | LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID) | LARDER_FIELD_BIT(LARDER_FIELD_SIZE)
        | LARDER_FIELD_BIT(LARDER_FIELD_REMOVED),
    triggers, covered, matching, unwanted, update, preflight, will_enter, nothing, perform, nothing,
    nothing, clean, nothing, did_pass, MAX_RECORDS};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
#ifdef BAD_SCHEMA
    *out = S("{\"properties\": {\"mode\": {\"type\": \"text\"}}}");
    return LARDER_OK;
#endif
    *out = S("{\"properties\": {\"mode\": {\"type\": \"string\", \"default\": \"\"}, "
             "\"match\": {\"type\": \"string\", \"default\": \"\"}, "
             "\"cleanup\": {\"type\": \"string\", \"default\": \"\"}, "
             "\"triggers\": {\"type\": \"string\", \"default\": \"0xffffffff\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct wilful *me = me_;
    const larder_host *host = me->host;
    const larder_config *config = host->extension(host, S(LARDER_EXT_CONFIG));
    larder_str json;
    me->actions = host->extension(host, S(LARDER_EXT_ACTIONS));
    me->items = host->extension(host, S(LARDER_EXT_ITEMS));
    me->kv = host->extension(host, S(LARDER_EXT_KV));
    me->log = host->extension(host, S(LARDER_EXT_LOG));
    me->policies = host->extension(host, S(LARDER_EXT_POLICIES));
    me->usage = host->extension(host, S(LARDER_EXT_USAGE));
    if (host->extension(host, S(LARDER_EXT_CLOCK))) return LARDER_INTERNAL; /* neither required nor wanted */
    if (config->settings(host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    setting(json, "\"mode\"", me->mode, sizeof me->mode);
    setting(json, "\"match\"", me->match, sizeof me->match);
    setting(json, "\"cleanup\"", me->cleanup, sizeof me->cleanup);
    setting(json, "\"triggers\"", me->triggers, sizeof me->triggers);
    if (is(me, "early")) say(me, "early", me->actions->download(host, S("x"), 0, S("k")));
    if (is(me, "undeclared")) return LARDER_UNSUPPORTED;
    if (is(me, "no start")) {
        host->fail(host, LARDER_FAILED, S("the archive is not mounted"));
        return LARDER_FAILED;
    }
    return LARDER_OK;
}
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_CONFIG_SCHEMA, &schema}};

LARDER_SINGLE(struct wilful, start, larder_no_stop, offers, "org.example.wilful", "Wilful", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS " " LARDER_EXT_ITEMS " " LARDER_EXT_KV " " LARDER_EXT_LOG
              " " LARDER_EXT_POLICIES " " LARDER_EXT_USAGE, "");
