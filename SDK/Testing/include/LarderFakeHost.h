/* LarderFakeHost.h: a host for a plugin's tests.
 *
 * It opens a plugin's library, or takes a module of the test's own, starts one plugin with the settings that the test gives,
 * and makes the calls of a run over the items and policies that the test gives. Nothing is carried out: what the plugin asks
 * for is written down, for the test to read.
 *
 *     larder_fake *fake = larder_fake_open("build/libarchive-policy.so");
 *     larder_fake_settings(fake, "{\"years\": 5}");
 *     larder_fake_put_item(fake, &old_file);
 *     larder_fake_evaluate_with(fake, my_evaluator, NULL);
 *     assert(larder_fake_start(fake, "org.example.archive") == LARDER_OK);
 *     assert(larder_fake_run(fake, LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED, NULL, 0) == LARDER_OK);
 *     assert(larder_fake_count(fake, LARDER_FAKE_ACTION) == 1);
 *     larder_fake_free(fake);
 *
 * An event loop is polled turn by turn, against records that the fake keeps and a server that the test writes:
 *
 *     larder_fake_answer_dav(fake, "REPORT", "/ada/work/", 207);
 *     larder_fake_response(fake, "/ada/work/1.ics", 200, NULL);
 *     larder_fake_property(fake, "{DAV:}getetag", "\"1\"");
 *     larder_fake_end_dav(fake, "token-1", 0, NULL);
 *     assert(larder_fake_poll(fake, "/ada/work/") == LARDER_OK);
 *     assert(larder_fake_record(fake, "calendars//ada/work/", "/ada/work/1.ics"));
 *
 * It keeps to the rules of the ABI as the host does, so that a plugin which does not is found out:
 *
 *  - It does not start what the host would refuse: a table that is null, too small or lacks a function; a descriptor without id, name
 *    or version; an id that the library does not describe, or describes twice; a required service that does not exist; a schema
 *    that promises a check which nobody makes; settings that the schema does not allow. larder_fake_problem says which.
 *  - A service that the descriptor names neither as required nor as wanted is null, and a mistake.
 *  - Only the fields that the processor names are filled; items, texts and lists are freed when the call returns.
 *  - What a failing call asked for is dropped.
 *  - What the host refuses of a call's arguments it refuses with the same status. A call at the wrong time or from another thread,
 *    and a status that there is not, are mistakes.
 *  - max_records holds for each run: what a run asked for is done when the next one begins.
 *
 * What it cannot tell: it does not know the condition language (which items meet a condition, the test says), reads no address of
 * the server, and does not look where the links in a step's assets lead.
 *
 * All functions are for one thread, the test's. Texts that they hand out stay until the next call of larder_fake_run,
 * larder_fake_poll, larder_fake_forget or larder_fake_free.
 */
#ifndef LARDER_FAKE_HOST_H
#define LARDER_FAKE_HOST_H

#include <larder/larder.h>

LARDER_BEGIN

typedef struct larder_fake larder_fake;

/* Opens a library. Always hands out a host; if the library cannot be used, larder_fake_problem says why. */
larder_fake *larder_fake_open(const char *library);

/* The same for a module that is part of the test. */
larder_fake *larder_fake_for(larder_plugin_entry entry);

/* Stops and destroys the plugin, and frees the host. The library stays open. */
void larder_fake_free(larder_fake *fake);

/* Why the library cannot be used or the plugin was not started; null if all is well. */
const char *LARDER_NULLABLE larder_fake_problem(const larder_fake *fake);

/* What the library says of its plugins; null past the last. */
const larder_descriptor *LARDER_NULLABLE larder_fake_describe(const larder_fake *fake, uint32_t index);

/* --- The stage. All of it may be set before the start and between runs. Everything passed is copied. --- */

/* The settings as the operator writes them, as JSON: {"after": "7d"}; "{}" unless set. From the start on the plugin gets them checked and
 * filled in, as the host does it. */
void larder_fake_settings(larder_fake *fake, const char *json);

/* What the clocks say, in nanoseconds; 0 unless set. */
void larder_fake_time(larder_fake *fake, int64_t now, int64_t monotonic);

/* What larder.usage/1 says, in bytes and files; all 0 unless set. The items on the stage do not change it. */
void larder_fake_room(larder_fake *fake, int64_t local_bytes, int64_t local_copies, int64_t free_bytes,
                      int64_t total_bytes);

/* Puts an item on the stage, or puts it in place of the one with the same local_id. Its `present` says what it has. */
void larder_fake_put_item(larder_fake *fake, const larder_item *item);
void larder_fake_drop_item(larder_fake *fake, const char *local_id);

/* The same with policies and their id. The plugin gets them in its next run. */
void larder_fake_put_policy(larder_fake *fake, const larder_policy *policy);
void larder_fake_drop_policy(larder_fake *fake, const char *id);

