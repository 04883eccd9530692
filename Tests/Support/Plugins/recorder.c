/* A processor that records each call that it gets, a line each: "performAction itemsChanged /Photos/Ada.jpg". It
 * requests one download: of the first item that meets its setting `match`. Its settings `match` and `cleanup` are its
 * conditions; an empty setting means no condition. Built with:
 * cc -std=c99 -shared -fPIC -I SDK/C/include recorder.c -o recorder.so */
#include <larder/larder.h>
#include <larder/single.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recorder {
    larder_instance instance;
    const larder_host *host;
    const larder_actions *actions;
    char log[1024], match[1024], cleanup[1024];
    int asked;
};

/* Copies the string value of a setting. */
static void setting(larder_str json, const char *quoted, char *out) {
    const char *end = json.ptr + json.len, *at = json.ptr;
    size_t n = strlen(quoted), length = 0;
    while (at + n < end && memcmp(at, quoted, n) != 0) at++;
    for (at += n; at < end && *at != '"'; at++) {}
    for (at++; at < end && *at != '"' && length < 1023; at++) out[length++] = *at == '\\' && at + 1 < end ? *++at : *at;
    out[length] = 0;
}

static larder_status record(struct recorder *me, const char *call, uint32_t trigger, const larder_item *item) {
    static const char *const names[] = {"itemsChanged", "itemListUpdateCompleted",
                                         "itemListUpdateCompletedWithoutChanges", "policiesChanged", "syncCapacity",
                                         "timer", "-"};
    FILE *file = fopen(me->log, "a");
    if (!file) return LARDER_IO;
    fprintf(file, "%s %s %.*s\n", call, names[trigger < 6 ? trigger : 6], item ? (int)item->path.len : 1,
            item ? item->path.ptr : "-");
    return fclose(file) == 0 ? LARDER_OK : LARDER_IO;
}

static larder_status text(const char *from, larder_str *out) {
    if (*from) *out = larder_str_make(from, strlen(from));
    return LARDER_OK;
}

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status covered(void *me, larder_str *out) { return text(((struct recorder *)me)->match, out); }
static larder_status matching(void *me, larder_str *out) { return text(((struct recorder *)me)->match, out); }
static larder_status unwanted(void *me, larder_str *out) { return text(((struct recorder *)me)->cleanup, out); }
static larder_status update(void *me, const larder_policy_list *l) {
    (void)l;
    return record(me, "updatePolicies", 6, 0);
}
static larder_status preflight(void *me, uint32_t t, larder_item_cursor *changed) {
    (void)changed;
    return record(me, "performPreflightOnPolicies", t, 0);
}
static larder_status will_enter(void *me, uint32_t t) { return record(me, "willEnterTrigger", t, 0); }
static larder_status begin_matching(void *me, uint32_t t) { return record(me, "beginMatching", t, 0); }
static larder_status end_matching(void *me, uint32_t t) { return record(me, "endMatching", t, 0); }
static larder_status begin_cleanup(void *me, uint32_t t) { return record(me, "beginCleanup", t, 0); }
static larder_status cleanup(void *me, uint32_t t, const larder_item *i) { return record(me, "performCleanup", t, i); }
static larder_status end_cleanup(void *me, uint32_t t) { return record(me, "endCleanup", t, 0); }
static larder_status did_pass(void *me, uint32_t t) { return record(me, "didPassTrigger", t, 0); }
static larder_status action(void *me_, uint32_t t, const larder_item *item) {
    struct recorder *me = me_;
    larder_status status = me->asked++ ? LARDER_OK : me->actions->download(me->host, item->local_id, 0, item->local_id);
    return status == LARDER_OK ? record(me, "performAction", t, item) : status;
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("recorder"),
    LARDER_FIELD_BIT(LARDER_FIELD_PATH) | LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID),
    triggers, covered, matching, unwanted, update, preflight, will_enter, begin_matching, action, end_matching,
    begin_cleanup, cleanup, end_cleanup, did_pass, 0};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = LARDER_STR("{\"properties\": {\"log\": {\"type\": \"string\", \"default\": \"/dev/null\"}, "
                      "\"match\": {\"type\": \"string\", \"default\": \"\"}, "
                      "\"cleanup\": {\"type\": \"string\", \"default\": \"\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct recorder *me = me_;
    const larder_config *config = me->host->extension(me->host, LARDER_STR(LARDER_EXT_CONFIG));
    larder_str json;
    me->actions = me->host->extension(me->host, LARDER_STR(LARDER_EXT_ACTIONS));
    if (!config || !me->actions || config->settings(me->host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    setting(json, "\"log\"", me->log);
    setting(json, "\"match\"", me->match);
    setting(json, "\"cleanup\"", me->cleanup);
    me->asked = 0;
    return LARDER_OK;
}
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_CONFIG_SCHEMA, &schema}};

LARDER_SINGLE(struct recorder, start, larder_no_stop, offers, "org.example.recorder", "Recorder", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS, "");
