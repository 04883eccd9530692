/* An event loop that behaves as its setting `mode` says. Its event ids are numbers: each poll advances the number by
 * one, up to the setting `pages`, with `more` before the last. Process counts its pages in the record `count` of the
 * plugin's own collection, and puts one record for each page. A number after the mode names the turn that the mode
 * applies to, by the event id at which the turn begins. Built with -pthread. */
#include <larder/larder.h>
#include <larder/single.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define S(literal) LARDER_STR(literal)
#ifndef COLLECTION
#define COLLECTION ""
#endif
#ifndef REFRESH_BITS
#define REFRESH_BITS 0
#endif
#ifndef HINTS
#define HINTS 0
#endif
#ifndef OWN
#define OWN "org.example.looper"
#endif
#ifndef KIND
#define KIND "looper"
#endif

struct looper {
    larder_instance instance;
    const larder_host *host;
    const larder_records *records;
    const larder_http *http;
    const larder_dav *dav;
    const larder_discover *discover;
    const larder_kv *kv;
    const larder_log *log;
    const larder_cancel *cancel;
    const larder_actions *actions;
    const larder_projects *projects;
    char mode[64], target[256], pages[16], own[256];
    larder_status answer;
    long live_pages;
    /* An event id that is too long. */
    char longest[(64 << 10) + 1];
    /* The status of the last answer. */
    uint32_t status;
};

struct content {
    char id[32];
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

/* Tells whether the mode is this one, at this number. */
static int is(struct looper *me, const char *mode, long number) {
    size_t n = strlen(mode);
    if (strncmp(me->mode, mode, n) != 0) return 0;
    return me->mode[n] == 0 || (me->mode[n] == ' ' && strtol(me->mode + n, 0, 10) == number);
}

static void say(struct looper *me, const char *word, long number) {
    char line[256];
    int length = snprintf(line, sizeof line, "%s %ld", word, number);
    me->log->write(me->host, LARDER_LOG_INFO, larder_str_make(line, (uint64_t)length));
}

static void rest(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, 0);
}

static long number_of(larder_str text) {
    char copy[32] = "";
    if (text.ptr && text.len < sizeof copy) memcpy(copy, text.ptr, text.len);
    return strtol(copy, 0, 10);
}

/* Returns the collection of a loop's records: the plugin's own collection, or, with COLLECTION, a collection for
 * this loop alone. */
static larder_str own(struct looper *me, const larder_loop *loop) {
    larder_str collection = LARDER_TEXT(COLLECTION), plugin = S(OWN);
    int length;
    if (!collection.ptr) return plugin;
    length = snprintf(me->own, sizeof me->own, "%.*s/%.*s", (int)plugin.len, plugin.ptr, (int)loop->id.len,
                      loop->id.ptr);
    return larder_str_make(me->own, (uint64_t)length);
}

static void *from_elsewhere(void *me_) {
    struct looper *me = me_;
    larder_record record = {sizeof record, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    me->answer = me->records->get(me->host, S(OWN), S("count"), 0, &record);
    return 0;
}

/* Waits for the file that the target names, and calls then. */
static void *later(void *me_) {
    struct looper *me = me_;
    while (access(me->target, F_OK) != 0) rest(5);
    return from_elsewhere(me);
}

static larder_status put(struct looper *me, larder_str collection, const char *key, const char *value, size_t content) {
    larder_record record = {sizeof record, 0, larder_str_make(key, strlen(key)), S(""),
                            larder_str_make(value, strlen(value)), {0, 0}};
    larder_status status;
    uint8_t *bytes = content ? calloc(1, content) : 0;
    record.content.ptr = bytes;
    record.content.len = content;
    status = me->records->put(me->host, collection, &record);
    free(bytes);
    return status;
}

/* Asks for the homes of each service, and logs the statuses. */
static void ask_homes(struct looper *me) {
    static const char *services[] = {"caldav", "carddav", "files", "CardDAV", "carddav "};
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        larder_discovery found;
        memset(&found, 0, sizeof found);
        found.struct_size = sizeof found;
        say(me, services[i], me->discover->find(me->host, larder_str_make(services[i], strlen(services[i])), &found));
    }
}

