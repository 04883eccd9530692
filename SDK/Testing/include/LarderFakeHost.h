/* LarderFakeHost.h: a fake host for the tests of a plugin.
 *
 * The fake host opens a plugin's library, or takes a module of the test's own. It starts one plugin with the settings
 * that the test gives, and makes the calls of a run over the items and policies that the test gives. It carries nothing
 * out: it records the plugin's requests for the test to read. The code that makes the calls and answers them is the
 * host's own; the account behind it is the test's.
 *
 * An event loop is polled turn by turn, against records that the fake host keeps and a server whose answers the test
 * writes. A processor reads these records; the test makes the run that follows from a change of them.
 *
 * The fake host keeps the rules of the ABI as the host does, so that it detects a plugin that breaks them:
 *
 *  - It does not start a plugin that the host would refuse: a table that is null, too small or lacks a function; a
 *    descriptor without id, name or version; an id that the library does not describe, or describes twice; a required
 *    service that does not exist; a schema that promises a check which nobody makes; settings that the schema does not
 *    allow. larder_fake_problem says which.
 *  - A service that the descriptor names neither as required nor as wanted is null. Asking for it is a mistake.
 *  - It fills only the fields that the processor names. It frees items, texts and lists when the call returns.
 *  - It drops the requests of a call that fails.
 *  - It refuses the same arguments as the host, with the same status. A call at the wrong time or from another thread,
 *    and a status that does not exist, are mistakes.
 *  - Which items meet a condition, the condition language says, as in the host.
 *  - It refuses changes of the server unless the test grants them. It takes no snapshot of what is to be uploaded, and
 *    asks nobody about many deletions.
 *  - max_records holds for each run: the requests of a run are done when the next run begins.
 *
 * It has limits: it does not parse the server's addresses, and it waits for nothing.
 *
 * All functions are for one thread, that of the test. They copy texts and structs that they get. Texts and structs that
 * they return are valid until the next call of larder_fake_run, larder_fake_poll, larder_fake_forget or
 * larder_fake_free, unless the function's comment says otherwise.
 *
 * Example:
 *
 *     static void test_processor(const larder_item *old_file) {
 *         larder_fake *fake = larder_fake_open("build/libarchive-policy.so");
 *         larder_fake_settings(fake, "{\"years\": 5}");
 *         larder_fake_put_item(fake, old_file);
 *         assert(larder_fake_start(fake, "org.example.archive") == LARDER_OK);
 *         assert(larder_fake_run(fake, LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED, NULL, 0) == LARDER_OK);
 *         assert(larder_fake_count(fake, LARDER_FAKE_ACTION) == 1);
 *         larder_fake_free(fake);
 *     }
 *
 *     static void test_loop(larder_fake *fake) {
 *         larder_fake_answer_dav(fake, "REPORT", "/ada/work/", 207);
 *         larder_fake_response(fake, "/ada/work/1.ics", 200, NULL);
 *         larder_fake_property(fake, "{DAV:}getetag", "\"1\"");
 *         larder_fake_end_dav(fake, "token-1", 0, NULL);
 *         assert(larder_fake_poll(fake, "/ada/work/") == LARDER_OK);
 *         assert(larder_fake_record(fake, "calendars//ada/work/", "/ada/work/1.ics"));
 *     }
 */
#ifndef LARDER_FAKE_HOST_H
#define LARDER_FAKE_HOST_H

#include <larder/larder.h>

LARDER_BEGIN

/* A fake host. */
typedef struct larder_fake larder_fake;

/* Opens a library at a path, and returns a fake host for it. The result is never null: if the library cannot be used,
 * larder_fake_problem says why. Free it with larder_fake_free. */
larder_fake *larder_fake_open(const char *library);

/* Returns a fake host for a module that is part of the test. `entry` is its entry function. */
larder_fake *larder_fake_for(larder_plugin_entry entry);

/* Stops and destroys the plugin, and frees the fake host. The library stays open. */
void larder_fake_free(larder_fake *fake);

/* Returns why the library cannot be used or the plugin was not started, or null if there is no problem. */
const char *LARDER_NULLABLE larder_fake_problem(const larder_fake *fake);

/* Returns the descriptor of the plugin with this index, or null past the last one. */
const larder_descriptor *LARDER_NULLABLE larder_fake_describe(const larder_fake *fake, uint32_t index);

/* --- The stage: what the plugin finds. All of it may be set before the start and between runs. --- */

/* Sets the settings as the operator writes them, in JSON: {"after": "7d"}; "{}" unless set. At the next start the fake
 * host checks them, fills in defaults as the host does, and passes them to the plugin. */
