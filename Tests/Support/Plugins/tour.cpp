/* Two plugins that call each function of larder.hpp once, for tour-host.c, and say in the log what they got. tour.rs does
 * the same in Rust, line by line. */
#include <larder.hpp>

#if LARDER_HPP_EXCEPTIONS
#include <stdexcept>
#endif

using larder::text;

static std::string of(text value) { return value.present() ? "'" + value.str() + "'" : std::string("-"); }
static std::string of(larder::bytes value) { return value.present() ? "'" + value.str() + "'" : std::string("-"); }
static std::string of(int64_t value) { return " " + std::to_string(value); }

static const char services[] = LARDER_EXT_LOG " " LARDER_EXT_CLOCK " " LARDER_EXT_CANCEL " " LARDER_EXT_CONFIG;

class tour : public larder::processor {
public:
    static larder::description description() {
        return larder::description("org.example.tour", "Tour", "1.2.3", LARDER_EXT_ACTIONS " " LARDER_EXT_ITEMS, services,
                                   "Example Ltd", "Calls everything");
    }
    static const char *kind() { return "tour"; }
    static uint64_t fields() { return larder::mask(LARDER_FIELD_PATH, LARDER_FIELD_SIZE, LARDER_FIELD_CLAIMS); }
    static uint64_t max_records() { return 5; }
    static const char *schema() { return "{\"properties\": {}}"; }

    explicit tour(larder::host &owner)
        : host(owner), log(owner), clock(owner), cancel(owner), config(owner), items(owner), actions(owner),
          policies(owner), usage(owner), kv(owner), records(owner), projects(owner) {}

    larder_status start() override {
        say("start");
        say("minor" + of(host.abi_minor()) + (actions.changes_server() ? " changes" : ""));
        return LARDER_OK;
    }