/* Whether an item, with all its fields, meets a condition: 1 or 0. */
typedef uint32_t (*larder_fake_evaluator)(void *LARDER_NULLABLE context, larder_str condition, const larder_item *item);

/* Who answers conditions; without one, no item meets any. */
void larder_fake_evaluate_with(larder_fake *fake, larder_fake_evaluator evaluator, void *LARDER_NULLABLE context);

/* Withholds a service: "larder.kv/1". A plugin that requires it does not start then. */
void larder_fake_withhold(larder_fake *fake, const char *service);

/* Makes the nth call from now (1: the next) of a service's function return a status: "actions.download". 0: every call. "commit" is
 * the commit of a loop's turn. */
void larder_fake_fail(larder_fake *fake, const char *function, uint32_t nth, larder_status status);

/* From now on larder.cancel/1 says so. */
void larder_fake_cancel(larder_fake *fake);

/* --- The stage of event loops. --- */

/* Puts a record on the stage, or in place of the one with its key. */
void larder_fake_put_record(larder_fake *fake, const char *collection, const larder_record *record);
/* The record goes, and with it what belongs to it. */
void larder_fake_drop_record(larder_fake *fake, const char *collection, const char *key);

/* How far a loop has come; null: nothing is known. Turns set it. */
void larder_fake_set_event_id(larder_fake *fake, const char *loop, const char *LARDER_NULLABLE event_id);
const char *LARDER_NULLABLE larder_fake_event_id(const larder_fake *fake, const char *loop);

/* Where the server keeps the account's calendars; none unless set: discover.find then returns LARDER_UNSUPPORTED. */
void larder_fake_homes(larder_fake *fake, const char *LARDER_NULLABLE principal,
                       const char *LARDER_NONNULL const *LARDER_NULLABLE homes, size_t count);

/* Where the account's files are, "/remote.php/webdav/"; none unless set: the server keeps no files. */
void larder_fake_files_home(larder_fake *fake, const char *LARDER_NULLABLE home);

/* Writes an answer for one request with this method and target; several for the same are given in their order. A request without
 * an answer is a mistake, and its status LARDER_IO. The body may be null. */
void larder_fake_answer(larder_fake *fake, const char *method, const char *target, uint32_t status,
                        const char *LARDER_NULLABLE body);
/* More of the answer that was written last: a header; a piece of the body. */
void larder_fake_answer_header(larder_fake *fake, const char *name, const char *value);
void larder_fake_answer_chunk(larder_fake *fake, const void *bytes, size_t length);

/* The same for larder.dav/1; with a status other than 207 it has no responses. */
void larder_fake_answer_dav(larder_fake *fake, const char *method, const char *target, uint32_t status);
/* More of it: a response, with the names inside its DAV:error or null; a property of that response, in Clark notation; and what is
 * known at the end, all absent unless set. */
void larder_fake_response(larder_fake *fake, const char *href, uint32_t status, const char *LARDER_NULLABLE error);
void larder_fake_property(larder_fake *fake, const char *name, const char *text);
void larder_fake_end_dav(larder_fake *fake, const char *LARDER_NULLABLE sync_token, uint32_t truncated,
                         const char *LARDER_NULLABLE error);

/* The answer that was written last does not end well: past its last part it fails with a status. */
void larder_fake_break_answer(larder_fake *fake, larder_status status);

/* In place of the answer that was written last, its request fails with a status: in `open`, or in the first `next` of one that was sent
 * ahead. */
void larder_fake_fail_request(larder_fake *fake, larder_status status);

/* How many requests' answers are open and not read to their end. */
size_t larder_fake_under_way(const larder_fake *fake);

/* Called for a request without an answer, to write one. */
typedef void (*larder_fake_server)(void *LARDER_NULLABLE context, const char *method, const char *target,
                                   const char *body);
void larder_fake_serve_with(larder_fake *fake, larder_fake_server LARDER_NULLABLE server,
                            void *LARDER_NULLABLE context);

/* How many answers nobody asked for yet. */
size_t larder_fake_unasked(const larder_fake *fake);

/* --- Projects. They are in memory; assets are in a temporary folder, below TMPDIR, that goes with the fake. A source of assets is
 * moved there, and so must lie on the same file system. Other than what a call asks for, a change of a project is there at once and
 * stays if the call fails. --- */

/* How much the plugin's projects may take, in bytes of user data and assets; 1 GB unless set. */
void larder_fake_quota(larder_fake *fake, uint64_t bytes);

/* Moves a project's cursor, as a person's undo and redo does. Returns 0 if there is no such project, or it has fewer steps. */
int larder_fake_set_cursor(larder_fake *fake, const char *id, uint64_t cursor);

/* The projects in the order in which they were made: how many, an id, null past the last. */
size_t larder_fake_project_count(const larder_fake *fake);
const char *LARDER_NULLABLE larder_fake_project_id(const larder_fake *fake, size_t index);

