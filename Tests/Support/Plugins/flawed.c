/* A processor and an event loop that keep the rules, or with FLAW break the one that the check of that number is for.
 * FLAW=40 is for PV40. Built with -pthread. */
#include <larder/larder.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#ifndef FLAW
#define FLAW 0
#endif
#define HAS(number) (FLAW == (number))
#define S(literal) LARDER_STR(literal)
#define BIT(field) LARDER_FIELD_BIT(LARDER_FIELD_##field)
#define READ (BIT(PATH) | BIT(NAME) | BIT(ETAG) | BIT(LOCAL_ID) | BIT(SIZE) | BIT(FAVORITE))

struct work {
    larder_instance instance;
    const larder_host *host;
    const larder_actions *actions;
    const larder_kv *kv;
    const larder_clock *clock;
    const larder_log *log;
    const larder_cancel *cancel;
    const larder_config *config;
    const larder_records *records;
    const larder_http *http;
    const larder_projects *projects;
    int is_loop, is_wide;
    uint32_t runs, items;
    int64_t before;
    larder_str last;
    int has_begun, has_failed, number;
    char *buffer;
};

static int live, created, failures;
static int shared;
static __thread int begun_here;
#if FLAW == 6
__attribute__((tls_model("initial-exec"))) static __thread int static_here;
#endif
#if FLAW == 2
LARDER_EXPORT int helper_of_flawed(void) { return 1; }
#elif FLAW == 9
LARDER_EXPORT int _cgo_helper(void) { return 1; }
#elif FLAW == 10
extern int nobody_defines_this(void);
#endif

static void rest(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static const void *ask(struct work *me, const char *name) {
    return me->host->extension(me->host, larder_str_make(name, strlen(name)));
}

static int is(larder_str text, const char *literal) {
    return text.len == strlen(literal) && memcmp(text.ptr, literal, strlen(literal)) == 0;
}

static larder_bytes bytes(const void *start, size_t length) {
    larder_bytes view = {(const uint8_t *)start, length};
    return view;
}

/* --- The processor. It downloads favorites, and removes the copies that it made of what is none any more. --- */

static uint32_t triggers(void *context) {
    (void)context;
    if (HAS(50)) return LARDER_TRIGGERS_ALL & ~LARDER_TRIGGER_BIT(LARDER_TRIGGER_SYNC_CAPACITY);
    return LARDER_TRIGGERS_ALL;
}

static larder_status no_condition(void *context, larder_str *out) {
    (void)context;
    (void)out;
    return LARDER_OK;
}

static larder_status match_condition(void *context, larder_str *out) {
    const struct work *me = context;
    if (HAS(46) && me->is_wide) {
        *out = S("favorite &&");
    } else if (HAS(47)) {
        *out = S("type == \"file\" && cloudStatus == \"cloudOnly\" && !removed");
    } else {
        *out = S("favorite && type == \"file\" && cloudStatus == \"cloudOnly\" && !removed");
    }
    return LARDER_OK;
}

static larder_status cleanup_condition(void *context, larder_str *out) {
    (void)context;
    if (HAS(47)) return LARDER_OK;
    if (HAS(49)) {
        *out = S("favorite && cloudStatus == \"localCopy\" && downloadTrigger == \"org.example.flawed\"");
    } else {
        *out = S("!favorite && cloudStatus == \"localCopy\" && downloadTrigger == \"org.example.flawed\"");
    }
    return LARDER_OK;
}

static larder_status update_policies(void *context, const larder_policy_list *policies) {
    uint64_t number;
    (void)context;
    for (number = 0; number < policies->count; number++) {
        size_t step = HAS(141) ? sizeof(larder_policy) : policies->stride;
        const larder_policy *policy = (const larder_policy *)((const char *)policies->policies + number * step);
        if (policy->struct_size < sizeof *policy || !policy->id.len) abort();
    }
    return LARDER_OK;
}

static larder_status preflight(void *context, uint32_t trigger, larder_item_cursor *changed) {
    (void)context;
    (void)trigger;
    (void)changed;
    return LARDER_OK;
}

static void *call_from_elsewhere(void *context) {
    struct work *me = context;
    me->log->write(me->host, LARDER_LOG_INFO, S("from a thread of its own"));
    return NULL;
}

static void make_project(struct work *me) {
    larder_str id = {NULL, 0};
    me->projects->create(me->host, &id);
    if (HAS(60)) me->runs += (uint32_t)id.ptr[0];
}

static larder_status will_enter(void *context, uint32_t trigger) {
    struct work *me = context;
    larder_bytes kept = {NULL, 0};
    int64_t now = 0;
    (void)trigger;
    me->items = 0;
    me->clock->now(me->host, &now);
    if (HAS(57) || HAS(55)) {
        larder_status status = me->kv->get(me->host, bytes("runs", 4), &kept);
        if (HAS(57) && status == LARDER_OK) {
            if (kept.len != sizeof me->runs) abort();
        }
        if (HAS(55) && status != LARDER_OK && status != LARDER_NOT_FOUND) abort();
    } else if (me->kv->get(me->host, bytes("runs", 4), &kept) == LARDER_OK && kept.len == sizeof me->runs) {
        memcpy(&me->runs, kept.ptr, sizeof me->runs);
    }
    me->runs++;
    me->kv->put(me->host, bytes("runs", 4), bytes(&me->runs, sizeof me->runs));
    if (HAS(59) && me->before && now < me->before) abort();
    me->before = now;
    if (HAS(75) && !begun_here) abort();
    if (HAS(76) && me->log) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, call_from_elsewhere, me) == 0) pthread_join(thread, NULL);
    }
    if (HAS(77) && me->cancel->check(me->host) != LARDER_OK) rest(150);
    if (me->projects) make_project(me);
    return LARDER_OK;
}

