/* A host that prints each call of each of its functions with all arguments, and makes each call into the plugins of a
 * library once. It carries nothing out and checks nothing.
 *
 *     tour-host LIBRARY [old | withheld]
 *
 * `old`: its structs and tables are as in ABI 1.0, with nothing behind. `withheld`: it has no services. */
#include <dlfcn.h>
#include <larder/larder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S LARDER_STR
#define OUT(...) (printf(__VA_ARGS__), fflush(stdout))

static int is_old, is_withheld;

static void text(larder_str s) {
    uint64_t i;
    OUT(s.ptr ? " \"" : " -");
    for (i = 0; s.ptr && i < s.len; i++) {
        if (s.ptr[i] == 0 || s.ptr[i] == '\n') OUT(s.ptr[i] ? "\\n" : "\\0");
        else OUT("%c", s.ptr[i]);
    }
    if (s.ptr) OUT("\"");
}
static void bytes(larder_bytes b) { text(larder_str_make((const char *)b.ptr, b.len)); }
static void number(int64_t n) { OUT(" %lld", (long long)n); }
/* They begin a line, and end it. */
static void begin(const char *function) { OUT("  %s", function); }
static larder_status done(void) {
    OUT("\n");
    return LARDER_OK;
}
static larder_bytes as_bytes(const char *chars) {
    larder_bytes made;
    made.ptr = (const uint8_t *)chars;
    made.len = strlen(chars);
    return made;
}

static larder_status log_write(const larder_host *h, uint32_t level, larder_str line) {
    (void)h;
    begin("larder_log.write"), number(level), text(line);
    return done();
}
static larder_status clock_now(const larder_host *h, int64_t *out) {
    (void)h;
    begin("larder_clock.now"), *out = 11;
    return done();
}
static larder_status clock_monotonic(const larder_host *h, int64_t *out) {
    (void)h;
    begin("larder_clock.monotonic"), *out = 12;
    return done();
}
static larder_status cancel_check(const larder_host *h) {
    (void)h;
    begin("larder_cancel.check");
    return done();
}
static larder_status cancel_deadline(const larder_host *h, int64_t *out) {
    (void)h;
    begin("larder_cancel.deadline"), *out = 13;
    return done();
}
static larder_status config_settings(const larder_host *h, larder_str *out) {
    (void)h;
    begin("larder_config.settings");
    *out = S("{\"whole\": -7, \"half\": 0.5, \"yes\": true, \"text\": \"a\\u00e9\\n\", \"list\": [\"one\", \"t,]wo\"], "
             "\"none\": [], \"nothing\": null, \"deep\": {\"whole\": [1]}, "
             "\"objects\": [{\"whole\": 1, \"list\": [\"}\"]} , {\"whole\": -2, \"text\": \"b\"}]}");
    return done();
}

/* Items. */
static larder_item an_item(void) {
    larder_item i;
    memset(&i, 0, sizeof i);
    i.struct_size = sizeof i;
    i.present = (UINT64_C(1) << 23) - 1;
    i.path = S("/a/b"), i.name = S("b"), i.mime_type = S("mime"), i.etag = S("etag"), i.file_id = S("file");
    i.local_id = S("local"), i.download_trigger = S("trigger"), i.parent_path = S("/a"), i.owner = S("owner");
    i.permissions = S("RW"), i.local_path = S("/home/b"), i.shares = S("[]"), i.size = 1, i.last_modified = 2;
    i.last_used = 3, i.type = 1, i.cloud_status = 2, i.removed = 1, i.favorite = 1, i.remote_version = 1;
    i.available_offline = 2, i.sync_activity = 0x41, i.claims = 4;
    return i;
}
static int left;
static larder_item current_item;
static larder_status items_next(larder_item_cursor *c, const larder_item **out) {
    (void)c;
    begin("larder_item_cursor.next"), *out = left-- > 0 ? &current_item : NULL;
    return done();
}
static larder_item_cursor item_cursor = {sizeof(larder_item_cursor), 0, NULL, items_next};
static larder_status items_open(const larder_host *h, const larder_query *q, larder_item_cursor **out) {
    (void)h;
    begin("larder_items.open"), text(q->condition), number((int64_t)q->fields), number(q->sort), number(q->flags);
    number((int64_t)q->limit), number(q->struct_size), number(q->reserved);
    left = 1, current_item = an_item(), *out = &item_cursor;
    return done();
}
static larder_status items_close(const larder_host *h, larder_item_cursor *c) {
    (void)h, (void)c;
    begin("larder_items.close");
    return done();
}