/* A project with its steps and user data, and one of its steps; null: there is none. They stay until that project is asked for again,
 * or changes. */
const larder_project *LARDER_NULLABLE larder_fake_project(const larder_fake *fake, const char *id);
const larder_project_step *LARDER_NULLABLE larder_fake_project_step(const larder_fake *fake, const char *id, size_t index);

/* --- The work. --- */

/* Creates and starts the plugin with this id. */
larder_status larder_fake_start(larder_fake *fake, const char *id);

/* Stops and destroys it; it may be started again. */
void larder_fake_stop(larder_fake *fake);

/* Makes all calls of one run, and then carries out what was asked for of policies and values. `changed` are the local_ids of
 * the items that LARDER_TRIGGER_ITEMS_CHANGED is about. Returns the status of the first call that failed. A trigger that is
 * not in the processor's mask makes no call. */
larder_status larder_fake_run(larder_fake *fake, uint32_t trigger, const char *LARDER_NONNULL const *LARDER_NULLABLE changed,
                              size_t count);

/* Makes one turn of an event loop: poll, or refresh without an event id or when the page says so, then process, on_error where a turn
 * of the host's has it, and the commit of what was asked for with the event id, or of nothing. Returns LARDER_OK if it was committed, and
 * else the status of what failed; LARDER_UNSUPPORTED: there is nothing to poll. */
larder_status larder_fake_poll(larder_fake *fake, const char *loop);

/* Whether the last turn's page said that there is more. */
int larder_fake_has_more(const larder_fake *fake);

/* The conditions, as the plugin gives them now; null if absent. */
const char *LARDER_NULLABLE larder_fake_policy_condition(larder_fake *fake);
const char *LARDER_NULLABLE larder_fake_match_condition(larder_fake *fake);
const char *LARDER_NULLABLE larder_fake_cleanup_condition(larder_fake *fake);
/* The text of the plugin's settings schema; null if it has none. */
const char *LARDER_NULLABLE larder_fake_schema(larder_fake *fake);

/* --- What happened, oldest first. --- */

/* A call into the processor: name "perform_action", number the trigger, path the item's, status what it returned. Into an event loop:
 * name "poll", id the loop's, number what refresh is for or on_error's code. */
#define LARDER_FAKE_CALL 0u
/* An action asked for: name "download" or "remove_local_copy", number the flags, id the item's, text the key; or name "look", path. */
#define LARDER_FAKE_ACTION 1u
/* A change of policies asked for: name "add", "update" or "remove", number the flags, id and policy. */
#define LARDER_FAKE_POLICY 2u
/* A value asked for: name "put" or "remove", id the key, text the value. */
#define LARDER_FAKE_VALUE 3u
/* A line for the log: number the level, text. */
#define LARDER_FAKE_LOG 4u
/* Why a call failed: status, text. */
#define LARDER_FAKE_FAILURE 5u
/* A call of the host's that was refused: name the function, status; of a service that was not declared: name "extension", text the
 * service. Or a call into the plugin that returned a status which there is not: its name, status. */
#define LARDER_FAKE_MISTAKE 6u
/* Items asked for: name "open", text the condition. */
#define LARDER_FAKE_QUERY 7u
/* A record asked for: name "put" or "remove", path the collection, id the key, text the value. */
#define LARDER_FAKE_RECORD 8u
/* A request: name the method, path the target, number the depth, text the body; or name "discover", path the service. */
#define LARDER_FAKE_REQUEST 9u
/* A change of a project, made: name "create", "update", "add_step", "undo", "redo", "duplicate" or "remove", id the project's, of a
 * duplicate the copy's, text the project's new user data. */
#define LARDER_FAKE_PROJECT 10u

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
} larder_fake_entry;

/* How many entries of a kind there are, and the one with an index below that. */
size_t larder_fake_count(const larder_fake *fake, uint32_t kind);
const larder_fake_entry *LARDER_NULLABLE larder_fake_entry_at(const larder_fake *fake, uint32_t kind, size_t index);

/* Forgets all entries. */
void larder_fake_forget(larder_fake *fake);

/* The policies as they are now. */
size_t larder_fake_policy_count(const larder_fake *fake);
const larder_policy *LARDER_NULLABLE larder_fake_policy_at(const larder_fake *fake, size_t index);

/* A record as it was committed last; null: there is none. And those of a collection, in the order of their keys; null past the last. */
const larder_record *LARDER_NULLABLE larder_fake_record(const larder_fake *fake, const char *collection, const char *key);
const larder_record *LARDER_NULLABLE larder_fake_record_at(const larder_fake *fake, const char *collection, size_t index);

/* The value of a key; null if it has none. */
const larder_bytes *LARDER_NULLABLE larder_fake_value(const larder_fake *fake, const char *key);

LARDER_END

#endif
