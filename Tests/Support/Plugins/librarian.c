/* A processor that wants the copies of the items which event loops name in records: in the collection of its setting
 * `collection` a record's key is the item's path, with or without the first slash. It runs after changes of records
 * alone. Before each run it logs the keys and versions of the records. With the setting `wait` it then makes the file
 * `wait`.read, waits for the file `wait`, and logs them once more. At the end of a run it tries to change records.
 * Built with: cc -std=c99 -shared -fPIC -I SDK/C/include librarian.c -o librarian.so */
#include <larder/larder.h>
#include <larder/single.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define S(literal) LARDER_STR(literal)

struct librarian {
    larder_instance instance;
    const larder_host *host;
    const larder_records *records;
    const larder_actions *actions;
    const larder_log *log;
    char collection[256], wait[1024];
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

static larder_str text(const char *from) { return larder_str_make(from, strlen(from)); }

static larder_status catalogue(struct librarian *me, const char *word) {
    char line[1024];
    int length = snprintf(line, sizeof line, "%s", word);
    const larder_record *record = 0;
    larder_record_cursor *cursor;
    larder_status status = me->records->open(me->host, text(me->collection), larder_str_make(0, 0),
                                             LARDER_RECORD_VERSION, &cursor);
    if (status != LARDER_OK) return status;
    while ((status = cursor->next(cursor, &record)) == LARDER_OK && record && length < 900)
        length += snprintf(line + length, sizeof line - (size_t)length, " %.*s=%.*s", (int)record->key.len,
                           record->key.ptr, (int)record->version.len, record->version.ptr);
    if (status != LARDER_OK) return status;
    me->log->write(me->host, LARDER_LOG_INFO, larder_str_make(line, (uint64_t)length));
    return me->records->close(me->host, cursor);
}

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGER_BIT(LARDER_TRIGGER_RECORDS_CHANGED); }
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

static larder_status will_enter(void *me_, uint32_t trigger) {
    struct librarian *me = me_;
    struct timespec time = {0, 5000000};
    char path[1100];
    FILE *file;
    larder_status status = catalogue(me, trigger == LARDER_TRIGGER_RECORDS_CHANGED ? "records:" : "other:");
    if (status != LARDER_OK || !me->wait[0]) return status;
    snprintf(path, sizeof path, "%s.read", me->wait);
    file = fopen(path, "w");
    if (!file || fclose(file) != 0) return LARDER_IO;
    while (access(me->wait, F_OK) != 0) nanosleep(&time, 0);
    me->wait[0] = 0;
    return catalogue(me, "again:");
}

static larder_status perform(void *me_, uint32_t trigger, const larder_item *item) {
    struct librarian *me = me_;
    larder_record record = {sizeof record, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    larder_str path = item->path, bare = larder_str_make(path.ptr + 1, path.len - 1);
    larder_status status = me->records->get(me->host, text(me->collection), path, LARDER_RECORD_VERSION, &record);
    (void)trigger;
    if (status == LARDER_NOT_FOUND) status = me->records->get(me->host, text(me->collection), bare, 0, &record);
    if (status == LARDER_NOT_FOUND) return LARDER_OK;
    return status == LARDER_OK ? me->actions->download(me->host, item->local_id, 0, item->local_id) : status;
}

static larder_status did_pass(void *me_, uint32_t trigger) {
    struct librarian *me = me_;
    larder_record record = {sizeof record, 0, S("/mine"), S("1"), S("{}"), {0, 0}};
    char line[64];
    int length = snprintf(line, sizeof line, "put %d, remove %d",
                          (int)me->records->put(me->host, S("org.example.librarian"), &record),
                          (int)me->records->remove(me->host, text(me->collection), S("/a")));
    (void)trigger;
    return me->log->write(me->host, LARDER_LOG_INFO, larder_str_make(line, (uint64_t)length));
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("librarian"),
    LARDER_FIELD_BIT(LARDER_FIELD_PATH) | LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID),
    triggers, none, all, none, update, preflight, will_enter, nothing, perform, nothing, nothing, clean, nothing,
    did_pass, 0};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = S("{\"properties\": {\"collection\": {\"type\": \"string\", \"default\": \"\"}, "
             "\"wait\": {\"type\": \"string\", \"default\": \"\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct librarian *me = me_;
    const larder_config *config = me->host->extension(me->host, S(LARDER_EXT_CONFIG));
    larder_str json;
    me->records = me->host->extension(me->host, S(LARDER_EXT_RECORDS));
    me->actions = me->host->extension(me->host, S(LARDER_EXT_ACTIONS));
    me->log = me->host->extension(me->host, S(LARDER_EXT_LOG));
    if (!config || config->settings(me->host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    setting(json, "\"collection\"", me->collection, sizeof me->collection);
    setting(json, "\"wait\"", me->wait, sizeof me->wait);
    return LARDER_OK;
}
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_CONFIG_SCHEMA, &schema}};

LARDER_SINGLE(struct librarian, start, larder_no_stop, offers, "org.example.librarian", "Librarian", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_RECORDS " " LARDER_EXT_ACTIONS " " LARDER_EXT_LOG, "");