/* Actions. */
static larder_status action(const char *function, larder_str one, larder_str two, larder_str three, int64_t flags,
                            larder_str key) {
    begin(function), text(one), text(two), text(three), number(flags), text(key);
    done();
    return one.len == 6 && memcmp(one.ptr, "denied", 6) == 0 ? LARDER_DENIED : LARDER_OK;
}
static const larder_str none = {NULL, 0};
static larder_status download(const larder_host *h, larder_str id, uint32_t flags, larder_str key) {
    (void)h;
    return action("larder_actions.download", id, none, none, flags, key);
}
static larder_status remove_local_copy(const larder_host *h, larder_str id, uint32_t flags, larder_str key) {
    (void)h;
    return action("larder_actions.remove_local_copy", id, none, none, flags, key);
}
static larder_status purge(const larder_host *h, larder_str id, uint32_t flags, larder_str key) {
    (void)h;
    return action("larder_actions.purge", id, none, none, flags, key);
}
static larder_status look(const larder_host *h, larder_str path) {
    (void)h;
    return action("larder_actions.look", path, none, none, 0, none);
}
static larder_status create_folder(const larder_host *h, larder_str path, uint32_t flags, larder_str key) {
    (void)h;
    return action("larder_actions.create_folder", path, none, none, flags, key);
}
static larder_status move(const larder_host *h, larder_str id, larder_str target, uint32_t flags, larder_str key) {
    (void)h;
    return action("larder_actions.move", id, target, none, flags, key);
}
static larder_status copy(const larder_host *h, larder_str id, larder_str target, uint32_t flags, larder_str key) {
    (void)h;
    return action("larder_actions.copy", id, target, none, flags, key);
}
static larder_status remove_from_server(const larder_host *h, larder_str id, uint32_t flags, larder_str key) {
    (void)h;
    return action("larder_actions.remove_from_server", id, none, none, flags, key);
}
static larder_status set_favorite(const larder_host *h, larder_str id, uint32_t is, uint32_t flags, larder_str key) {
    (void)h;
    return action(is ? "larder_actions.set_favorite 1" : "larder_actions.set_favorite 0", id, none, none, flags, key);
}
static larder_status upload(const larder_host *h, larder_str project, larder_str file, larder_str path, uint32_t flags,
                            larder_str key) {
    (void)h;
    return action("larder_actions.upload", project, file, path, flags, key);
}

