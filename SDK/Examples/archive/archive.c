#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include <larder/larder.h>
#include <larder/single.h>
#include <larder/helper.h>
#include <stdio.h>
#include <time.h>

/* The longest path of a setting, and of a file in the archive, in bytes and with a 0 behind it. */
#define SETTING_ROOM 1024
#define PATH_ROOM 8192
/* A text in the quotes of a condition is at most four times as long. */
#define QUOTED(room) (4 * (room) + 3)

struct archive {
    larder_instance instance;
    const larder_host *host;
    const larder_actions *actions;
    const larder_items *items;
    const larder_log *log; /* null: the host has none */

    /* The settings. The paths have no slash at their ends, so that the root's is empty. */
    char folder[SETTING_ROOM], archive[SETTING_ROOM];
    int64_t at_once;
    char wanted[2 * QUOTED(SETTING_ROOM) + 512];

    /* What the run has asked for and found. */
    int64_t moves, left;
    int is_denied;
    char made[PATH_ROOM];                                 /* the folder of the last move, which is there or asked for */
    char first_left[2 * PATH_ROOM + 64];                  /* why the first file stays */
    char explained[256], explanation[PATH_ROOM + 128];    /* the last file, by its id, and what was decided */

    /* The last warning of runs before, which is not repeated. */
    char warned[2 * PATH_ROOM + 256];

    /* Room for a path of the archive, and for a condition that names it. */
    char target[PATH_ROOM], question[QUOTED(PATH_ROOM) + 64];
};

static larder_str lent(const char *text) { return larder_str_make(text, strlen(text)); }

static void warn(struct archive *me, const char *text) {
    if (!me->log || strcmp(text, me->warned) == 0) return;
    me->log->write(me->host, LARDER_LOG_WARNING, lent(text));
    snprintf(me->warned, sizeof me->warned, "%s", text);
}

/* --- The settings. --- */

/* A path as it is to be: a slash and a name, again and again. No name is "." or "..". */
#define NAMES "(/(?![.][.]?(/|$))[^/]+)+/?$"

