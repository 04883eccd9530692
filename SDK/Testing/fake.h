/* The declarations that the parts of the fake host share. No part calls, even indirectly, a part that calls it. */
#ifndef LARDER_FAKE_H
#define LARDER_FAKE_H

#include "LarderFakeHost.h"

#include <pthread.h>
#include <stddef.h>

/* A list that grows. */
#define LIST(type)                                                                                                     \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        size_t count, room;                                                                                            \
    }
#define APPEND(list, value)                                                                                            \
    do {                                                                                                               \
        if ((list).count == (list).room) {                                                                             \
            (list).room = (list).room ? (list).room * 2 : 8;                                                           \
            (list).at = resized((list).at, (list).room * sizeof *(list).at);                                           \
        }                                                                                                              \
        (list).at[(list).count++] = (value);                                                                           \
    } while (0)

struct text {
    char *at;
    size_t count, room;
};

/* A struct whose texts lie in one block of memory. */
struct copied_item {
    larder_item *item;
    char *texts;
};
struct copied_policy {
    larder_policy *policy;
    char *texts;
};
struct value {
    char *key;
    larder_bytes bytes;
};
struct kept_record {
    char *collection;
    char *key;
    larder_record view; /* its texts and content lie in `texts` */
    char *texts;
    int goes;
};
struct record_cursor {
    larder_record_cursor table;
    larder_fake *fake;
    LIST(struct kept_record) found;
    size_t next;
};
struct kept_step {
    char *id;
    larder_bytes user_data;
    char *folder; /* its assets */
};
struct kept_project {
    char *id;
    int64_t created, modified;
    uint64_t cursor;
    larder_bytes user_data;
    char *folder; /* its assets */
    LIST(struct kept_step) steps;
    larder_project view; /* for the test, like the two below */
    larder_project_step step_view;
    larder_str *step_ids;
};
struct event_id {
    char *loop;
    char *id;
    int repeated; /* the last page had this id too and said that there is more */
};
struct fault {
    char *function;
    uint32_t nth; /* the calls left until the fault; 0 without `always`: it has happened */
    larder_status status;
    int always;
};
struct wish {
    const char *name;
    struct copied_policy policy; /* for larder.policies/1 */
    struct value value;          /* for larder.kv/1; without bytes: it is removed */
    struct kept_record record;   /* for larder.records/1; `goes`: it is removed */
};
struct cursor {
    larder_item_cursor table;
    larder_fake *fake;
    int is_hosts; /* over the changed items; the plugin does not close it */
    uint64_t fields;
    LIST(const larder_item *) found;
    size_t next;
    struct copied_item lent;
};

struct header {
    char *name;
    char *value;
};
/* A response, with its properties. */
struct response {
    char *href;
    char *error;
    uint32_t status;
    LIST(struct header) values;
};
/* An answer of the test for one request. */
struct script {
    char *method;
    char *target;
    uint32_t status;
    int is_dav;
    larder_status breaks; /* the failure after the last part; LARDER_OK: the answer ends */
    larder_status fails;  /* the failure in place of an answer; LARDER_OK: there is an answer */
    LIST(struct header) headers;
    LIST(larder_str) chunks;
    LIST(struct response) responses;
    uint32_t truncated;
    char *sync_token;
    char *error;
};
/* An answer that the plugin has open. */
struct answer {
    larder_http_answer http;
    larder_dav_answer dav;
    larder_fake *fake;
    struct script script;
    LIST(larder_str) properties;
    larder_dav_response shown;
    larder_str *values;
    size_t next;
    int is_read; /* to its end */
};

struct entry {
    larder_fake_entry shown;
    struct copied_policy policy; /* what shown.policy points to */
};

enum state { OUTSIDE, CREATE, CONTROL, PROCESSOR, PROCESSOR_READING, LOOP_READING, LOOP };

/* The states in which a function of the host may be called. */
#define IN_PROCESSOR (1u << PROCESSOR_READING | 1u << PROCESSOR)
#define IN_PROCESSOR_WRITING (1u << PROCESSOR)
#define IN_LOOP (1u << LOOP_READING | 1u << LOOP)
#define IN_LOOP_WRITING (1u << LOOP)
#define IN_WORK (IN_PROCESSOR | IN_LOOP)
#define IN_ANY (1u << CONTROL | IN_PROCESSOR | IN_LOOP)
#define IN_EVERY_CALL (1u << CREATE | IN_ANY)

struct larder_fake {
    larder_host host;
    /* The plugin's tables, copied as far as both sides know them; null: there is none. */
    const larder_module *module;
    const larder_instance *instance;
    const larder_item_policy_processor *processor;
    const larder_explain *explainer;
    const larder_event_loop *loops;
    struct {
        larder_module module;
        larder_instance instance;
        larder_item_policy_processor processor;
        larder_explain explainer;
        larder_event_loop loops;
    } tables;
    char *plugin; /* the id of the started plugin */
    char *schema; /* of its settings; null: it has none */
    char *services; /* the required and wanted services of its descriptor, each with a space behind it */
    char *problem;