/* Policies. The list's stride is not the size of what its first policy has. */
static void a_policy(const larder_policy *p) {
    number(p->struct_size), number(p->revision), text(p->id), text(p->kind), text(p->identifier), text(p->description);
    text(p->condition), text(p->path), text(p->local_id), text(p->remove_when_none), bytes(p->data);
}
static char known[2][200];
static larder_policy_list two_policies(void) {
    larder_policy_list list = {sizeof list, sizeof known[0], known, 2};
    larder_policy p;
    memset(&p, 0, sizeof p);
    p.struct_size = offsetof(larder_policy, identifier);
    p.revision = 3, p.id = S("id"), p.kind = S("kind"), p.condition = S("beyond");
    memset(known, 'x', sizeof known);
    memcpy(known[0], &p, sizeof p);
    p.struct_size = sizeof known[1];
    p.identifier = S("identifier"), p.description = S("description"), p.condition = S("favorite"), p.path = S("/a");
    p.local_id = S("local"), p.remove_when_none = S("removed"), p.data = as_bytes("data");
    memcpy(known[1], &p, sizeof p);
    return list;
}
static larder_status policies_list(const larder_host *h, larder_policy_list *out) {
    (void)h;
    begin("larder_policies.list"), number(out->struct_size), *out = two_policies();
    return done();
}
static larder_status policies_add(const larder_host *h, const larder_policy *p, uint32_t flags) {
    (void)h;
    begin("larder_policies.add"), number(flags), a_policy(p);
    return done();
}
static larder_status policies_update(const larder_host *h, const larder_policy *p, uint32_t flags) {
    (void)h;
    begin("larder_policies.update"), number(flags), a_policy(p);
    return done();
}
static larder_status policies_remove(const larder_host *h, larder_str id, int64_t revision, uint32_t flags) {
    (void)h;
    begin("larder_policies.remove"), text(id), number(revision), number(flags);
    return done();
}

static larder_status usage_read(const larder_host *h, larder_usage_figures *out) {
    (void)h;
    begin("larder_usage.read"), number(out->struct_size);
    out->local_bytes = 1, out->local_copies = 2, out->free_bytes = 3, out->total_bytes = 4;
    return done();
}

/* Values. */
static larder_status kv_get(const larder_host *h, larder_bytes key, larder_bytes *out) {
    (void)h;
    begin("larder_kv.get"), bytes(key);
    done();
    if (key.len == 4) return LARDER_NOT_FOUND;
    *out = as_bytes("value");
    return LARDER_OK;
}
static larder_status kv_put(const larder_host *h, larder_bytes key, larder_bytes value) {
    (void)h;
    begin("larder_kv.put"), bytes(key), bytes(value);
    return done();
}
static larder_status kv_remove(const larder_host *h, larder_bytes key) {
    (void)h;
    begin("larder_kv.remove"), bytes(key);
    return done();
}

/* Records. */
static void a_record(const larder_record *r) {
    number(r->struct_size), text(r->key), text(r->version), text(r->value), bytes(r->content);
}
static void fill_record(larder_record *r) {
    r->struct_size = sizeof *r;
    r->key = S("key"), r->version = S("version"), r->value = S("{}"), r->content = as_bytes("content");
}
static larder_status records_get(const larder_host *h, larder_str collection, larder_str key, uint32_t parts,
                                 larder_record *out) {
    (void)h;
    begin("larder_records.get"), text(collection), text(key), number(parts), number(out->struct_size);
    done();
    if (key.len == 4) return LARDER_NOT_FOUND;
    fill_record(out);
    return LARDER_OK;
}
static larder_status records_next(larder_record_cursor *c, const larder_record **out) {
    static larder_record record;
    (void)c;
    begin("larder_record_cursor.next"), fill_record(&record), *out = left-- > 0 ? &record : NULL;
    return done();
}
static larder_record_cursor record_cursor = {sizeof(larder_record_cursor), 0, NULL, records_next};
static larder_status records_open(const larder_host *h, larder_str collection, larder_str after, uint32_t parts,
                                  larder_record_cursor **out) {
    (void)h;
    begin("larder_records.open"), text(collection), text(after), number(parts), left = 1, *out = &record_cursor;
    return done();
}
static larder_status records_close(const larder_host *h, larder_record_cursor *c) {
    (void)h, (void)c;
    begin("larder_records.close");
    return done();
}
static larder_status records_put(const larder_host *h, larder_str collection, const larder_record *r) {
    (void)h;
    begin("larder_records.put"), text(collection), a_record(r);
    return done();
}
static larder_status records_remove(const larder_host *h, larder_str collection, larder_str key) {
    (void)h;
    begin("larder_records.remove"), text(collection), text(key);
    return done();
}