    uint32_t triggers() override {
        say("triggers");
        return LARDER_TRIGGER_BIT(LARDER_TRIGGER_TIMER) | LARDER_TRIGGER_BIT(LARDER_TRIGGER_RECORDS_CHANGED);
    }
    larder_status policy_condition(std::string &) override {
        say("policy_condition");
        return LARDER_OK;
    }
    larder_status match_condition(std::string &out) override {
        say("match_condition");
        const std::vector<std::string> names = {"b", "c\n"};
        out = "path == " + larder::quote("a\"b\\") + " && name in " + larder::quote(names);
        return LARDER_OK;
    }
    larder_status cleanup_condition(std::string &out) override {
        say("cleanup_condition");
        out = "removed";
        return LARDER_OK;
    }
    larder_status update_policies(const larder::policy_list &list) override {
        say("update_policies" + of(static_cast<int64_t>(list.size())));
        for (larder_policy policy : list) show(policy);
        return LARDER_OK;
    }
    larder_status preflight(uint32_t trigger, larder::item_cursor &changed) override {
        say("preflight" + of(trigger));
        while (const larder::item *item = changed.next()) say(of(item->path()));
        return changed.status();
    }
    larder_status will_enter_trigger(uint32_t trigger) override {
        say("will_enter_trigger" + of(trigger));
        time();
        settings();
        store();
        read_records();
        steps();
        return LARDER_OK;
    }
    larder_status begin_matching(uint32_t) override {
        say("begin_matching");
        larder_query query = larder::make<larder_query>();
        query.condition = text("favorite");
        query.fields = larder::mask(LARDER_FIELD_NAME);
        query.sort = LARDER_SORT_BY(LARDER_FIELD_SIZE);
        query.flags = LARDER_QUERY_DESCENDING;
        query.limit = 3;
        larder::item_cursor cursor = items.open(query);
        while (const larder::item *item = cursor.next()) say(of(item->name()));
        met("items", cursor.status());
        cursor = items.matching("removed", 0);
        cursor.close();
        return LARDER_OK;
    }
    larder_status perform_action(uint32_t trigger, const larder::item &i) override {
        say("perform_action" + of(trigger));
        say(of(i.path()) + of(i.name()) + of(i.mime_type()) + of(i.etag()) + of(i.file_id()) + of(i.local_id())
            + of(i.download_trigger()) + of(i.parent_path()) + of(i.owner()) + of(i.permissions()) + of(i.local_path())
            + of(i.shares()) + of(i.size()) + of(i.last_modified()) + of(i.last_used()) + of(i.type())
            + of(i.cloud_status()) + of(i.removed()) + of(i.favorite()) + of(i.remote_version())
            + of(i.available_offline()) + of(i.sync_activity()) + of(i.claims()));
        if (!i.has(LARDER_FIELD_LOCAL_ID)) return host.fail(LARDER_NOT_FOUND, "it has no id");
        met("download", actions.download(i.local_id()));
        met("download", actions.download(i.local_id(), LARDER_DOWNLOAD_WHILE_COVERED, "key"));
        met("remove_local_copy", actions.remove_local_copy(i.local_id(), LARDER_REMOVE_IF_UNUSED, ""));
        met("purge", actions.purge(i.local_id()));
        met("create_folder", actions.create_folder("/new", "key"));
        met("move", actions.move(i.local_id(), "/new/b", "key"));
        met("copy", actions.copy(i.local_id(), "/new/c", "key"));
        met("remove_from_server", actions.remove_from_server(i.local_id(), "key"));
        met("set_favorite", actions.set_favorite(i.local_id(), true, "key"));
        met("set_favorite", actions.set_favorite(i.local_id(), false, "key"));
        met("upload", actions.upload("project", "out/a", "/a", LARDER_UPLOAD_REPLACE, "key"));
        return LARDER_OK;
    }
    larder_status end_matching(uint32_t) override {
        say("end_matching");
        larder::result<larder::policy_list> list = policies.list();
        met("list", list.status());
        if (list)
            for (larder_policy policy : *list) show(policy);
        larder_policy policy = larder::make<larder_policy>();
        policy.condition = text("favorite");
        policy.identifier = text("mine");
        policy.data = larder::bytes("data");
        met("add", policies.add(policy, LARDER_POLICY_QUIET));
        policy.id = text("id");
        policy.revision = 4;
        met("update", policies.update(policy));
        met("remove", policies.remove("id", 4));
        return LARDER_OK;
    }
    larder_status begin_cleanup(uint32_t) override {
        say("begin_cleanup");
        return actions.download("denied");
    }
    larder_status perform_cleanup(uint32_t, const larder::item &) override {
        say("perform_cleanup");
#if LARDER_HPP_EXCEPTIONS
        larder::check(actions.download("denied"));
        return LARDER_OK;
#else
        return actions.download("denied");
#endif
    }
    larder_status end_cleanup(uint32_t) override {
        say("end_cleanup");
#if LARDER_HPP_EXCEPTIONS
        throw std::runtime_error("thrown");
#else
        return host.fail(LARDER_FAILED, "thrown");
#endif
    }
    larder_status did_pass_trigger(uint32_t) override {
        say("did_pass_trigger");
#if LARDER_HPP_EXCEPTIONS
        throw larder::error(LARDER_LIMIT, "too many");
#else
        return host.fail(LARDER_LIMIT, "too many");
#endif
    }
    larder_status explain(const larder::item &item, std::string &out) override {
        say("explain");
        out = "it is " + item.name().str();
        return LARDER_OK;
    }

private:
    void say(const std::string &line) { log.info(line); }
    void met(const char *function, larder_status status) {
        if (status != LARDER_OK) say(function + of(status));
    }
    void show(const larder_policy &p) {
        say(of(p.revision) + of(text(p.id)) + of(text(p.kind)) + of(text(p.identifier)) + of(text(p.description))
            + of(text(p.condition)) + of(text(p.path)) + of(text(p.local_id)) + of(text(p.remove_when_none))
            + of(larder::bytes(p.data)));
    }