static larder_status step(void *context, uint32_t trigger) {
    (void)context;
    (void)trigger;
    return LARDER_OK;
}

static larder_status end_matching(void *context, uint32_t trigger) {
    struct work *me = context;
    int slices;
    if (HAS(78) && trigger == LARDER_TRIGGER_TIMER && me->items > 50)
        for (slices = 0; slices < 110 && me->cancel->check(me->host) == LARDER_OK; slices++) rest(50);
    return LARDER_OK;
}

static int has(const larder_item *item, int field) { return (item->present >> field & 1) != 0; }

static void break_rules(struct work *me, const larder_item *item) {
    if (HAS(41) && item->struct_size != sizeof *item) abort();
    if (HAS(42) && !has(item, LARDER_FIELD_ETAG) && item->etag.ptr[0] == 0) me->items++;
    if (HAS(43) && item->name.ptr && strlen(item->name.ptr) == 0) me->items++;
    if (HAS(44)) ((larder_item *)(uintptr_t)item)->reserved = 1;
    if (HAS(45)) {
        if (me->last.len && me->last.ptr[0] == 0) me->items++;
        me->last = item->path;
    }
    if (HAS(48) && item->owner.len && item->owner.ptr[0] == 0) me->items++;
    if (HAS(40) && me->items > 4000) abort();
    if (HAS(61) && me->log) {
        int line;
        for (line = 0; line < 20; line++) me->log->write(me->host, LARDER_LOG_INFO, S("an item"));
    }
}

static larder_status perform_action(void *context, uint32_t trigger, const larder_item *item) {
    struct work *me = context;
    larder_str key = item->local_id;
    (void)trigger;
    me->items++;
    break_rules(me, item);
    if (!has(item, LARDER_FIELD_LOCAL_ID)) return LARDER_OK;
    if (HAS(47) && me->number % 2 == 0) return LARDER_OK;
    if (HAS(51) && me->items > 1) return LARDER_OK;
    if (HAS(32) && shared && live > 1) return LARDER_OK;
    if (HAS(56)) key = S("one key");
    return me->actions->download(me->host, item->local_id, 0, key);
}

static larder_status perform_cleanup(void *context, uint32_t trigger, const larder_item *item) {
    struct work *me = context;
    (void)trigger;
    if (!has(item, LARDER_FIELD_LOCAL_ID)) return LARDER_OK;
    return me->actions->remove_local_copy(me->host, item->local_id, 0, item->local_id);
}

static const larder_item_policy_processor processor = {
    sizeof(larder_item_policy_processor), 0, {"org.example.flawed", 18}, READ, triggers, no_condition,
    match_condition, cleanup_condition, update_policies, preflight, will_enter, step, perform_action,
    end_matching, step, perform_cleanup,
#if FLAW == 15
    NULL,
#else
    step,
#endif
    step,
#if FLAW == 50
    10
#else
    0
#endif
};

/* --- The loop. It asks for /state, and keeps what the answer is long as the record `length`. --- */

static larder_status ask_server(struct work *me, size_t *length) {
    larder_http_request request;
    larder_http_answer *answer = NULL;
    larder_bytes piece = {NULL, 0};
    larder_status status;
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.method = S("GET");
    request.target = S("/state");
    *length = 0;
    status = me->http->open(me->host, &request, &answer);
    if (status != LARDER_OK) return status;
    while ((status = answer->read(answer, &piece)) == LARDER_OK && piece.len) {
        *length += (size_t)piece.len;
        if (HAS(158)) {
            void *all = malloc(*length);
            if (!all) abort();
            free(all);
        }
    }
    if (HAS(58) && *length > 50000000) abort();
    me->http->close(me->host, answer);
    return status;
}