/* Projects. */
static larder_str ids[] = {{"first", 5}, {"second", 6}};
static larder_status some_ids(larder_project_ids *out) {
    number(out->struct_size), out->ids = ids, out->count = 2;
    return done();
}
static larder_status projects_list(const larder_host *h, uint32_t order, larder_project_ids *out) {
    (void)h;
    begin("larder_projects.list"), number(order);
    return some_ids(out);
}
static larder_status projects_fetch(const larder_host *h, larder_str id, uint32_t parts, larder_project *out) {
    (void)h;
    begin("larder_projects.fetch"), text(id), number(parts), number(out->struct_size);
    out->can_undo = 1, out->created = 5, out->modified = 6, out->cursor = 1, out->step_count = 2, out->step_ids = ids;
    out->user_data = as_bytes("user"), out->assets = S("/assets");
    return done();
}
static larder_status projects_fetch_step(const larder_host *h, larder_str id, larder_str step, larder_project_step *out) {
    (void)h;
    begin("larder_projects.fetch_step"), text(id), text(step), number(out->struct_size);
    out->user_data = as_bytes("step"), out->assets = S("");
    return done();
}
static larder_status projects_usage(const larder_host *h, larder_project_usage *out) {
    (void)h;
    begin("larder_projects.usage"), number(out->struct_size), out->bytes = 7, out->quota = 8;
    return done();
}
static larder_status projects_create(const larder_host *h, larder_str *out) {
    (void)h;
    begin("larder_projects.create"), *out = S("made");
    return done();
}
static void a_new_step(const larder_project_new_step *s) {
    number(s->struct_size), bytes(s->user_data), text(s->assets_source);
}
static larder_status projects_update(const larder_host *h, larder_str id, const larder_project_update *u,
                                     larder_project_ids *out) {
    uint64_t i;
    (void)h;
    begin("larder_projects.update"), text(id), number(u->struct_size), number(u->cursor), bytes(u->user_data);
    number(u->if_modified);
    for (i = 0; i < u->delete_count; i++) text(u->delete_ids[i]);
    for (i = 0; i < u->add_count; i++)
        a_new_step((const larder_project_new_step *)(const void *)((const char *)u->add + i * u->add_stride));
    return some_ids(out);
}
static larder_status projects_add_step(const larder_host *h, larder_str id, const larder_project_new_step *s,
                                       larder_bytes user_data, larder_str *out) {
    (void)h;
    begin("larder_projects.add_step"), text(id), a_new_step(s), bytes(user_data), *out = S("added");
    return done();
}
static larder_status projects_undo(const larder_host *h, larder_str id) {
    (void)h;
    begin("larder_projects.undo"), text(id);
    return done();
}
static larder_status projects_redo(const larder_host *h, larder_str id) {
    (void)h;
    begin("larder_projects.redo"), text(id);
    return done();
}
static larder_status projects_duplicate(const larder_host *h, larder_str id, larder_str *out) {
    (void)h;
    begin("larder_projects.duplicate"), text(id), *out = S("copied");
    return done();
}
static larder_status projects_remove(const larder_host *h, larder_str id) {
    (void)h;
    begin("larder_projects.remove"), text(id);
    return done();
}