static larder_status schema_text(void *context, larder_str *out) {
    (void)context;
    *out = LARDER_STR(
        "{\"properties\": {"
        "\"folder\": {\"type\": \"string\", \"default\": \"/\", \"pattern\": \"^/$|^" NAMES "\", "
        "\"description\": \"the folder whose old files move, a path from the root such as /Documents\"}, "
        "\"archive\": {\"type\": \"string\", \"default\": \"/Archive\", \"pattern\": \"^" NAMES "\", "
        "\"description\": \"the folder that they move to, a path from the root such as /Archive\"}, "
        "\"years\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100, \"default\": 5, "
        "\"description\": \"for how many years nobody has modified a file that moves\"}, "
        "\"at-once\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000, \"default\": 20, "
        "\"description\": \"the greatest number of files that move after a scan\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status read_path(struct archive *me, const larder_config *config, const char *name, char *out) {
    larder_status status = larder_setting_text(me->host, config, name, out, SETTING_ROOM);
    size_t length = status == LARDER_OK ? strlen(out) : 0;
    if (length > 0 && out[length - 1] == '/') out[length - 1] = 0;
    return status;
}

/* Tells whether a path is a folder's, or below it. */
static int is_in(larder_str path, const char *folder) {
    size_t length = strlen(folder);
    return path.len >= length && (length == 0 || memcmp(path.ptr, folder, length) == 0) &&
           (path.len == length || path.ptr[length] == '/');
}

/* Puts the quoted path of what is below a folder into a condition. */
static size_t below(const char *folder, char *out, size_t room) {
    char path[SETTING_ROOM + 1];
    snprintf(path, sizeof path, "%s/", folder);
    return larder_quote(lent(path), out, room);
}

static larder_status start(void *context) {
    struct archive *me = (struct archive *)context;
    const larder_host *host = me->host;
    const larder_config *config = (const larder_config *)host->extension(host, LARDER_STR(LARDER_EXT_CONFIG));
    char folder[QUOTED(SETTING_ROOM)], archive[QUOTED(SETTING_ROOM)];
    int64_t years;
    larder_status status;
    me->actions = (const larder_actions *)host->extension(host, LARDER_STR(LARDER_EXT_ACTIONS));
    me->items = (const larder_items *)host->extension(host, LARDER_STR(LARDER_EXT_ITEMS));
    me->log = (const larder_log *)host->extension(host, LARDER_STR(LARDER_EXT_LOG));
    /* A host of ABI 1.0 changes nothing on the server. */
    if (!config || !me->items || !me->actions || !LARDER_HAS(me->actions, larder_actions, move))
        return LARDER_UNSUPPORTED;
    status = read_path(me, config, "folder", me->folder);
    if (status == LARDER_OK) status = read_path(me, config, "archive", me->archive);
    if (status == LARDER_OK) status = larder_setting_integer(host, config, "years", &years);
    if (status == LARDER_OK) status = larder_setting_integer(host, config, "at-once", &me->at_once);
    if (status != LARDER_OK) return status;
    if (is_in(lent(me->folder), me->archive)) {
        host->fail(host, LARDER_INVALID_ARGUMENT, LARDER_STR("the setting `folder` names a folder of the archive"));
        return LARDER_INVALID_ARGUMENT;
    }
    below(me->folder, folder, sizeof folder);
    below(me->archive, archive, sizeof archive);
    /* A year has 365.25 days. What was changed here, or is only here, stays where it is. So does what is claimed. */
    snprintf(me->wanted, sizeof me->wanted,
             "type == \"file\" && !removed && !claimed && cloudStatus in [\"cloudOnly\", \"localCopy\"] && "
             "lastModified < now - duration(\"%ldh\") && path.startsWith(%s) && !path.startsWith(%s)",
             (long)years * 8766, folder, archive);
    me->warned[0] = 0;
    return LARDER_OK;
}

/* --- The files. --- */

/* After each scan, also without news: time passes. */
static uint32_t triggers(void *context) {
    (void)context;
    return LARDER_TRIGGER_BIT(LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED) |
           LARDER_TRIGGER_BIT(LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES);
}

static larder_status wanted(void *context, larder_str *out) {
    *out = lent(((struct archive *)context)->wanted);
    return LARDER_OK;
}

static larder_status begin(void *context, uint32_t trigger) {
    struct archive *me = (struct archive *)context;
    (void)trigger;
    me->moves = me->left = 0;
    me->is_denied = 0;
    me->made[0] = me->first_left[0] = me->explained[0] = 0;
    return LARDER_OK;
}

/* Says what was decided about a file, for a person who asks about that file alone. */
static void explain_later(struct archive *me, const larder_item *item, const char *text, const char *path) {
    snprintf(me->explained, sizeof me->explained, "%.*s", (int)item->local_id.len, item->local_id.ptr);
    snprintf(me->explanation, sizeof me->explanation, "%s%s", text, path);
}

/* Keeps in mind that a file stays where it is. */
static void leave(struct archive *me, const larder_item *item, const char *why) {
    if (me->left++ == 0)
        snprintf(me->first_left, sizeof me->first_left, "%.*s: %s%s", (int)item->path.len, item->path.ptr, me->target,
                 why);
}

/* Makes the path in the archive: the year, and the path below the folder, so that no two files meet. Returns 0 if it is
 * too long. */
static int find_target(struct archive *me, const larder_item *item) {
    const int64_t second = 1000000000;
    const time_t modified = (time_t)(item->last_modified / second - (item->last_modified % second < 0));
    const size_t skipped = strlen(me->folder);
    struct tm parts;
    int length;
    if (!gmtime_r(&modified, &parts)) return 0;
    length = snprintf(me->target, sizeof me->target, "%s/%d%.*s", me->archive, parts.tm_year + 1900,
                      (int)(item->path.len - skipped), item->path.ptr + skipped);
    return length > 0 && (size_t)length < sizeof me->target;
}

/* Asks whether there is an item that meets a condition and has a path. */
static larder_status is_there(struct archive *me, const char *beginning, larder_str path, int *out) {
    const size_t at = strlen(beginning);
    larder_query query;
    larder_item_cursor *cursor = NULL;
    const larder_item *item = NULL;
    larder_status status;
    memcpy(me->question, beginning, at);
    larder_quote(path, me->question + at, sizeof me->question - at);
    memset(&query, 0, sizeof query);
    query.struct_size = sizeof query;
    query.condition = lent(me->question);
    query.limit = 1;
    status = me->items->open(me->host, &query, &cursor);
    if (status != LARDER_OK) return status;
    status = cursor->next(cursor, &item);
    *out = item != NULL;
    me->items->close(me->host, cursor);
    return status;
}

/* Tells whether the folder that ends at this slash of the target is there or asked for since the move before. */
static int is_made(const struct archive *me, const char *slash) {
    const size_t length = (size_t)(slash - me->target);
    return strncmp(me->made, me->target, length) == 0 && (me->made[length] == '/' || me->made[length] == 0);
}

/* Asks whether something is at the target already, or a file where one of its folders is to be. The target then ends
 * there. */
static larder_status is_taken(struct archive *me, int *out) {
    larder_status status = is_there(me, "!removed && path == ", lent(me->target), out);
    const char *slash = me->target;
    while (status == LARDER_OK && !*out && (slash = strchr(slash + 1, '/'))) {
        if (is_made(me, slash)) continue;
        status = is_there(me, "!removed && type == \"file\" && path == ",
                          larder_str_make(me->target, (uint64_t)(slash - me->target)), out);
        if (*out) me->target[slash - me->target] = 0;
    }
    return status;
}

/* Asks for each folder above the target that the move before did not ask for. One that is there stays as it is. */
static larder_status make_folders(struct archive *me, const larder_item *item) {
    larder_status status = LARDER_OK;
    const char *slash = me->target;
    while (status == LARDER_OK && (slash = strchr(slash + 1, '/'))) {
        const size_t length = (size_t)(slash - me->target);
        char key[320];
        if (is_made(me, slash)) continue;
        snprintf(key, sizeof key, "folder %lu of %.*s", (unsigned long)length, (int)item->local_id.len,
                 item->local_id.ptr);
        status = me->actions->create_folder(me->host, larder_str_make(me->target, length), 0, lent(key));
    }
    return status;
}

static larder_status file_away(void *context, uint32_t trigger, const larder_item *item) {
    static const uint64_t needed = LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID) | LARDER_FIELD_BIT(LARDER_FIELD_PATH) |
                                   LARDER_FIELD_BIT(LARDER_FIELD_LAST_MODIFIED);
    struct archive *me = (struct archive *)context;
    larder_status status;
    int taken;
    char key[320];
    (void)trigger;
    if (me->is_denied || me->moves >= me->at_once) return LARDER_OK;
    /* A text of C ends at its first 0, which no path of a server has. */
    if ((item->present & needed) != needed || item->local_id.len >= sizeof me->explained ||
        item->path.len <= strlen(me->folder) + 1 || memchr(item->path.ptr, 0, (size_t)item->path.len)) {
        me->host->fail(me->host, LARDER_FAILED, LARDER_STR("the item has no id, path or time"));
        return LARDER_FAILED;
    }
    if (!find_target(me, item)) {
        me->target[0] = 0;
        leave(me, item, "its path in the archive is too long");
        explain_later(me, item, "it stays where it is, since its path in the archive is too long", "");
        return LARDER_OK;
    }
    status = is_taken(me, &taken);
    if (status != LARDER_OK) return status;
    if (taken) {
        leave(me, item, " is there already");
        explain_later(me, item, "it stays where it is, since the archive has something already at ", me->target);
        return LARDER_OK;
    }
    status = make_folders(me, item);
    if (status == LARDER_OK) {
        snprintf(key, sizeof key, "move of %.*s", (int)item->local_id.len, item->local_id.ptr);
        status = me->actions->move(me->host, item->local_id, lent(me->target), 0, lent(key));
    }
    if (status == LARDER_DENIED) {
        me->is_denied = 1;
        warn(me, "old files stay where they are until the config grants this plugin `server-changes`");
        explain_later(me, item, "it stays where it is until the config grants this plugin `server-changes`", "");
        return LARDER_OK;
    }
    if (status != LARDER_OK) return status;
    me->moves++;
    snprintf(me->made, sizeof me->made, "%.*s", (int)(strrchr(me->target, '/') - me->target), me->target);
    explain_later(me, item, "nobody has modified it for so long that it moves to ", me->target);
    return LARDER_OK;
}