    void time() {
        larder::result<int64_t> now = clock.now(), monotonic = clock.monotonic(), deadline = cancel.deadline();
        say("time" + of(now.value_or(0)) + of(monotonic.value_or(0)) + of(deadline.value_or(0)));
        met("check", cancel.check());
        larder::result<larder_usage_figures> room = usage.read();
        if (room) say(of(room->local_bytes) + of(room->local_copies) + of(room->free_bytes) + of(room->total_bytes));
        met("read", room.status());
        log.debug("debug");
        log.warning("warning");
        log.error("error");
    }
    void settings() {
        larder::result<text> all = config.settings();
        met("settings", all.status());
        if (all) say("of" + of(static_cast<int64_t>(all->size())));
        say("whole" + of(config.integer("whole").value_or(0)) + " half"
            + of(static_cast<int64_t>(config.number("half").value_or(0) * 10)) + " yes"
            + of(config.flag("yes").value_or(false)) + " text " + config.text("text").value_or(""));
        std::string list;
        for (const std::string &one : config.list("list").value_or({})) list += of(text(one));
        say(list);
        say(config.json("deep").value_or("").str());
        met("none", config.list("none").status());
        met("nothing", config.integer("nothing").status());
        met("absent", config.text("absent").status());
        met("text as integer", config.integer("text").status());
        met("text as number", config.number("text").status());
        met("text as list", config.list("text").status());
        met("deep as text", config.text("deep").status());
        met("deep as flag", config.flag("deep").status());
        for (const larder::settings &one : config.objects("objects").value_or({}))
            say("whole" + of(one.integer("whole").value_or(0)) + " text " + one.text("text").value_or("")
                + of(static_cast<int64_t>(one.list("list").value_or({}).size())));
        met("no objects", config.objects("none").status());
        met("texts as objects", config.objects("list").status());
        met("objects as texts", config.list("objects").status());
    }
    void store() {
        larder::result<larder::bytes> none = kv.get("none"), found = kv.get("found");
        met("none", none.status());
        met("found", found.status());
        if (found) say(of(*found));
        met("put", kv.put("key", larder::bytes("a\0b", 3)));
        met("put", kv.put("key", std::string()));
        met("remove", kv.remove("key"));
    }
    void show(const larder_record &r) { say(of(text(r.key)) + of(text(r.version)) + of(text(r.value)) + of(larder::bytes(r.content))); }
    void read_records() {
        larder::result<larder_record> found = records.get("calendars", "/ada/", LARDER_RECORD_VALUE | LARDER_RECORD_CONTENT);
        met("get", found.status());
        if (found) show(*found);
        met("none", records.get("calendars", "none", 0).status());
        larder::record_cursor cursor = records.open("calendars", LARDER_RECORD_VERSION, "/a");
        while (const larder_record *record = cursor.next()) show(*record);
        met("records", cursor.status());
    }
    void steps() {
        larder::result<larder::texts> list = projects.list(LARDER_PROJECTS_OLDEST_FIRST);
        met("list", list.status());
        for (text id : list.value_or(larder::texts())) say(of(id));
        larder::result<larder_project> project = projects.fetch("first", LARDER_PROJECT_STEPS | LARDER_PROJECT_USER_DATA);
        met("fetch", project.status());
        if (project) {
            std::string ids;
            for (text id : larder::texts(project->step_ids, project->step_count)) ids += of(id);
            say(of(project->can_undo) + of(project->can_redo) + of(project->created) + of(project->modified)
                + of(static_cast<int64_t>(project->cursor)) + ids + of(larder::bytes(project->user_data))
                + of(text(project->assets)));
        }
        larder::result<larder_project_step> step = projects.fetch_step("first", "second");
        if (step) say(of(larder::bytes(step->user_data)) + of(text(step->assets)));
        larder::result<larder_project_usage> room = projects.usage();
        if (room) say(of(static_cast<int64_t>(room->bytes)) + of(static_cast<int64_t>(room->quota)));
        say(of(projects.create().value_or("")));
        larder_project_update update = larder::make<larder_project_update>();
        larder_project_new_step added[] = {larder::make<larder_project_new_step>(), larder::make<larder_project_new_step>()};
        added[0].user_data = larder::bytes("step");
        added[1].assets_source = text("/source");
        const larder_str deleted[] = {text("second")};
        update.add = added;
        update.add_count = 2;
        update.delete_ids = deleted;
        update.delete_count = 1;
        update.if_modified = 6;
        std::string ids;
        for (text id : projects.update("first", update).value_or(larder::texts())) ids += of(id);
        say(ids);
        say(of(projects.add_step("first", added[0]).value_or("")));
        say(of(projects.add_step("first", added[1], "user").value_or("")));
        met("undo", projects.undo("first"));
        met("redo", projects.redo("first"));
        say(of(projects.duplicate("first").value_or("")));
        met("remove", projects.remove("first"));
    }