static larder_status hand_out(struct work *me, const larder_loop *loop, larder_event_page *out) {
    size_t length, *content;
    char id[32], *copy;
    larder_status status = ask_server(me, &length);
    int count;
    if (status != LARDER_OK) return status;
    if (HAS(65) && loop->event_id.ptr && loop->event_id.len == 0) abort();
    if (HAS(68) && me->has_begun) length++;
    me->has_begun = 1;
    count = snprintf(id, sizeof id, "length:%zu", length);
    copy = malloc(sizeof id);
    content = malloc(sizeof *content);
    if (!copy || !content) {
        free(copy);
        free(content);
        return LARDER_LIMIT;
    }
    memcpy(copy, id, sizeof id);
    *content = length;
    out->event_id = larder_str_make(copy, (uint64_t)count);
    out->content = content;
    if (HAS(66)) out->more = 1;
    return LARDER_OK;
}

static larder_status poll(void *context, const larder_loop *loop, larder_event_page *out) {
    return hand_out(context, loop, out);
}

static larder_status keep(struct work *me, size_t length) {
    larder_record record;
    char text[48];
    int count = snprintf(text, sizeof text, "{\"length\": %zu}", length);
    memset(&record, 0, sizeof record);
    record.struct_size = sizeof record;
    record.key = S("length");
    record.version = S("1");
    record.value = larder_str_make(text, (uint64_t)count);
    return me->records->put(me->host, S("org.example.flawed-loop"), &record);
}

static larder_status process(void *context, const larder_loop *loop, const larder_event_page *page) {
    (void)loop;
    return keep(context, *(size_t *)page->content);
}

static larder_status refresh(void *context, const larder_loop *loop, uint32_t what, larder_event_page *out) {
    struct work *me = context;
    larder_status status = hand_out(me, loop, out);
    larder_record record;
    (void)what;
    if (status != LARDER_OK) return status;
    memset(&record, 0, sizeof record);
    record.struct_size = sizeof record;
    if (HAS(67) && me->records->get(me->host, S("org.example.flawed-loop"), S("length"), 0, &record) == LARDER_OK)
        return me->records->remove(me->host, S("org.example.flawed-loop"), S("length"));
    return keep(me, *(size_t *)out->content);
}

static void on_error(void *context, const larder_loop *loop, const larder_loop_error *error) {
    (void)context;
    (void)loop;
    (void)error;
}

static void release_page(void *context, larder_event_page *page) {
    (void)context;
    if (HAS(69)) return;
    free(page->content);
    free((void *)(uintptr_t)page->event_id.ptr);
}

static const larder_event_loop event_loop = {
    sizeof(larder_event_loop), 0, {"org.example.flawed-loop", 23}, {NULL, 0}, 0, 0, poll, process, refresh, on_error,
    release_page};

/* --- Settings --- */

static larder_status schema(void *context, larder_str *out) {
    (void)context;
    if (HAS(21)) {
        *out = S("{\"properties\": {\"wide\": {\"type\": \"boolean\", \"default\": 7}}}");
    } else {
        *out = S("{\"properties\": {\"wide\": {\"type\": \"boolean\", \"default\": false}}}");
    }
    return LARDER_OK;
}

static const larder_config_schema config_schema = {sizeof(larder_config_schema), 0, schema};

/* --- The instance --- */

static void *run_on(void *context) {
    (void)context;
    rest(500);
    return NULL;
}

static larder_status start(void *context) {
    struct work *me = context;
    static const char *const wide = "\"wide\":true";
    larder_str settings = {NULL, 0};
    size_t at;
    begun_here = 1;
    me->log = ask(me, LARDER_EXT_LOG);
    if (me->is_loop) {
        me->records = ask(me, LARDER_EXT_RECORDS);
        me->http = ask(me, LARDER_EXT_HTTP);
        return me->records && me->http ? LARDER_OK : LARDER_UNSUPPORTED;
    }
    me->actions = ask(me, LARDER_EXT_ACTIONS);
    me->kv = ask(me, LARDER_EXT_KV);
    me->clock = ask(me, LARDER_EXT_CLOCK);
    me->cancel = ask(me, LARDER_EXT_CANCEL);
    me->config = ask(me, LARDER_EXT_CONFIG);
    if (HAS(60)) me->projects = ask(me, LARDER_EXT_PROJECTS);
    if (HAS(30)) return LARDER_FAILED;
    if (HAS(33) && !me->is_loop) me->log->write(me->host, LARDER_LOG_DEBUG, S("start"));
    if (HAS(34)) me->clock->now(me->host, &me->before);
    if (!me->actions || !me->kv || !me->clock || !me->cancel) {
        me->has_failed = 1;
        return LARDER_UNSUPPORTED;
    }
    if (me->config && me->config->settings(me->host, &settings) == LARDER_OK && settings.ptr)
        for (at = 0; at + strlen(wide) <= settings.len; at++)
            if (memcmp(settings.ptr + at, wide, strlen(wide)) == 0) me->is_wide = 1;
    if (HAS(31)) me->buffer = malloc(200);
    if (HAS(32)) shared = 1;
    return LARDER_OK;
}