    /* The stage. */
    char *settings; /* as the test wrote them */
    char *filled_settings; /* as the plugin gets them */
    int64_t now, monotonic;
    larder_usage_figures usage;
    int cancelled;
    LIST(struct copied_item) items;
    LIST(struct copied_policy) policies;
    LIST(struct value) values;
    LIST(char *) withheld, grants;
    LIST(struct fault) faults;
    LIST(struct kept_record) records; /* by collection and key */
    LIST(struct event_id) event_ids;
    LIST(struct kept_project *) projects; /* in the order in which they were made */
    uint64_t project_quota;
    unsigned made_ids;
    char *assets; /* the folder with all folders of assets; null: there are none */
    LIST(struct script) scripts;
    larder_fake_server server;
    void *server_context;
    char *principal;
    LIST(char *) homes;
    char *files_home;
    larder_fake_evaluator evaluator;
    void *evaluator_context;
    int policies_changed;

    /* The current call. */
    enum state state;
    pthread_t thread;
    const char *const *changed;
    size_t changed_count;
    size_t first_entry; /* of this call */
    uint64_t asked, granted_actions; /* actions of this call, and of the calls of the run before it */
    LIST(struct wish) wishes; /* of this call */
    LIST(struct wish) granted; /* of this run */
    LIST(struct cursor *) cursors;
    LIST(struct record_cursor *) record_cursors;
    LIST(struct answer *) answers;
    LIST(struct kept_record) lent_records;
    LIST(void *) lent_blocks;
    larder_str *lent_homes;
    const char *loop;  /* the id of the loop of the current turn */
    size_t turn_bytes; /* the size of the turn's requests */
    int has_more;
    larder_policy *listed;
    char *condition;
    char *explanation; /* of the item that the test asked about last; null: none */

    LIST(struct entry) entries;
};

/* sizes.c: rule I of base.h. The sizes of the structs when they were published, in bytes. They never change. */
#define FIRST_POLICY 160
#define FIRST_POLICY_LIST 24
#define FIRST_QUERY 32
#define FIRST_USAGE_FIGURES 40
#define FIRST_RECORD 72
#define FIRST_HTTP_HEADER 32
#define FIRST_HTTP_REQUEST 72
#define FIRST_DAV_REQUEST 72
#define FIRST_DAV_END 40
#define FIRST_DISCOVERY 40
#define FIRST_PROJECT_IDS 24
#define FIRST_PROJECT 88
#define FIRST_PROJECT_STEP 40
#define FIRST_PROJECT_NEW_STEP 40
#define FIRST_PROJECT_UPDATE 72
#define FIRST_PROJECT_USAGE 24
/* Tells whether the struct_size of the plugin's struct is at least the struct's first size. */
int is_sized(const void *given, size_t first);
/* Fills a struct of the plugin's that has a size, as far as it has room, and sets its struct_size to the filled
 * size. */
void fill(void *out, const void *value, size_t size);
/* Copies a struct of the plugin's; members beyond its size are zero. Returns 0 if it has no valid size. */
int take(void *to, size_t size, const void *given, size_t first);

/* tables.c: the checks of everything that the plugin hands out. They are those of the host. */
/* Opens the module. Returns 0 if there is a problem. */
int take_module(larder_fake *fake, const larder_module *given);
/* Finds the plugin's descriptor, and checks that the required services exist. */
larder_status take_description(larder_fake *fake, const char *id);
/* Checks the instance, and takes its offers. They return 0 if there is a problem. */
int take_instance(larder_fake *fake, const larder_instance *given);
int take_offers(larder_fake *fake);

/* settings.c */
/* Checks the schema and the test's settings, and fills in defaults. A plugin without a schema has no settings. Returns
 * 0 if there is a problem. */
int take_settings(larder_fake *fake, const char *schema);

/* json.c */
struct json {
    enum { JSON_NULL, JSON_BOOLEAN, JSON_INTEGER, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } kind;
    char *name;   /* of a member */
    char *text;   /* of a string; or a number as it was written */
    size_t length;
    int64_t integer;
    double number;
    LIST(struct json) children;
};
/* Returns 0 if the text is not JSON. */
int parse_json(struct json *out, larder_str text);
void free_json(struct json *json);
/* Returns the last member with this name, or null if there is none or the value is not an object. */
const struct json *json_member(const struct json *object, const char *name);
int json_equal(const struct json *one, const struct json *other);
void put_json(struct text *to, const struct json *json);
void put_name(struct text *to, const char *name);
void put_text(struct text *to, const char *text);