    larder::host &host;
    larder::log log;
    larder::clock clock;
    larder::cancel cancel;
    larder::config config;
    larder::items items;
    larder::actions actions;
    larder::policies policies;
    larder::usage usage;
    larder::kv kv;
    larder::records records;
    larder::projects projects;
};

class tour_loop : public larder::event_loop<std::vector<std::string>> {
public:
    typedef larder::page<std::vector<std::string>> news;

    static larder::description description() {
        return larder::description("org.example.tour.loop", "Loop", "1.0.0");
    }
    static const char *kind() { return "tourloop"; }
    static const char *collection() { return "calendars"; }
    static uint32_t refresh_bits() { return 0x3; }
    static uint32_t hints() { return LARDER_HINT_SHARES; }

    explicit tour_loop(larder::host &owner)
        : log(owner), http(owner), dav(owner), discover(owner), records(owner), actions(owner) {}

    larder_status poll(const larder_loop &loop, news &out) override {
        log.info("poll " + of(text(loop.id)) + of(text(loop.event_id)));
        if (text(loop.id) == "broken") return LARDER_UNSUPPORTED;
        ask();
        out.event_id = "42";
        out.content = {"one", "two"};
        out.refresh = 2;
        out.more = true;
        return LARDER_OK;
    }
    larder_status process(const larder_loop &loop, const news &page) override {
        log.info("process " + of(text(loop.id)) + of(text(page.event_id)) + of(static_cast<int64_t>(page.content.size())));
        met("put", records.put("calendars", "key", "version", "{}", "content"));
        met("put", records.put("calendars", "key", "", ""));
        met("remove", records.remove("calendars", "key"));
        met("look", actions.look("/a"));
        return LARDER_OK;
    }
    larder_status refresh(const larder_loop &loop, uint32_t what, news &out) override {
        log.info("refresh " + of(text(loop.id)) + of(text(loop.event_id)) + of(what));
        out.event_id = "anchor";
        return LARDER_OK;
    }
    void on_error(const larder_loop &loop, const larder_loop_error &error) override {
        log.info("on_error " + of(text(loop.id)) + of(error.code) + of(error.status) + of(text(error.message)));
    }

private:
    void met(const char *function, larder_status status) {
        if (status != LARDER_OK) log.info(function + of(status));
    }
    void ask() {
        larder::http::headers headers = {{text("Accept"), text("text/plain")}};
        larder::http_answer answer = http.open("PUT", "/a", headers, "body");
        met("open", answer.status());
        if (answer) {
            met("header", answer.header("none").status());
            log.info("code" + of(answer.code()) + of(answer.header("Content-Type").value_or("")));
            log.info(of(text(answer.body(100).value_or(""))));
        }
        answer.close();
        answer = http.open("GET", "/b");
        met("body", answer ? answer.body(3).status() : answer.status());
        answer.close();
        larder::dav_answer found = dav.open("REPORT", "/cal/", 1, {"{DAV:}getetag", "{DAV:}none"}, "<a/>", LARDER_DAV_AHEAD);
        met("open", found.status());
        log.info("code" + of(found.code()));
        while (const larder_dav_response *response = found.next())
            log.info(of(text(response->href)) + of(response->status) + of(found.value(*response, 0))
                     + of(found.value(*response, 1)) + of(found.value(*response, 2)) + of(text(response->error)));
        larder::result<larder_dav_end> end = found.end();
        if (end) log.info("end" + of(end->truncated) + of(text(end->sync_token)) + of(text(end->error)));
        met("end", end.status());
        larder::result<larder_discovery> home = discover.find("caldav");
        met("find", home.status());
        if (home) log.info(of(text(home->principal)) + of(larder::texts(home->homes, home->home_count)[1]));
    }

    larder::log log;
    larder::http http;
    larder::dav dav;
    larder::discover discover;
    larder::records records;
    larder::actions actions;
};

LARDER_PLUGINS(tour, tour_loop)
