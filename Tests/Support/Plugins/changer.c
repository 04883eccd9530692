/* A processor that asks for changes of the server. When a scan has ended, it carries out the lines of the file that its
 * setting `script` names, and writes each line's word and status to the same name with `.out` appended. It asks for the
 * deletion of each item that meets its setting `deletes`. If there is a file with `.die` appended to the name, it kills
 * its process when the script is done, before the host has committed anything. With the setting `always` it carries the
 * script out in each run. */
#include <larder/larder.h>
#include <larder/single.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MAX_RECORDS
#define MAX_RECORDS 0
#endif

struct changer {
    larder_instance instance;
    const larder_host *host;
    const larder_actions *actions;
    const larder_items *items;
    const larder_projects *projects;
    char script[1024], deletes[1024], triggers[16], always[8];
    char id[256];
    int is_failing;
};

static larder_str text(const char *from) { return larder_str_make(from, from ? strlen(from) : 0); }

static void setting(larder_str json, const char *quoted, char *out, size_t size) {
    const char *end = json.ptr + json.len, *at = json.ptr;
    size_t n = strlen(quoted), length = 0;
    while (at + n < end && memcmp(at, quoted, n) != 0) at++;
    for (at += n; at < end && *at != '"'; at++) {}
    for (at++; at < end && *at != '"' && length + 1 < size; at++)
        out[length++] = *at == '\\' && at + 1 < end ? *++at : *at;
    out[length] = 0;
}

/* Returns the id of the item at a path; a text that is no id if there is none. */
static larder_str id_at(struct changer *me, const char *path) {
    char condition[1200];
    larder_query query;
    larder_item_cursor *cursor;
    const larder_item *item;
    memset(&query, 0, sizeof query);
    query.struct_size = sizeof query;
    snprintf(condition, sizeof condition, "path == \"%s\"", path);
    query.condition = text(condition);
    query.fields = LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID);
    strcpy(me->id, "none");
    if (me->items->open(me->host, &query, &cursor) != LARDER_OK) return text(me->id);
    if (cursor->next(cursor, &item) == LARDER_OK && item)
        snprintf(me->id, sizeof me->id, "%.*s", (int)item->local_id.len, item->local_id.ptr);
    me->items->close(me->host, cursor);
    return text(me->id);
}

/* Returns the id of the plugin's only project, which is made if there is none. */
static larder_str own_project(struct changer *me) {
    larder_project_ids ids;
    larder_str made;
    memset(&ids, 0, sizeof ids);
    ids.struct_size = sizeof ids;
    if (me->projects->list(me->host, 0, &ids) != LARDER_OK) return text("none");
    if (ids.count) return ids.ids[0];
    return me->projects->create(me->host, &made) == LARDER_OK ? made : text("none");
}

static larder_status ask(struct changer *me, const char *word, const char *first, const char *second,
                         const char *key, uint32_t flags) {
    const larder_actions *actions = me->actions;
    const larder_host *host = me->host;
    if (!strcmp(word, "mkdir")) return actions->create_folder(host, text(first), flags, text(key));
    if (!strcmp(word, "move")) return actions->move(host, id_at(me, first), text(second), flags, text(key));
    if (!strcmp(word, "copy")) return actions->copy(host, id_at(me, first), text(second), flags, text(key));
    if (!strcmp(word, "delete")) return actions->remove_from_server(host, id_at(me, first), flags, text(key));
    if (!strcmp(word, "favorite"))
        return actions->set_favorite(host, id_at(me, first), (uint32_t)strtoul(second, 0, 0), flags, text(key));
    if (!strcmp(word, "upload")) {
        larder_str project = own_project(me);
        return actions->upload(host, project, text(first), text(second), flags, text(key));
    }
    if (!strcmp(word, "upload-of-none")) /* of a project that is not there */
        return actions->upload(host, text("none"), text(first), text(second), flags, text(key));
    return LARDER_UNSUPPORTED;
}

/* Writes a file among the project's assets, or makes a symbolic link there. */
static int make_asset(struct changer *me, const char *name, const char *content, int is_link) {
    char path[2048];
    larder_project project;
    FILE *file;
    memset(&project, 0, sizeof project);
    project.struct_size = sizeof project;
    if (me->projects->fetch(me->host, own_project(me), 0, &project) != LARDER_OK) return -1;
    snprintf(path, sizeof path, "%.*s/%s", (int)project.assets.len, project.assets.ptr, name);
    if (is_link) return symlink(content, path);
    if (!(file = fopen(path, "w"))) return -1;
    fputs(content, file);
    return fclose(file);
}