/* memory.c: none of these functions returns null. A lack of memory ends the test. */
void *resized(void *block, size_t size);
char *text_of(larder_str text);
char *copied(const char *text);
int same(larder_str text, const char *other);
struct copied_item copy_item(const larder_item *item, uint64_t fields);
void free_item(struct copied_item *item);
struct copied_policy copy_policy(const larder_policy *policy);
void free_policy(struct copied_policy *policy);
struct value make_value(larder_bytes key, const larder_bytes *bytes);
void free_value(struct value *value);
int is_utf8(larder_str text);
/* Tells whether a text is present and UTF-8. */
int is_text(larder_str text);
/* Tells whether a text is an item's path. */
int is_path(larder_str text);
larder_bytes copy_bytes(larder_bytes from);
void free_bytes(larder_bytes *bytes);
/* Returns memory that is freed after the call, so that a plugin which keeps it is detected. */
void *lend(larder_fake *fake, size_t size);
larder_str lend_text(larder_fake *fake, const char *text);
void free_lent(larder_fake *fake);

/* journal.c */
larder_fake_entry *record(larder_fake *fake, uint32_t kind, const char *name);
void record_policy(larder_fake *fake, const char *name, uint32_t flags, const larder_policy *policy);
void drop_wishes_since(larder_fake *fake, size_t first);
__attribute__((format(printf, 2, 3))) void set_problem(larder_fake *fake, const char *format, ...);

/* gate.c */
larder_fake *fake_of(const larder_host *host);
/* Checks whether a function may be called now, and returns the status that the test wants. `when` is IN_…. */
larder_status enter(larder_fake *fake, const char *function, uint32_t when);
larder_status refuse(larder_fake *fake, const char *function, larder_status status);
/* Tells whether the plugin was built with headers of a later version. */
int is_newer(const larder_fake *fake);
/* Refuses a flag or another number that the headers do not define. This is no mistake of a plugin with later
 * headers. */
larder_status refuse_unknown(larder_fake *fake, const char *function);
/* Records a status that does not exist. */
void check_status(larder_fake *fake, const char *call, larder_status status);

/* cursor.c */
/* Opens a cursor. Without a query it is over the changed items. */
larder_item_cursor *open_cursor(larder_fake *fake, const larder_query *query, uint64_t fields);
void free_cursor(struct cursor *cursor);
void close_cursors(larder_fake *fake);

/* services.c */
void fill_host(larder_fake *fake);
const void *service(larder_str name);

/* call.c */
void begin_call(larder_fake *fake, enum state state);
larder_status end_call(larder_fake *fake, larder_status status);
void grant(larder_fake *fake);
void forget_wishes(larder_fake *fake);

/* loop-records.c */
extern const larder_records records_table;
void keep_record(larder_fake *fake, struct kept_record *record);
void free_record(struct kept_record *record);
void close_record_cursors(larder_fake *fake);
void free_records(larder_fake *fake);

/* projects.c */
struct kept_project *find_project(const larder_fake *fake, larder_str id);
void touch_project(larder_fake *fake, struct kept_project *project);
uint64_t projects_size(const larder_fake *fake);
void free_step(struct kept_step *step);
void free_project(struct kept_project *project);
larder_status projects_list(const larder_host *host, uint32_t order, larder_project_ids *out);
larder_status projects_fetch(const larder_host *host, larder_str id, uint32_t parts, larder_project *out);
larder_status projects_fetch_step(const larder_host *host, larder_str id, larder_str step, larder_project_step *out);
larder_status projects_usage(const larder_host *host, larder_project_usage *out);
void free_projects(larder_fake *fake);

/* project-changes.c */
extern const larder_projects projects_table;

/* actions.c */
extern const larder_actions actions_table;

/* folders.c: after a failure these functions return null, or a number other than 0. */
char *make_assets(larder_fake *fake, const char *name);
int is_folder(const char *path);
/* Returns LARDER_OK if there is a regular file below the folder and no symbolic link on the way; else
 * LARDER_NOT_FOUND, LARDER_DENIED (a symbolic link) or LARDER_INVALID_ARGUMENT (it is no regular file). */
larder_status check_file(const char *folder, larder_str file);
void remove_tree(const char *path);
uint64_t tree_size(const char *path);
int copy_tree(const char *from, const char *to);

/* server.c */
/* Takes the answer to a request from the scripts. */
int take_script(larder_fake *fake, int is_dav, const char *method, const char *target, const char *body,
                struct script *out);
void free_script(struct script *script);
void free_server(larder_fake *fake);

/* answers.c */
extern const larder_http http_table;
extern const larder_dav dav_table;
extern const larder_discover discover_table;
void close_answers(larder_fake *fake);
void free_answers(larder_fake *fake);

/* event-ids.c */
struct event_id *find_event_id(const larder_fake *fake, const char *loop);
void free_event_ids(larder_fake *fake);

#endif