/* Requests to the server. */
static larder_status http_header(larder_http_answer *a, larder_str name, larder_str *out) {
    (void)a;
    begin("larder_http_answer.header"), text(name);
    done();
    if (name.len == 4) return LARDER_NOT_FOUND;
    *out = S("text/plain");
    return LARDER_OK;
}
static larder_status http_read(larder_http_answer *a, larder_bytes *out) {
    larder_bytes absent = {NULL, 0};
    (void)a;
    begin("larder_http_answer.read"), *out = left-- > 0 ? as_bytes("body") : absent;
    return done();
}
static larder_http_answer http_answer = {sizeof(larder_http_answer), 200, NULL, http_header, http_read};
static larder_status http_open(const larder_host *h, const larder_http_request *r, larder_http_answer **out) {
    uint64_t i;
    (void)h;
    begin("larder_http.open"), text(r->method), text(r->target), bytes(r->body), number(r->struct_size);
    for (i = 0; i < r->header_count; i++) {
        const char *at = (const char *)r->headers + i * r->header_stride;
        text(((const larder_http_header *)(const void *)at)->name);
        text(((const larder_http_header *)(const void *)at)->value);
    }
    left = 2, *out = &http_answer;
    return done();
}
static larder_status http_close(const larder_host *h, larder_http_answer *a) {
    (void)h, (void)a;
    begin("larder_http.close");
    return done();
}
static larder_str values[] = {{"etag", 4}, {NULL, 0}};
static larder_dav_response response = {sizeof response, 200, {"/cal/1.ics", 10}, values, 2, {NULL, 0}};
static larder_status dav_next(larder_dav_answer *a, const larder_dav_response **out) {
    begin("larder_dav_answer.next"), a->status = 207, *out = left-- > 0 ? &response : NULL;
    return done();
}
static larder_status dav_end(larder_dav_answer *a, larder_dav_end *out) {
    (void)a;
    begin("larder_dav_answer.end"), number(out->struct_size), out->truncated = 1, out->sync_token = S("token");
    return done();
}
static larder_dav_answer dav_answer = {sizeof(larder_dav_answer), 0, NULL, dav_next, dav_end};
static larder_status dav_open(const larder_host *h, const larder_dav_request *r, larder_dav_answer **out) {
    uint64_t i;
    (void)h;
    begin("larder_dav.open"), text(r->method), text(r->target), text(r->body), number(r->depth), number(r->flags);
    number(r->struct_size);
    for (i = 0; i < r->property_count; i++) text(r->properties[i]);
    left = 1, dav_answer.status = 0, *out = &dav_answer;
    return done();
}
static larder_status dav_close(const larder_host *h, larder_dav_answer *a) {
    (void)h, (void)a;
    begin("larder_dav.close");
    return done();
}
static larder_status discover_find(const larder_host *h, larder_str service, larder_discovery *out) {
    (void)h;
    begin("larder_discover.find"), text(service), number(out->struct_size);
    out->principal = S("/ada/"), out->homes = ids, out->home_count = 2;
    return done();
}

static const larder_log log_table = {sizeof log_table, 0, log_write};
static const larder_clock clock_table = {sizeof clock_table, 0, clock_now, clock_monotonic};
static const larder_cancel cancel_table = {sizeof cancel_table, 0, cancel_check, cancel_deadline};
static const larder_config config_table = {sizeof config_table, 0, config_settings};
static const larder_items items_table = {sizeof items_table, 0, items_open, items_close};
static const larder_actions actions_table = {
    sizeof actions_table, 0, download, remove_local_copy, purge, look, create_folder, move, copy, remove_from_server,
    set_favorite, upload};
static const larder_policies policies_table = {
    sizeof policies_table, 0, policies_list, policies_add, policies_update, policies_remove};
static const larder_usage usage_table = {sizeof usage_table, 0, usage_read};
static const larder_kv kv_table = {sizeof kv_table, 0, kv_get, kv_put, kv_remove};
static const larder_records records_table = {
    sizeof records_table, 0, records_get, records_open, records_close, records_put, records_remove};
static const larder_projects projects_table = {
    sizeof projects_table, 0, projects_list, projects_fetch, projects_fetch_step, projects_usage, projects_create,
    projects_update, projects_add_step, projects_undo, projects_redo, projects_duplicate, projects_remove};
static const larder_http http_table = {sizeof http_table, 0, http_open, http_close};
static const larder_dav dav_table = {sizeof dav_table, 0, dav_open, dav_close};
static const larder_discover discover_table = {sizeof discover_table, 0, discover_find};

