/* What the parts of the fake host share. */
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
struct fault {
    char *function;
    uint32_t nth; /* calls to go until it happens; 0 and not `always`: it has happened */
    larder_status status;
    int always;
};
struct wish {
    const char *name;
    struct copied_policy policy; /* for larder.policies/1 */
    struct value value;          /* for larder.kv/1; no bytes: it goes */
};
struct cursor {
    larder_item_cursor table;
    larder_fake *fake;
    int is_hosts; /* over the changed items, and not the plugin's to close */
    uint64_t fields;
    LIST(const larder_item *) found;
    size_t next;
    struct copied_item lent;
};

struct entry {
    larder_fake_entry shown;
    struct copied_policy policy; /* what shown.policy points to */
};

enum state { OUTSIDE, CONTROL, PROCESSOR };

struct larder_fake {
    larder_host host;
    const larder_module *module;
    const larder_instance *instance;
    const larder_item_policy_processor *processor;
    char *problem;

    /* The stage. */
    char *settings;
    int64_t now, monotonic;
    larder_usage_figures usage;
    int cancelled;
    LIST(struct copied_item) items;
    LIST(struct copied_policy) policies;
    LIST(struct value) values;
    LIST(char *) withheld;
    LIST(struct fault) faults;
    larder_fake_evaluator evaluator;
    void *evaluator_context;
    int policies_changed;

    /* The call under way. */
    enum state state;
    pthread_t thread;
    const char *const *changed;
    size_t changed_count;
    size_t first_entry; /* of this call */
    LIST(struct wish) wishes; /* of this call */
    LIST(struct wish) granted; /* of this run */
    LIST(struct cursor *) cursors;
    larder_policy *listed;
    char *condition;

    LIST(struct entry) entries;
};

/* memory.c: none of these returns null; out of memory ends the test. */
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

/* record.c */
larder_fake_entry *record(larder_fake *fake, uint32_t kind, const char *name);
void record_policy(larder_fake *fake, const char *name, uint32_t flags, const larder_policy *policy);
void drop_wishes_since(larder_fake *fake, size_t first);

/* services.c */
void fill_host(larder_fake *fake);
/* Without a query: over the changed items. */
larder_item_cursor *open_cursor(larder_fake *fake, const larder_query *query, uint64_t fields);
void free_cursor(struct cursor *cursor);
void close_cursors(larder_fake *fake);

/* run.c */
void begin_call(larder_fake *fake, enum state state);
larder_status end_call(larder_fake *fake, larder_status status);

#endif