/* Reads and writes projects in a call, and logs the results. */
static void keep(struct looper *me, const char *where) {
    char word[64];
    larder_project_ids ids = {sizeof ids, 0, 0, 0};
    larder_str id;
    snprintf(word, sizeof word, "list %s", where);
    say(me, word, me->projects->list(me->host, 0, &ids));
    snprintf(word, sizeof word, "create %s", where);
    say(me, word, me->projects->create(me->host, &id));
}

static larder_status ask_http(struct looper *me) {
    larder_http_header header = {S("Accept"), S("text/plain")};
    larder_http_request request = {sizeof request, sizeof header, S("GET"), {0, 0}, &header, 1, {0, 0}};
    larder_http_answer *answer;
    larder_bytes bytes;
    larder_str value;
    larder_status status;
    long length = 0;
    request.target = larder_str_make(me->target, strlen(me->target));
    status = me->http->open(me->host, &request, &answer);
    say(me, "http", status);
    if (status != LARDER_OK) return status;
    me->status = answer->status;
    say(me, "status", answer->status);
    say(me, "header", answer->header(answer, S("cOnTeNt-LeNgTh"), &value) == LARDER_OK ? number_of(value) : -1);
    while ((status = answer->read(answer, &bytes)) == LARDER_OK && bytes.ptr) length += (long)bytes.len;
    say(me, "body", status == LARDER_OK ? length : status);
    say(me, "closed", me->http->close(me->host, answer));
    say(me, "again", me->http->close(me->host, answer));
    return LARDER_OK;
}

static void ask_dav(struct looper *me) {
    larder_str names[2] = {S("{DAV:}resourcetype"), S("{DAV:}nothing")};
    larder_dav_request request = {sizeof request, 1, S("PROPFIND"), {0, 0}, {0, 0}, names, 2, 0, 0};
    larder_dav_answer *answer;
    const larder_dav_response *response;
    larder_dav_end end = {sizeof end, 0, {0, 0}, {0, 0}};
    larder_status status;
    request.target = larder_str_make(me->target, strlen(me->target));
    status = me->dav->open(me->host, &request, &answer);
    say(me, "dav", status);
    if (status != LARDER_OK) return;
    say(me, "status", answer->status);
    say(me, "early", answer->end(answer, &end));
    while ((status = answer->next(answer, &response)) == LARDER_OK && response) {
        me->log->write(me->host, LARDER_LOG_INFO, response->href);
        say(me, "values",
            (long)response->value_count + 10 * (response->values[0].ptr != 0) + 100 * (response->values[1].ptr != 0));
    }
    say(me, "end", status != LARDER_OK ? status : answer->end(answer, &end));
}

/* Sends two requests ahead, and reads their answers one after the other. */
static void ask_ahead(struct looper *me, int reads) {
    larder_str names[1] = {S("{DAV:}resourcetype")};
    larder_dav_request request = {sizeof request, 0, S("PROPFIND"), {0, 0}, {0, 0}, names, 1, 2, 0};
    larder_dav_answer *answers[2];
    const larder_dav_response *response;
    larder_status status;
    int i;
    request.target = larder_str_make(me->target, strlen(me->target));
    say(me, "unknown flag", me->dav->open(me->host, &request, &answers[0]));
    request.flags = LARDER_DAV_AHEAD;
    for (i = 0; i < 2; i++) {
        status = me->dav->open(me->host, &request, &answers[i]);
        say(me, "ahead", status);
        if (status != LARDER_OK) return;
        say(me, "before", answers[i]->status);
    }
    for (i = 0; reads && i < 2; i++) {
        while ((status = answers[i]->next(answers[i], &response)) == LARDER_OK && response) {}
        say(me, "after", answers[i]->status);
        say(me, "read", status);
        say(me, "closed", me->dav->close(me->host, answers[i]));
    }
}