static const void *extension(const larder_host *h, larder_str name) {
    static const struct {
        const char *name;
        const void *table;
    } tables[] = {
        {LARDER_EXT_LOG, &log_table}, {LARDER_EXT_CLOCK, &clock_table}, {LARDER_EXT_CANCEL, &cancel_table},
        {LARDER_EXT_CONFIG, &config_table}, {LARDER_EXT_ITEMS, &items_table}, {LARDER_EXT_ACTIONS, &actions_table},
        {LARDER_EXT_POLICIES, &policies_table}, {LARDER_EXT_USAGE, &usage_table}, {LARDER_EXT_KV, &kv_table},
        {LARDER_EXT_RECORDS, &records_table}, {LARDER_EXT_PROJECTS, &projects_table}, {LARDER_EXT_HTTP, &http_table},
        {LARDER_EXT_DAV, &dav_table}, {LARDER_EXT_DISCOVER, &discover_table}};
    size_t i;
    (void)h;
    if (!is_withheld) begin("larder_host.extension"), text(name), done();
    for (i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (strlen(tables[i].name) != name.len || memcmp(tables[i].name, name.ptr, name.len) || is_withheld) continue;
        if (is_old && tables[i].table == &actions_table) {
            /* Of just the size of 1.0, so that a sanitizer sees what is read behind it. */
            static larder_actions *first;
            if (!first) first = (larder_actions *)malloc(offsetof(larder_actions, create_folder));
            memcpy(first, &actions_table, offsetof(larder_actions, create_folder));
            first->struct_size = offsetof(larder_actions, create_folder);
            return first;
        }
        return tables[i].table;
    }
    return NULL;
}
static void fail(const larder_host *h, larder_status status, larder_str message) {
    (void)h;
    begin("larder_host.fail"), number(status), text(message), done();
}
static larder_host host = {sizeof host, LARDER_ABI_MINOR, NULL, extension, fail};

/* --- The calls. --- */

static void called(const char *function, larder_status status) { OUT("%s: %d\n", function, (int)status); }
static void lent(const char *function, larder_status status, larder_str out) {
    OUT("%s: %d", function, (int)status), text(out), done();
}

static void call_processor(const larder_item_policy_processor *p, const larder_explain *e, void *me) {
    larder_item item = an_item();
    larder_str out = {NULL, 0};
    larder_policy_list list = two_policies();
#define P "larder_item_policy_processor."
    OUT("processor: %u", p->struct_size), text(p->kind), number((int64_t)p->fields), number((int64_t)p->max_records), done();
    OUT(P "triggers: %u\n", p->triggers(me));
    called(P "update_policies", p->update_policies(me, &list));
    left = 1, current_item = item;
    called(P "preflight", p->preflight(me, LARDER_TRIGGER_ITEMS_CHANGED, &item_cursor));
    called(P "preflight", p->preflight(me, LARDER_TRIGGER_TIMER, NULL));
    called(P "will_enter_trigger", p->will_enter_trigger(me, LARDER_TRIGGER_TIMER));
    lent(P "policy_condition", p->policy_condition(me, &out), out), out = none;
    lent(P "match_condition", p->match_condition(me, &out), out), out = none;
    called(P "begin_matching", p->begin_matching(me, 3));
    called(P "perform_action", p->perform_action(me, 3, &item));
    item.present = 0;
    called(P "perform_action", p->perform_action(me, 3, &item));
    called(P "end_matching", p->end_matching(me, 3));
    lent(P "cleanup_condition", p->cleanup_condition(me, &out), out), out = none;
    called(P "begin_cleanup", p->begin_cleanup(me, 3));
    called(P "perform_cleanup", p->perform_cleanup(me, 3, &item));
    called(P "end_cleanup", p->end_cleanup(me, 3));
    called(P "did_pass_trigger", p->did_pass_trigger(me, 3));
    item = an_item();
    if (e) lent("larder_explain.explain", e->explain(me, &item, &out), out);
}

static void a_page(const char *function, larder_status status, const larder_event_page *p) {
    OUT("%s: %d", function, (int)status), text(p->event_id), number(p->refresh), number(p->more);
    number(p->content != NULL), done();
}