void larder_fake_settings(larder_fake *fake, const char *json);

/* Sets the clocks, in nanoseconds; 0 unless set. */
void larder_fake_time(larder_fake *fake, int64_t now, int64_t monotonic);

/* Sets the figures of larder.usage/1, in bytes and files; all 0 unless set. The items on the stage do not change
 * them. */
void larder_fake_room(larder_fake *fake, int64_t local_bytes, int64_t local_copies, int64_t free_bytes,
                      int64_t total_bytes);

/* Puts an item on the stage, in place of the item with the same local_id if there is one. Its `present` says which
 * fields have values. Where available_offline has none, conditions go by the policies on the stage. */
void larder_fake_put_item(larder_fake *fake, const larder_item *item);

/* Removes the item with this local_id. */
void larder_fake_drop_item(larder_fake *fake, const char *local_id);

/* Puts a policy on the stage, in place of the policy with the same id if there is one. The plugin gets the policies in
 * its next run. */
void larder_fake_put_policy(larder_fake *fake, const larder_policy *policy);

/* Removes the policy with this id. */
void larder_fake_drop_policy(larder_fake *fake, const char *id);

/* Returns 1 if an item, which has all its fields, meets a condition, and else 0. */
typedef uint32_t (*larder_fake_evaluator)(void *LARDER_NULLABLE context, larder_str condition, const larder_item *item);

/* Sets a function that evaluates conditions in place of the condition language, and its first argument. */
void larder_fake_evaluate_with(larder_fake *fake, larder_fake_evaluator evaluator, void *LARDER_NULLABLE context);

/* Withholds a service: "larder.kv/1". A plugin that requires the service then does not start. */
void larder_fake_withhold(larder_fake *fake, const char *service);

/* Grants the plugin something, as the config does with `grant`: "server-changes". Nothing is granted unless set. */
void larder_fake_grant(larder_fake *fake, const char *grant);

/* Makes a call of a service's function, such as "actions.download", return a status. `nth` counts from now on: 1 is the
 * next call, 0 is every call. "commit" is the commit of a loop's turn. */
void larder_fake_fail(larder_fake *fake, const char *function, uint32_t nth, larder_status status);

/* Makes `check` of larder.cancel/1 return LARDER_CANCELLED from now on. */
void larder_fake_cancel(larder_fake *fake);

/* --- The stage of event loops. --- */

/* Puts a record on the stage, in place of the record with the same key if there is one. */
void larder_fake_put_record(larder_fake *fake, const char *collection, const larder_record *record);

/* Removes a record and everything that belongs to it. */
void larder_fake_drop_record(larder_fake *fake, const char *collection, const char *key);

/* Sets the event id of a loop; null: the loop has none. Turns set it too. */
void larder_fake_set_event_id(larder_fake *fake, const char *loop, const char *LARDER_NULLABLE event_id);

/* Returns the event id of a loop, or null if it has none. */
const char *LARDER_NULLABLE larder_fake_event_id(const larder_fake *fake, const char *loop);

/* Sets the principal and the `count` homes of the account's calendars. Unless they are set, discover.find returns
 * LARDER_UNSUPPORTED for "caldav". */
void larder_fake_homes(larder_fake *fake, const char *LARDER_NULLABLE principal,
                       const char *LARDER_NONNULL const *LARDER_NULLABLE homes, size_t count);

/* Sets the same of the account's address books, for "carddav". */
void larder_fake_address_book_homes(larder_fake *fake, const char *LARDER_NULLABLE principal,
                                    const char *LARDER_NONNULL const *LARDER_NULLABLE homes, size_t count);

/* Sets the home of the account's files: "/remote.php/webdav/". Unless it is set, the server keeps no files. */
void larder_fake_files_home(larder_fake *fake, const char *LARDER_NULLABLE home);

/* Adds an answer for one request with this method and target. Several answers for the same method and target are given
 * in their order. A request without an answer is a mistake, and its status is LARDER_IO. `body` is the body or its
 * first piece; null: there is none. */
void larder_fake_answer(larder_fake *fake, const char *method, const char *target, uint32_t status,
                        const char *LARDER_NULLABLE body);

/* Adds a header to the answer that was added last. */
void larder_fake_answer_header(larder_fake *fake, const char *name, const char *value);

/* Adds a piece of the body to the answer that was added last. */
void larder_fake_answer_chunk(larder_fake *fake, const void *bytes, size_t length);

/* Adds an answer of larder.dav/1 for one request. An answer with a status other than 207 has no responses. */
void larder_fake_answer_dav(larder_fake *fake, const char *method, const char *target, uint32_t status);

