/* A processor that works on projects as a script file says. After each trigger it carries out the lines of the file
 * named by the setting `script`. It writes the results to the same name with `.out` appended, one line each: the word,
 * the status, and the values that were handed out. A line that needs a project uses the project that was made or named
 * last. Built with -pthread. */
#include <larder/larder.h>
#include <larder/single.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ID
#define ID "org.example.keeper"
#endif
#ifndef KIND
#define KIND "keeper"
#endif
#ifndef REQUIRED
#define REQUIRED LARDER_EXT_CONFIG
#endif
#ifndef WANTED
#define WANTED LARDER_EXT_PROJECTS
#endif

struct keeper {
    larder_instance instance;
    const larder_host *host;
    const larder_projects *projects;
    char script[1024], project[64];
    int64_t modified;
    FILE *out;
    larder_status elsewhere;
};

static larder_str text(const char *from) { return larder_str_make(from, from ? strlen(from) : 0); }

static larder_bytes bytes(const char *from) {
    larder_bytes made = {(const uint8_t *)from, from ? strlen(from) : 0};
    return made;
}

/* Returns the id of the nth step; a text that is no id if there are fewer steps. */
static larder_str step_id(struct keeper *me, const char *number) {
    larder_project project;
    uint64_t index = number ? strtoull(number, 0, 10) : 0;
    memset(&project, 0, sizeof project);
    project.struct_size = sizeof project;
    if (me->projects->fetch(me->host, text(me->project), LARDER_PROJECT_STEPS, &project) == LARDER_OK
        && project.step_ids && index < project.step_count)
        return project.step_ids[index];
    return text("none");
}

static void *elsewhere(void *me_) {
    struct keeper *me = me_;
    larder_project_ids ids = {sizeof ids, 0, 0, 0};
    me->elsewhere = me->projects->list(me->host, 0, &ids);
    return 0;
}

static void made(struct keeper *me, const char *word, larder_status status, larder_str id) {
    if (status == LARDER_OK) snprintf(me->project, sizeof me->project, "%.*s", (int)id.len, id.ptr);
    fprintf(me->out, "%s %d\n", word, status);
}

static void fetch(struct keeper *me, uint32_t parts) {
    larder_project project;
    larder_status status;
    memset(&project, 0, sizeof project);
    project.struct_size = sizeof project;
    status = me->projects->fetch(me->host, text(me->project), parts, &project);
    fprintf(me->out, "fetch %d", status);
    if (status == LARDER_OK) {
        me->modified = project.modified;
        fprintf(me->out, " %d/%d undo %u redo %u steps %s data %s%.*s", (int)project.cursor, (int)project.step_count,
                project.can_undo, project.can_redo, project.step_ids ? "there" : "null",
                project.user_data.ptr ? "" : "absent",
                (int)project.user_data.len, project.user_data.ptr ? (const char *)project.user_data.ptr : "");
        fprintf(me->out, "\nassets %.*s", (int)project.assets.len, project.assets.ptr);
    }
    fprintf(me->out, "\n");
}

static void fetch_step(struct keeper *me, const char *number) {
    larder_project_step step = {sizeof step, 0, {0, 0}, {0, 0}};
    larder_status status = me->projects->fetch_step(me->host, text(me->project), step_id(me, number), &step);
    fprintf(me->out, "step %d", status);
    if (status == LARDER_OK)
        fprintf(me->out, " %.*s\nassets %.*s", (int)step.user_data.len, (const char *)step.user_data.ptr,
                (int)step.assets.len, step.assets.ptr);
    fprintf(me->out, "\n");
}

/* Adds steps with the data DATA, one for each character of NAMES, from an array whose elements are longer than this
 * header's. */
static void add_many(struct keeper *me, const char *names) {
    struct { larder_project_new_step step; uint64_t newer; } steps[16];
    larder_project_update update;
    larder_project_ids added = {sizeof added, 0, 0, 0};
    larder_status status;
    memset(steps, 0, sizeof steps);
    memset(&update, 0, sizeof update);
    update.struct_size = sizeof update;
    update.cursor = LARDER_PROJECT_CURSOR_STAYS;
    update.add = steps;
    update.add_stride = sizeof steps[0];
    for (; names[update.add_count] && update.add_count < 16; update.add_count++) {
        larder_project_new_step *step = &steps[update.add_count].step;
        step->struct_size = sizeof steps[0];
        step->user_data.ptr = (const uint8_t *)names + update.add_count;
        step->user_data.len = 1;
    }
    status = me->projects->update(me->host, text(me->project), &update, &added);
    fprintf(me->out, "many %d %d\n", status, status == LARDER_OK ? (int)added.count : 0);
}