/* Names the files that stay, once for as long as they are the same. */
static larder_status end(void *context, uint32_t trigger) {
    struct archive *me = (struct archive *)context;
    char text[sizeof me->warned];
    (void)trigger;
    if (me->left > 0) {
        snprintf(text, sizeof text, "old files that stay where they are: %ld, such as %s", (long)me->left, me->first_left);
        warn(me, text);
    }
    return LARDER_OK;
}

static larder_status explain(void *context, const larder_item *item, larder_str *out) {
    struct archive *me = (struct archive *)context;
    const size_t length = strlen(me->explained);
    if (length > 0 && item->local_id.len == length && memcmp(item->local_id.ptr, me->explained, length) == 0)
        *out = lent(me->explanation);
    return LARDER_OK;
}
static const larder_explain explainer = {sizeof explainer, 0, explain};

/* The names of the functions that it does without begin with larder_no. */
static const larder_item_policy_processor processor = {
    sizeof processor,
    0,
    LARDER_TEXT("archive"),
    LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID) | LARDER_FIELD_BIT(LARDER_FIELD_PATH) |
        LARDER_FIELD_BIT(LARDER_FIELD_LAST_MODIFIED),
    triggers,
    larder_no_condition, /* policy_condition */
    wanted,              /* match_condition */
    larder_no_condition, /* cleanup_condition */
    larder_no_policies,
    larder_no_preflight,
    begin,          /* will_enter_trigger */
    larder_no_step, /* begin_matching */
    file_away,      /* perform_action */
    larder_no_step, /* end_matching */
    larder_no_step, /* begin_cleanup */
    larder_no_item, /* perform_cleanup */
    larder_no_step, /* end_cleanup */
    end,            /* did_pass_trigger */
    0};

static const larder_offer offers[] = {{LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor},
                                      {LARDER_EXT_CONFIG_SCHEMA, &schema},
                                      {LARDER_EXT_EXPLAIN, &explainer}};

/* The id is for good: put a domain of your own in the place of org.example. */
LARDER_SINGLE(struct archive, start, larder_no_stop, offers, "org.example.archive", "Archive", "1.0.0", "",
              "Moves files that nobody has modified for years into an archive on the server",
              LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS " " LARDER_EXT_ITEMS, LARDER_EXT_LOG);