/* Adds a response to the answer that was added last. `error` has the names inside its DAV:error. */
void larder_fake_response(larder_fake *fake, const char *href, uint32_t status, const char *LARDER_NULLABLE error);

/* Adds a property, by its name in Clark notation, to the response that was added last. */
void larder_fake_property(larder_fake *fake, const char *name, const char *text);

/* Sets the facts that are known at the end of the answer that was added last; all absent unless set. */
void larder_fake_end_dav(larder_fake *fake, const char *LARDER_NULLABLE sync_token, uint32_t truncated,
                         const char *LARDER_NULLABLE error);

/* Makes the answer that was added last fail with a status after its last part. */
void larder_fake_break_answer(larder_fake *fake, larder_status status);

/* Makes the request for the answer that was added last fail with a status: in `open`, or in the first `next` of a
 * request that was sent ahead. */
void larder_fake_fail_request(larder_fake *fake, larder_status status);

/* Returns the number of answers that are open and not read to their end. */
size_t larder_fake_under_way(const larder_fake *fake);

/* Adds an answer for a request that has none. `body` is empty for a request without a body. */
typedef void (*larder_fake_server)(void *LARDER_NULLABLE context, const char *method, const char *target,
                                   const char *body);

/* Sets the function that the fake host calls for a request without an answer, and its first argument; null: none. */
void larder_fake_serve_with(larder_fake *fake, larder_fake_server LARDER_NULLABLE server,
                            void *LARDER_NULLABLE context);

/* Returns the number of answers that no request has taken yet. */
size_t larder_fake_unasked(const larder_fake *fake);

/* --- Projects. They are in a temporary folder below TMPDIR, which is removed with the fake host. Unlike the requests
 * of a call, a change of a project is made at once, and stays if the call fails. --- */

/* Sets the quota of the plugin's projects, in bytes of user data and assets; 1 GB unless set. */
void larder_fake_quota(larder_fake *fake, uint64_t bytes);

/* Moves a project's cursor, as a person's undo and redo does. Returns 1, or 0 if there is no such project or it has
 * fewer steps. */
int larder_fake_set_cursor(larder_fake *fake, const char *id, uint64_t cursor);

/* Returns the number of projects. */
size_t larder_fake_project_count(const larder_fake *fake);

/* Returns the id of the project with this index, in the order of creation, or null past the last one. */
const char *LARDER_NULLABLE larder_fake_project_id(const larder_fake *fake, size_t index);

/* Returns a project with its step ids and user data, or null if there is none. It is valid until the test asks for that
 * project again, or the project changes. */
const larder_project *LARDER_NULLABLE larder_fake_project(const larder_fake *fake, const char *id);

/* Returns the step with this index of a project, or null if there is none. It is valid as long as larder_fake_project's
 * result. */
const larder_project_step *LARDER_NULLABLE larder_fake_project_step(const larder_fake *fake, const char *id,
                                                                    size_t index);

/* --- The work. --- */

/* Creates and starts the plugin with this id. Returns LARDER_OK, or the status of the failure; larder_fake_problem says
 * more. */
larder_status larder_fake_start(larder_fake *fake, const char *id);

/* Stops and destroys the plugin. It may be started again. */
void larder_fake_stop(larder_fake *fake);

/* Makes all calls of one run, and then carries out the requests for policies and values. `changed` has the local_ids of
 * the `count` items that LARDER_TRIGGER_ITEMS_CHANGED is about. Returns the status of the first call that failed, or
 * LARDER_OK. A trigger that is not in the processor's mask makes no call. */
larder_status larder_fake_run(larder_fake *fake, uint32_t trigger,
                              const char *LARDER_NONNULL const *LARDER_NULLABLE changed, size_t count);

/* Makes one turn of an event loop. It calls poll, or refresh if there is no event id or the page says so, then process,
 * and on_error where the host calls it. Then it commits the requests together with the event id, or nothing. Returns
 * LARDER_OK after a commit, and else the status of the failure; LARDER_UNSUPPORTED: there is nothing to poll. */
larder_status larder_fake_poll(larder_fake *fake, const char *loop);

/* Returns 1 if the page of the last turn said that there is more, and else 0. */
int larder_fake_has_more(const larder_fake *fake);

/* Returns a condition that the plugin gives now, or null if it is absent. */
const char *LARDER_NULLABLE larder_fake_policy_condition(larder_fake *fake);
const char *LARDER_NULLABLE larder_fake_match_condition(larder_fake *fake);
const char *LARDER_NULLABLE larder_fake_cleanup_condition(larder_fake *fake);