static larder_status poll(void *me_, const larder_loop *loop, larder_event_page *out) {
    struct looper *me = me_;
    struct content *content;
    pthread_t thread;
    larder_status status;
    long from = number_of(loop->event_id), last = strtol(me->pages, 0, 10);
    if (is(me, "die in poll", from)) raise(SIGKILL);
    if (is(me, "fail in poll", from)) {
        me->host->fail(me->host, LARDER_FAILED, S("as it was told to"));
        return LARDER_FAILED;
    }
    if (is(me, "needs http", from)) {
        status = ask_http(me);
        if (status != LARDER_OK) return status;
    }
    if (is(me, "needs leave", from)) {
        status = ask_http(me);
        if (status != LARDER_OK) return status;
        if (me->status == 401) return LARDER_DENIED;
    }
    if (is(me, "nothing there", from)) {
        say(me, "nothing there", from);
        return LARDER_UNSUPPORTED;
    }
    if (is(me, "unknown status", from)) return 77;
    if (is(me, "hang", from)) {
        say(me, "hangs", from);
        while (me->cancel->check(me->host) == LARDER_OK) rest(5);
        return LARDER_CANCELLED;
    }
    if (is(me, "deaf", from)) rest(3000);
    if (is(me, "elsewhere", from)) {
        pthread_create(&thread, 0, from_elsewhere, me);
        pthread_join(thread, 0);
        say(me, "from elsewhere", me->answer);
    }
    if (is(me, "later", from)) {
        pthread_create(&thread, 0, later, me);
        pthread_detach(thread);
    }
    if (is(me, "project in poll", from)) keep(me, "in poll");
    if (is(me, "put in poll", from)) say(me, "put in poll", put(me, S(OWN), "x", "{}", 0));
    if (is(me, "http", from)) ask_http(me);
    if (is(me, "dav", from)) ask_dav(me);
    if (is(me, "discover", from)) ask_homes(me);
    if (is(me, "ahead", from)) ask_ahead(me, 1);
    if (is(me, "leave ahead", from)) ask_ahead(me, 0);
    content = calloc(1, sizeof *content);
    if (!content) return LARDER_INTERNAL;
    me->live_pages++;
    snprintf(content->id, sizeof content->id, "%ld", from < last && !is(me, "stall", from) ? from + 1 : from);
    out->content = content;
    out->event_id = larder_str_make(content->id, strlen(content->id));
    out->more = from + 1 < last;
    if (is(me, "stall", from)) out->more = 1;
    if (is(me, "no id", from)) out->event_id = larder_str_make(0, 0);
    if (is(me, "empty id", from)) out->event_id = larder_str_make("", 0);
    if (is(me, "long id", from)) {
        memset(me->longest, 'x', sizeof me->longest);
        out->event_id = larder_str_make(me->longest, sizeof me->longest);
    }
    if (is(me, "bad id", from)) out->event_id = larder_str_make("\xff", 1);
    if (is(me, "refresh everything", from)) out->refresh = LARDER_REFRESH_EVERYTHING;
    if (is(me, "refresh three", from)) out->refresh = 3;
    if (is(me, "refresh four", from)) out->refresh = 4;
    return LARDER_OK;
}

/* Stores values and a record that are no plain text, or long. */
static void keep_odd(struct looper *me) {
    static uint8_t many[1000];
    uint8_t binary[2] = {0xff, 0}, answer[2] = {0x80, 1};
    memset(many, 'x', sizeof many);
    me->kv->put(me->host, (larder_bytes){binary, 2}, (larder_bytes){answer, 2});
    me->kv->put(me->host, (larder_bytes){(const uint8_t *)"long", 4}, (larder_bytes){many, sizeof many});
    me->kv->put(me->host, (larder_bytes){(const uint8_t *)"a\x1b[2J", 5},
                (larder_bytes){(const uint8_t *)"two\nlines", 9});
    put(me, S(OWN), "k\x1b[2J", "{\"a\":[1,\"\\u001b\"]}", 3);
}