/* A line has a word, two arguments of which "-" is none, the key, and perhaps flags. */
static void carry_out(struct changer *me) {
    char line[2048], name[1100];
    FILE *script = fopen(me->script, "r"), *out;
    snprintf(name, sizeof name, "%s.out", me->script);
    if (!script) return;
    out = fopen(name, "a");
    while (out && fgets(line, sizeof line, script)) {
        const char *word = strtok(line, " \n"), *first = strtok(0, " \n"), *second = strtok(0, " \n");
        const char *key = strtok(0, " \n"), *flags = strtok(0, " \n");
        if (!word) continue;
        if (!strcmp(word, "fail")) {
            me->is_failing = 1;
            continue;
        }
        if (!strcmp(word, "write") || !strcmp(word, "link")) {
            fprintf(out, "%s %d\n", word, make_asset(me, first, second, !strcmp(word, "link")));
            continue;
        }
        if (!LARDER_HAS(me->actions, larder_actions, upload)) {
            fprintf(out, "%s is not there\n", word);
            continue;
        }
        fprintf(out, "%s %d\n", word,
                ask(me, word, first ? first : "", second ? second : "", key && strcmp(key, "-") ? key : "",
                    flags ? (uint32_t)strtoul(flags, 0, 0) : 0));
    }
    if (out) fclose(out);
    fclose(script);
}

static uint32_t triggers(void *me) { return (uint32_t)strtoul(((struct changer *)me)->triggers, 0, 0); }

static larder_status nothing_covered(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }

static larder_status match(void *me_, larder_str *out) {
    struct changer *me = me_;
    char name[1100];
    (void)out;
    snprintf(name, sizeof name, "%s.die", me->script);
    if (access(name, F_OK) == 0) raise(SIGKILL);
    return LARDER_OK;
}

static larder_status deletes(void *me_, larder_str *out) {
    struct changer *me = me_;
    if (*me->deletes) *out = text(me->deletes);
    return LARDER_OK;
}

static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *items) {
    (void)me; (void)trigger; (void)items;
    return LARDER_OK;
}

static larder_status will_enter(void *me_, uint32_t trigger) {
    struct changer *me = me_;
    if (!*me->always && trigger != LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED) return LARDER_OK;
    me->is_failing = 0;
    carry_out(me);
    return me->is_failing ? LARDER_FAILED : LARDER_OK;
}

static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }
static larder_status perform(void *me, uint32_t trigger, const larder_item *item) {
    (void)me; (void)trigger; (void)item;
    return LARDER_OK;
}

static larder_status clean(void *me_, uint32_t trigger, const larder_item *item) {
    struct changer *me = me_;
    char key[1024];
    int length = snprintf(key, sizeof key, "delete:%.*s", (int)item->path.len, item->path.ptr);
    (void)trigger;
    if (length < 0 || (size_t)length >= sizeof key) return LARDER_LIMIT;
    return me->actions->remove_from_server(me->host, item->local_id, 0, larder_str_make(key, (uint64_t)length));
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("changer"),
    LARDER_FIELD_BIT(LARDER_FIELD_PATH) | LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID),
    triggers, nothing_covered, match, deletes, update, preflight, will_enter, nothing, perform, nothing,
    nothing, clean, nothing, nothing, MAX_RECORDS};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = LARDER_STR("{\"properties\": {\"script\": {\"type\": \"string\", \"default\": \"\"}, "
                      "\"deletes\": {\"type\": \"string\", \"default\": \"\"}, "
                      "\"always\": {\"type\": \"string\", \"default\": \"\"}, "
                      "\"triggers\": {\"type\": \"string\", \"default\": \"0xffffffff\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct changer *me = me_;
    const larder_host *host = me->host;
    const larder_config *config = (const larder_config *)host->extension(host, LARDER_STR(LARDER_EXT_CONFIG));
    larder_str json;
    me->actions = (const larder_actions *)host->extension(host, LARDER_STR(LARDER_EXT_ACTIONS));
    me->items = (const larder_items *)host->extension(host, LARDER_STR(LARDER_EXT_ITEMS));
    me->projects = (const larder_projects *)host->extension(host, LARDER_STR(LARDER_EXT_PROJECTS));
    if (config->settings(host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    setting(json, "\"script\"", me->script, sizeof me->script);
    setting(json, "\"deletes\"", me->deletes, sizeof me->deletes);
    setting(json, "\"always\"", me->always, sizeof me->always);
    setting(json, "\"triggers\"", me->triggers, sizeof me->triggers);
    return LARDER_OK;
}
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_CONFIG_SCHEMA, &schema}};

LARDER_SINGLE(struct changer, start, larder_no_stop, offers, "org.example.changer", "Changer", "1.0.0", "", "",
              LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS " " LARDER_EXT_ITEMS " " LARDER_EXT_PROJECTS, "");