/* Makes calls with invalid arguments. */
static void bad(struct keeper *me) {
    const larder_projects *p = me->projects;
    const larder_host *host = me->host;
    larder_str id = text(me->project), out, none = {0, 0};
    larder_project_ids ids = {0, 0, 0, 0};
    larder_project project;
    larder_project_new_step step = {sizeof step, 0, {0, 0}, {0, 0}};
    larder_project_update update;
    larder_bytes absent = {0, 0}, broken = {0, 3}, large = {(const uint8_t *)"x", (16u << 20) + 1};
    memset(&project, 0, sizeof project);
    memset(&update, 0, sizeof update);
    update.struct_size = sizeof update;
    update.cursor = LARDER_PROJECT_CURSOR_STAYS;
#define TRY(name, call) fprintf(me->out, "%s %d\n", name, call)
    TRY("no size", p->list(host, 0, &ids));
    ids.struct_size = sizeof ids;
    TRY("order", p->list(host, 4, &ids));
    TRY("no size", p->fetch(host, id, 0, &project));
    project.struct_size = sizeof project;
    TRY("parts", p->fetch(host, id, 4, &project));
    TRY("no id", p->fetch(host, none, 0, &project));
    TRY("not UTF-8", p->fetch(host, text("\xff"), 0, &project));
    TRY("unknown", p->fetch(host, text("no id"), 0, &project));
    TRY("unknown", p->fetch(host, text("0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6"), 0, &project));
    TRY("unknown", p->remove(host, text("0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6")));
    TRY("unknown", p->undo(host, text("0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6")));
    TRY("large", p->add_step(host, id, &step, large, &out));
    TRY("broken", p->add_step(host, id, &step, broken, &out));
    step.struct_size = 8;
    TRY("small", p->add_step(host, id, &step, absent, &out));
    step.struct_size = sizeof step;
    step.assets_source = text("relative");
    TRY("relative", p->add_step(host, id, &step, absent, &out));
    step.assets_source = text("/nowhere/at all");
    TRY("nowhere", p->add_step(host, id, &step, absent, &out));
    update.add_count = 1;
    update.add_stride = sizeof step;
    TRY("no steps", p->update(host, id, &update, &ids));
    update.add = &step;
    update.add_stride = 8;
    TRY("stride", p->update(host, id, &update, &ids));
    update.add_count = 10001;
    TRY("many", p->update(host, id, &update, &ids));
    update.add_count = 0;
    update.delete_count = 1;
    TRY("no ids", p->update(host, id, &update, &ids));
    update.delete_count = 0;
    update.cursor = 1000;
    TRY("cursor", p->update(host, id, &update, &ids));
    update.cursor = -2;
    TRY("cursor", p->update(host, id, &update, &ids));
#undef TRY
}

static larder_status update(struct keeper *me, int64_t cursor, const char *data, larder_str unwanted,
                            int64_t modified) {
    larder_project_update update;
    larder_project_ids added = {sizeof added, 0, 0, 0};
    memset(&update, 0, sizeof update);
    update.struct_size = sizeof update;
    update.cursor = cursor;
    update.user_data = bytes(data);
    update.if_modified = modified;
    if (unwanted.ptr) {
        update.delete_ids = &unwanted;
        update.delete_count = 1;
    }
    return me->projects->update(me->host, text(me->project), &update, &added);
}