static void stop(void *context) {
    pthread_t thread;
    (void)context;
    if (HAS(37) && pthread_create(&thread, NULL, run_on, NULL) == 0) pthread_detach(thread);
}

static void destroy(void *context) {
    struct work *me = context;
    live--;
    if (HAS(35) && me->has_failed && ++failures > 10) abort();
    free(me);
}

static const void *extension(void *context, larder_str name) {
    const struct work *me = context;
    if (HAS(19) && name.len >= 27 && memcmp(name.ptr, LARDER_EXT_ITEM_POLICY_PROCESSOR, 27) == 0 && !me->is_loop)
        return &processor;
    if (!me->is_loop && is(name, LARDER_EXT_ITEM_POLICY_PROCESSOR)) return &processor;
    if (me->is_loop && is(name, LARDER_EXT_EVENT_LOOP)) return &event_loop;
    if (!me->is_loop && is(name, LARDER_EXT_CONFIG_SCHEMA)) return &config_schema;
    return NULL;
}

/* --- The module --- */

#if FLAW == 16
#define ID "org.example.Flawed"
#else
#define ID "org.example.flawed"
#endif
#define LOOP_ID "org.example.flawed-loop"
#if FLAW == 20
#define UNKNOWN " larder.wormhole/1"
#else
#define UNKNOWN ""
#endif
#if FLAW == 60
#define PROJECTS " larder.projects/1"
#else
#define PROJECTS ""
#endif
#define LENT(literal) {literal, sizeof(literal) - 1}

static const larder_descriptor descriptors[] = {
    {sizeof(larder_descriptor), 0, LENT(ID), LENT("Flawed"), LENT("1.0"), {NULL, 0}, {NULL, 0},
     LENT("larder.actions/1 larder.kv/1 larder.clock/1 larder.cancel/1" PROJECTS),
     LENT("larder.log/1 larder.config/1" UNKNOWN)},
    {sizeof(larder_descriptor), 0, LENT(LOOP_ID), LENT("Flawed loop"), LENT("1.0"), {NULL, 0}, {NULL, 0},
     LENT("larder.records/1 larder.http/1"), LENT("larder.log/1")},
};
static const larder_descriptor again = {
    sizeof(larder_descriptor), 0, LENT(ID), LENT("Flawed"), LENT("1.0"), {NULL, 0}, {NULL, 0},
    LENT("larder.actions/1 larder.kv/1 larder.clock/1 larder.cancel/1"), LENT("larder.log/1 larder.config/1")};

static const larder_descriptor *describe(uint32_t index) {
    if (HAS(13) && index == 0) return shared++ % 2 ? &again : descriptors;
    if (HAS(17) && index == 5) return &again;
    return index < 2 ? &descriptors[index] : NULL;
}

static larder_status create(larder_str id, const larder_host *host, const larder_instance **out) {
    struct work *me;
    int is_loop = is(id, LOOP_ID);
    if (!is_loop && !is(id, ID)) {
        if (HAS(18)) *out = NULL;
        return HAS(18) ? LARDER_FAILED : LARDER_NOT_FOUND;
    }
    me = calloc(1, sizeof *me);
    if (!me) return LARDER_LIMIT;
    live++;
    me->is_loop = is_loop;
    me->host = host;
    me->instance.struct_size = sizeof me->instance;
    me->instance.context = me;
    me->instance.start = start;
    me->instance.stop = stop;
    me->instance.destroy = destroy;
    me->instance.extension = extension;
    me->number = ++created;
    if (HAS(36)) me->log = ask(me, LARDER_EXT_LOG);
    *out = &me->instance;
    return LARDER_OK;
}

#if FLAW == 38
__attribute__((destructor)) static void end(void) {
    if (live) abort();
}
#endif

LARDER_EXPORT larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out) {
    static const larder_module module = {sizeof(larder_module), LARDER_ABI_MINOR, describe, create};
    if (HAS(11)) rest(60);
    if (HAS(12) && socket(AF_INET, SOCK_STREAM, 0) < 0) return LARDER_IO;
    if (HAS(14) && host_minor < LARDER_ABI_MINOR) return LARDER_FAILED;
#if FLAW == 6
    static_here++;
#elif FLAW == 10
    if (nobody_defines_this()) return LARDER_FAILED;
#endif
    *out = &module;
    return LARDER_OK;
}