/* Returns what the processor says of the item with this local_id (ext/explain.h), or null if it says nothing or the
 * call failed. A long text is cut after 1,024 bytes. The host makes a run for the item before; here the test makes it.
 * The text is valid until the next call of this function. */
const char *LARDER_NULLABLE larder_fake_explain(larder_fake *fake, const char *local_id);

/* Returns the text of the plugin's settings schema, or null if it has none. */
const char *LARDER_NULLABLE larder_fake_schema(larder_fake *fake);

/* --- The record of what happened, oldest first. --- */

/* A call into the plugin. Into a processor: `name` is "perform_action" or another function, `number` the trigger,
 * `path` the item's path, `status` the result. Into an event loop: `name` is "poll" or another function, `id` the
 * loop's id, `number` the argument of refresh or the code of on_error. */
#define LARDER_FAKE_CALL 0u
/* A request for an action: `name` is "download", "remove_local_copy" or "purge", `number` the flags, `id` the item's
 * local_id, `text` the key; or `name` is "look" and `path` the path. A change of the server: `name` is "create_folder",
 * "move", "copy", "remove_from_server", "set_favorite" (`number` is 1 or 0) or "upload" (`number` the flags, `id` the
 * project's id, `path` the file below its folder of assets), and `target` the path at which something is made. */
#define LARDER_FAKE_ACTION 1u
/* A request for a change of policies: `name` is "add", "update" or "remove", `number` the flags; `id` and `policy` are
 * set. */
#define LARDER_FAKE_POLICY 2u
/* A request for a value: `name` is "put" or "remove", `id` the key, `text` the value. */
#define LARDER_FAKE_VALUE 3u
/* A line for the log: `number` is the level, `text` the line. */
#define LARDER_FAKE_LOG 4u
/* The reason of a failed call: `status` and `text`. */
#define LARDER_FAKE_FAILURE 5u
/* A mistake. A refused call into the fake host: `name` is the function, `status` the result. A request for a service
 * that was not declared: `name` is "extension", `text` the service. A call into the plugin with a status that does not
 * exist: `name` is the function, `status` the result. A condition that is not valid: `name` is the function that gave it,
 * `text` the reason. */
#define LARDER_FAKE_MISTAKE 6u
/* A query for items: `name` is "open", `text` the condition. */
#define LARDER_FAKE_QUERY 7u
/* A request for a record: `name` is "put" or "remove", `path` the collection, `id` the key, `text` the value. */
#define LARDER_FAKE_RECORD 8u
/* A request to the server: `name` is the method, `path` the target, `number` the depth, `text` the body; or `name` is
 * "discover" and `path` the service. */
#define LARDER_FAKE_REQUEST 9u
/* A change of a project, which is made already: `name` is "create", "update", "add_step", "undo", "redo", "duplicate"
 * or "remove", `id` the project's id (for a duplicate: the copy's), `text` the project's new user data. */
#define LARDER_FAKE_PROJECT 10u

/* An entry of the record. The comment of its kind says which members are set; the others are 0 or null. */
typedef struct larder_fake_entry {
    uint32_t kind;
    uint32_t number;
    larder_status status;
    uint32_t reserved;
    const char *name;
    const char *LARDER_NULLABLE path;
    const char *LARDER_NULLABLE id;
    const char *LARDER_NULLABLE text;
    const larder_policy *LARDER_NULLABLE policy;
    const char *LARDER_NULLABLE target;
} larder_fake_entry;

/* Returns the number of entries of a kind. */
size_t larder_fake_count(const larder_fake *fake, uint32_t kind);

/* Returns the entry of a kind with this index, or null past the last one. */
const larder_fake_entry *LARDER_NULLABLE larder_fake_entry_at(const larder_fake *fake, uint32_t kind, size_t index);

/* Removes all entries. */
void larder_fake_forget(larder_fake *fake);

/* Returns the number of policies. */
size_t larder_fake_policy_count(const larder_fake *fake);

/* Returns the policy with this index as it is now, or null past the last one. */
const larder_policy *LARDER_NULLABLE larder_fake_policy_at(const larder_fake *fake, size_t index);

/* Returns a record in its last committed state, or null if there is none. */
const larder_record *LARDER_NULLABLE larder_fake_record(const larder_fake *fake, const char *collection,
                                                        const char *key);

/* Returns the record of a collection with this index, in the order of the keys, or null past the last one. */
const larder_record *LARDER_NULLABLE larder_fake_record_at(const larder_fake *fake, const char *collection,
                                                           size_t index);

/* Returns the value of a key, or null if it has none. */
const larder_bytes *LARDER_NULLABLE larder_fake_value(const larder_fake *fake, const char *key);

LARDER_END

#endif