static void call_loop(const larder_event_loop *l, void *me) {
    larder_loop loop = {sizeof loop, 0, {"/ada/", 5}, {"41", 2}};
    larder_loop_error error = {sizeof error, LARDER_LOOP_OUTDATED, LARDER_IO, 0, {"old", 3}};
    larder_event_page page;
#define L "larder_event_loop."
    OUT("loop: %u", l->struct_size), text(l->kind), text(l->collection), number(l->refresh_bits), number(l->hints), done();
    memset(&page, 0, sizeof page), page.struct_size = sizeof page;
    a_page(L "poll", l->poll(me, &loop, &page), &page);
    called(L "process", l->process(me, &loop, &page));
    l->release_page(me, &page), OUT(L "release_page\n");
    memset(&page, 0, sizeof page), page.struct_size = sizeof page, loop.event_id = none;
    a_page(L "refresh", l->refresh(me, &loop, LARDER_REFRESH_EVERYTHING, &page), &page);
    l->release_page(me, &page), OUT(L "release_page\n");
    memset(&page, 0, sizeof page), page.struct_size = sizeof page, loop.id = S("broken");
    a_page(L "poll", l->poll(me, &loop, &page), &page);
    l->on_error(me, &loop, &error), OUT(L "on_error\n");
}

static const void *ask(const larder_instance *i, const char *name) {
    return i->extension(i->context, larder_str_make(name, strlen(name)));
}

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const larder_module *module = NULL;
    const larder_descriptor *d;
    const larder_instance *instance;
    larder_plugin_entry entry = NULL;
    uint32_t index;
    if (library) *(void **)&entry = dlsym(library, LARDER_ENTRY);
    if (!entry) return fprintf(stderr, "no plugin: %s\n", argc > 1 ? dlerror() : "no library"), 1;
    is_old = argc > 2 && !strcmp(argv[2], "old");
    is_withheld = argc > 2 && !strcmp(argv[2], "withheld");
    if (is_old) host.abi_minor = 0;
    called("larder_plugin_entry_v1", entry(host.abi_minor, &module));
    OUT("module: %u %u\n", module->struct_size, module->abi_minor);
    instance = NULL;
    called("larder_module.create", module->create(S("org.example.nobody"), &host, &instance));
    for (index = 0; (d = module->describe(index)); index++) {
        OUT("larder_module.describe: %u", d->struct_size), text(d->id), text(d->name), text(d->version), text(d->vendor);
        text(d->summary), text(d->required), text(d->wanted), done();
        called("larder_module.create", module->create(d->id, &host, &instance));
        int round;
        for (round = 0; round < 2; round++) {
            void *me = instance->context;
            const larder_item_policy_processor *p =
                (const larder_item_policy_processor *)ask(instance, LARDER_EXT_ITEM_POLICY_PROCESSOR);
            const larder_event_loop *l = (const larder_event_loop *)ask(instance, LARDER_EXT_EVENT_LOOP);
            const larder_explain *e = (const larder_explain *)ask(instance, LARDER_EXT_EXPLAIN);
            const larder_config_schema *s = (const larder_config_schema *)ask(instance, LARDER_EXT_CONFIG_SCHEMA);
            larder_str out = {NULL, 0};
            OUT("larder_instance.extension: %d %d %d %d %d\n", p != NULL, l != NULL, e != NULL, s != NULL,
                ask(instance, "larder.other/1") != NULL);
            if (s) lent("larder_config_schema.schema", s->schema(me, &out), out);
            called("larder_instance.start", instance->start(me));
            if (p && round == 0) call_processor(p, e, me);
            if (l && round == 0) call_loop(l, me);
            instance->stop(me), OUT("larder_instance.stop\n");
            if (p) called("stopped", p->did_pass_trigger(me, 3));
        }
        instance->destroy(instance->context), OUT("larder_instance.destroy\n");
    }
    return 0;
}