static larder_status obey(struct keeper *me, const char *word, const char *one, const char *two, const char *three) {
    const larder_projects *p = me->projects;
    const larder_host *host = me->host;
    larder_str id = text(me->project), out = {0, 0}, none = {0, 0};
    larder_project_ids ids = {sizeof ids, 0, 0, 0};
    larder_project_usage usage = {sizeof usage, 0, 0, 0};
    larder_project_new_step step = {sizeof step, 0, bytes(one), {0, 0}};
    larder_status status;
    pthread_t thread;
#define IS(name) (strcmp(word, name) == 0)
    if (IS("use")) snprintf(me->project, sizeof me->project, "%s", one);
    else if (IS("create")) status = p->create(host, &out), made(me, word, status, out);
    else if (IS("mine")) { /* the newest project, or a new one */
        status = p->list(host, 0, &ids);
        if (status == LARDER_OK && ids.count > 0) out = ids.ids[0];
        else if (status == LARDER_OK) status = p->create(host, &out);
        made(me, word, status, out);
    } else if (IS("duplicate")) status = p->duplicate(host, id, &out), made(me, word, status, out);
    else if (IS("id")) fprintf(me->out, "id %s\n", me->project);
    else if (IS("list")) {
        status = p->list(host, one ? (uint32_t)strtoul(one, 0, 10) : 0, &ids);
        fprintf(me->out, "list %d", status);
        for (uint64_t i = 0; status == LARDER_OK && i < ids.count; i++)
            fprintf(me->out, " %.*s", (int)ids.ids[i].len, ids.ids[i].ptr);
        fprintf(me->out, "\n");
    } else if (IS("fetch"))
        fetch(me, one ? (uint32_t)strtoul(one, 0, 10) : LARDER_PROJECT_STEPS | LARDER_PROJECT_USER_DATA);
    else if (IS("step")) fetch_step(me, one);
    else if (IS("add")) {
        step.assets_source = two && strcmp(two, "-") != 0 ? text(two) : none;
        fprintf(me->out, "add %d\n", p->add_step(host, id, &step, bytes(three), &out));
    } else if (IS("large")) {
        uint64_t size = strtoull(one, 0, 10);
        void *block = calloc(1, size + 1);
        step.user_data.ptr = block;
        step.user_data.len = size;
        fprintf(me->out, "large %d\n", p->add_step(host, id, &step, bytes(0), &out));
        free(block);
    } else if (IS("many")) add_many(me, one);
    else if (IS("data")) fprintf(me->out, "data %d\n", update(me, LARDER_PROJECT_CURSOR_STAYS, one, none, 0));
    else if (IS("as-fetched"))
        fprintf(me->out, "as-fetched %d\n", update(me, LARDER_PROJECT_CURSOR_STAYS, one, none, me->modified));
    else if (IS("cursor")) fprintf(me->out, "cursor %d\n", update(me, strtol(one, 0, 10), 0, none, 0));
    else if (IS("delete")) fprintf(me->out, "delete %d\n", update(me, 0, 0, step_id(me, one), 0));
    else if (IS("undo")) fprintf(me->out, "undo %d\n", p->undo(host, id));
    else if (IS("redo")) fprintf(me->out, "redo %d\n", p->redo(host, id));
    else if (IS("remove")) fprintf(me->out, "remove %d\n", p->remove(host, id));
    else if (IS("usage")) {
        status = p->usage(host, &usage);
        fprintf(me->out, "usage %d %llu of %llu\n", status, (unsigned long long)usage.bytes,
                (unsigned long long)usage.quota);
    } else if (IS("bad")) bad(me);
    else if (IS("elsewhere")) {
        if (pthread_create(&thread, 0, elsewhere, me) || pthread_join(thread, 0)) return LARDER_FAILED;
        fprintf(me->out, "elsewhere %d\n", me->elsewhere);
    } else if (IS("fail")) return LARDER_FAILED;
    else fprintf(me->out, "what is %s\n", word);
#undef IS
    return LARDER_OK;
}

static larder_status work(struct keeper *me, const char *suffix) {
    char path[1100], line[4096];
    larder_status status = LARDER_OK;
    FILE *script;
    snprintf(path, sizeof path, "%s%s", me->script, suffix);
    if (!(script = fopen(path, "r"))) return LARDER_OK;
    snprintf(path, sizeof path, "%s.out", me->script);
    me->out = fopen(path, "a");
    while (me->out && status == LARDER_OK && fgets(line, sizeof line, script)) {
        char *words[4] = {0, 0, 0, 0}, *rest = line;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < 4 && rest; i++) {
            char *space = strchr(rest, ' ');
            words[i] = rest;
            if (space) *space = 0;
            rest = space ? space + 1 : 0;
        }
        if (!me->projects) fprintf(me->out, "%s withheld\n", words[0]);
        else if (*words[0]) status = obey(me, words[0], words[1], words[2], words[3]);
    }
    fclose(script);
    if (!me->out || fclose(me->out) != 0) return LARDER_IO;
    return status;
}

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status absent(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status policies(void *me, const larder_policy_list *l) { (void)me; (void)l; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t t, larder_item_cursor *c) {
    (void)me; (void)t; (void)c;
    return LARDER_OK;
}
static larder_status nothing(void *me, uint32_t t) { (void)me; (void)t; return LARDER_OK; }
static larder_status item(void *me, uint32_t t, const larder_item *i) { (void)me; (void)t; (void)i; return LARDER_OK; }
static larder_status did_pass(void *me, uint32_t t) {
    int is_end = t == LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED
        || t == LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES;
    return is_end ? work(me, "") : LARDER_OK;
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT(KIND), 0, triggers, absent, absent, absent, policies, preflight, nothing, nothing,
    item, nothing, nothing, item, nothing, did_pass, 0};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = LARDER_STR("{\"properties\": {\"script\": {\"type\": \"string\", \"default\": \"\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct keeper *me = me_;
    const larder_config *config = me->host->extension(me->host, LARDER_STR(LARDER_EXT_CONFIG));
    larder_str json;
    const char *at;
    size_t length = 0;
    me->projects = me->host->extension(me->host, LARDER_STR(LARDER_EXT_PROJECTS));
    if (!config || config->settings(me->host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    for (at = json.ptr; at < json.ptr + json.len && *at != ':'; at++) {}
    for (; at < json.ptr + json.len && *at != '"'; at++) {}
    for (at++; at < json.ptr + json.len && *at != '"' && length + 1 < sizeof me->script; at++)
        if (*at != '\\') me->script[length++] = *at;
    me->script[length] = 0;
    return work(me, ".start");
}
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_CONFIG_SCHEMA, &schema}};

LARDER_SINGLE(struct keeper, start, larder_no_stop, offers, ID, "Keeper", "1.0.0", "", "", REQUIRED, WANTED);