static larder_status process(void *me_, const larder_loop *loop, const larder_event_page *page) {
    struct looper *me = me_;
    larder_record record = {sizeof record, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    char key[64], value[64];
    long from = number_of(loop->event_id), count = 0;
    if (page->event_id.len == loop->event_id.len && !memcmp(page->event_id.ptr, loop->event_id.ptr, loop->event_id.len))
        return LARDER_OK;
    if (me->records->get(me->host, own(me, loop), S("count"), LARDER_RECORD_VERSION, &record) == LARDER_OK)
        count = number_of(record.version);
    snprintf(value, sizeof value, "%ld", count + 1);
    snprintf(key, sizeof key, "page %.*s", (int)page->event_id.len, page->event_id.ptr);
    memset(&record, 0, sizeof record);
    record.struct_size = sizeof record;
    record.key = S("count");
    record.version = larder_str_make(value, strlen(value));
    if (me->records->put(me->host, own(me, loop), &record) != LARDER_OK) return LARDER_IO;
    if (put(me, own(me, loop), key, "{\"seen\":1}", 0) != LARDER_OK) return LARDER_IO;
    me->kv->put(me->host, (larder_bytes){(const uint8_t *)"last", 4},
                (larder_bytes){(const uint8_t *)value, strlen(value)});
    if (is(me, "die in process", from)) raise(SIGKILL);
    if (is(me, "project in poll", from)) keep(me, "in process");
    if (is(me, "fail in process", from)) return LARDER_FAILED;
    if (is(me, "hands on", from)) return put(me, S("calendars"), "/c/", "{}", 0);
    if (is(me, "denied", from)) {
        say(me, "calendars", put(me, S("calendars"), "/c/", "{}", 0));
        say(me, "other", put(me, S("org.example.other"), "x", "{}", 0));
        say(me, "empty key", put(me, S(OWN), "", "{}", 0));
        say(me, "no object", put(me, S(OWN), "x", "[]", 0));
        say(me, "no JSON", put(me, S(OWN), "x", "{", 0));
        say(me, "much", put(me, S(OWN), "x", "{}", 15u << 20));
        say(me, "too much", put(me, S(OWN), "y", "{}", 2u << 20));
        say(me, "removed", me->records->remove(me->host, S(OWN), S("x")));
        say(me, "gone", me->records->get(me->host, S(OWN), S("x"), 0, &record));
    }
    if (is(me, "strange", from)) {
        say(me, "write own", put(me, own(me, loop), "x", "{}", 0));
        say(me, "write calendar", put(me, S("calendars"), "c", "{}", 0));
        say(me, "write object", put(me, S("calendars/c"), "o", "{}", 0));
        say(me, "write another's", put(me, S("org.example.other"), "x", "{}", 0));
        say(me, "write plugin", put(me, S(OWN), "x", "{}", 0));
        say(me, "write shares", put(me, S("shares"), "c", "{}", 0));
    }
    /* Takes more room from turn to turn, and takes no notice of a refusal. */
    if (is(me, "hoard", from)) {
        count = 0;
        for (int i = 0; i < 20; i++) {
            snprintf(key, sizeof key, "kept %ld %d", from, i);
            count += put(me, own(me, loop), key, "{}", 1000) == LARDER_OK;
        }
        say(me, "taken", count);
    }
    /* Puts the same records in each turn. */
    if (is(me, "rewrite", from) || is(me, "renew", from)) {
        for (int i = 0; i < 5 && is(me, "renew", from); i++) {
            snprintf(key, sizeof key, "kept %d", i);
            if (me->records->remove(me->host, own(me, loop), larder_str_make(key, strlen(key)))) return LARDER_IO;
        }
        for (int i = 0; i < 5; i++) {
            snprintf(key, sizeof key, "kept %d", i);
            if (put(me, own(me, loop), key, "{}", 1000) != LARDER_OK) return LARDER_IO;
        }
    }
    if (is(me, "odd", from)) keep_odd(me);
    if (is(me, "look", from))
        say(me, "look", me->actions->look(me->host, larder_str_make(me->target, strlen(me->target))));
    return LARDER_OK;
}

static larder_status refresh(void *me_, const larder_loop *loop, uint32_t what, larder_event_page *out) {
    struct looper *me = me_;
    struct content *content = calloc(1, sizeof *content);
    if (!content) return LARDER_INTERNAL;
    me->live_pages++;
    say(me, "refresh", what);
    out->content = content;
    strcpy(content->id, "0");
    out->event_id = larder_str_make(content->id, 1);
    if (is(me, "die in refresh", (long)what)) raise(SIGKILL);
    if (is(me, "nothing to refresh", (long)what)) {
        free(content);
        me->live_pages--;
        return LARDER_UNSUPPORTED;
    }
    return put(me, own(me, loop), "refreshed", "{}", 0);
}

static void on_error(void *me_, const larder_loop *loop, const larder_loop_error *error) {
    struct looper *me = me_;
    (void)loop;
    say(me, "error", error->code);
    me->log->write(me->host, LARDER_LOG_INFO, error->message);
}

static void release_page(void *me_, larder_event_page *page) {
    struct looper *me = me_;
    me->live_pages--;
    free(page->content);
}

static larder_status start(void *me_) {
    struct looper *me = me_;
    const larder_host *host = me->host;
    const larder_config *config = host->extension(host, S(LARDER_EXT_CONFIG));
    larder_str json;
    me->records = host->extension(host, S(LARDER_EXT_RECORDS));
    me->http = host->extension(host, S(LARDER_EXT_HTTP));
    me->dav = host->extension(host, S(LARDER_EXT_DAV));
    me->discover = host->extension(host, S(LARDER_EXT_DISCOVER));
    me->kv = host->extension(host, S(LARDER_EXT_KV));
    me->log = host->extension(host, S(LARDER_EXT_LOG));
    me->cancel = host->extension(host, S(LARDER_EXT_CANCEL));
    me->actions = host->extension(host, S(LARDER_EXT_ACTIONS));
    me->projects = host->extension(host, S(LARDER_EXT_PROJECTS));
    if (!config || config->settings(host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    setting(json, "\"mode\"", me->mode, sizeof me->mode);
    setting(json, "\"target\"", me->target, sizeof me->target);
    setting(json, "\"pages\"", me->pages, sizeof me->pages);
    return LARDER_OK;
}

static void stop(void *me_) {
    struct looper *me = me_;
    say(me, "pages left", me->live_pages);
}

static larder_status schema(void *me, larder_str *out) {
    (void)me;
    *out = S("{\"properties\": {\"mode\": {\"type\": \"string\", \"default\": \"\"}, "
             "\"target\": {\"type\": \"string\", "
             "\"default\": \"\"}, \"pages\": {\"type\": \"string\", \"default\": \"3\"}}}");
    return LARDER_OK;
}

static const larder_config_schema schemas = {sizeof schemas, 0, schema};
static const larder_event_loop loops = {
    sizeof loops, REFRESH_BITS, LARDER_TEXT(KIND), LARDER_TEXT(COLLECTION), HINTS, 0, poll, process, refresh, on_error,
    release_page};
static const larder_offer offers[] = {{LARDER_EXT_EVENT_LOOP, &loops}, {LARDER_EXT_CONFIG_SCHEMA, &schemas}};

LARDER_SINGLE(struct looper, start, stop, offers, OWN, "Looper", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_LOG " " LARDER_EXT_RECORDS " " LARDER_EXT_HTTP " " LARDER_EXT_DAV
              " " LARDER_EXT_KV " " LARDER_EXT_CANCEL " " LARDER_EXT_ACTIONS, LARDER_EXT_PROJECTS " " LARDER_EXT_DISCOVER);
