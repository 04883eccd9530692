//! Two plugins that call each function of the crate once, for tour-host.c, and say in the log what they got. tour.cpp does
//! the same in C++, line by line.
use larder::{abi::*, *};

trait Shown {
    fn of(&self) -> String;
}

impl Shown for Option<&str> {
    fn of(&self) -> String {
        self.map_or("-".into(), |text| format!("'{}'", text))
    }
}

impl Shown for &str {
    fn of(&self) -> String {
        Some(*self).of()
    }
}

impl Shown for Option<&[u8]> {
    fn of(&self) -> String {
        self.map(|bytes| std::str::from_utf8(bytes).unwrap()).of()
    }
}

macro_rules! numbers {
    ($($type:ty)+) => {
        $(impl Shown for $type {
            fn of(&self) -> String {
                format!(" {}", *self as i64)
            }
        }
        impl Shown for Option<$type> {
            fn of(&self) -> String {
                self.unwrap_or_default().of()
            }
        })+
    };
}

numbers! { i32 u32 i64 u64 usize bool }

macro_rules! line {
    ($($value:expr),+) => { [$($value.of()),+].concat() };
}

fn say(host: &Host, line: impl AsRef<str>) {
    host.log().info(line.as_ref());
}

/// Says with which status a function failed.
fn met<Value>(host: &Host, function: &str, result: Result<Value>) -> Option<Value> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            say(host, format!("{} {}", function, error.status()));
            None
        }
    }
}

struct Tour;

impl Processor for Tour {
    const DESCRIPTION: Description = Description {
        wanted: &[LARDER_EXT_LOG, LARDER_EXT_CLOCK, LARDER_EXT_CANCEL, LARDER_EXT_CONFIG],
        vendor: Some("Example Ltd"),
        summary: Some("Calls everything"),
        ..Description::new("org.example.tour", "Tour", "1.2.3", &[LARDER_EXT_ACTIONS, LARDER_EXT_ITEMS])
    };
    const KIND: &'static str = "tour";
    const FIELDS: u64 = mask(&[LARDER_FIELD_PATH, LARDER_FIELD_SIZE, LARDER_FIELD_CLAIMS]);
    const MAX_RECORDS: u64 = 5;
    const SCHEMA: Option<&'static str> = Some(r#"{"properties": {}}"#);

    fn start(host: &Host) -> Result<Self> {
        // The host is asked for a service when it is first used.
        let _ = (host.log(), host.clock(), host.cancel(), host.config(), host.items(), host.actions(), host.policies());
        let _ = (host.usage(), host.kv(), host.records(), host.projects());
        say(host, "start");
        let changes = if host.actions().changes_server() { " changes" } else { "" };
        say(host, format!("minor {}{}", host.abi_minor(), changes));
        Ok(Tour)
    }

    fn triggers(&mut self, host: &Host) -> u32 {
        say(host, "triggers");
        mask(&[LARDER_TRIGGER_TIMER, LARDER_TRIGGER_RECORDS_CHANGED]) as u32
    }

    fn policy_condition(&mut self, host: &Host) -> Result<Option<String>> {
        say(host, "policy_condition");
        Ok(None)
    }

    fn match_condition(&mut self, host: &Host) -> Result<Option<String>> {
        say(host, "match_condition");
        Ok(Some(format!("path == {} && name in {}", quote("a\"b\\"), quote_list(&["b", "c\n"]))))
    }

    fn cleanup_condition(&mut self, host: &Host) -> Result<Option<String>> {
        say(host, "cleanup_condition");
        Ok(Some("removed".into()))
    }

    fn update_policies(&mut self, host: &Host, policies: PolicyList) -> Result<()> {
        say(host, format!("update_policies {}", policies.len()));
        for policy in policies {
            show_policy(host, &policy);
        }
        Ok(())
    }

    fn preflight(&mut self, host: &Host, trigger: u32, changed: &mut ItemCursor) -> Result<()> {
        say(host, format!("preflight {}", trigger));
        while let Some(item) = changed.next()? {
            say(host, item.path().of());
        }
        Ok(())
    }

    fn will_enter_trigger(&mut self, host: &Host, trigger: u32) -> Result<()> {
        say(host, format!("will_enter_trigger {}", trigger));
        time(host);
        settings(host);
        store(host);
        read_records(host);
        steps(host);
        Ok(())
    }

    fn begin_matching(&mut self, host: &Host, _trigger: u32) -> Result<()> {
        say(host, "begin_matching");
        let query = Query {
            condition: "favorite",
            fields: mask(&[LARDER_FIELD_NAME]),
            sort: sort_by(LARDER_FIELD_SIZE),
            flags: LARDER_QUERY_DESCENDING,
            limit: 3,
        };
        let mut cursor = met(host, "items", host.items().open(&query));
        if let Some(cursor) = &mut cursor {
            while let Some(item) = cursor.next()? {
                say(host, item.name().of());
            }
        }
        let _ = host.items().open(&Query { condition: "removed", ..Query::default() });
        Ok(())
    }

    fn perform_action(&mut self, host: &Host, trigger: u32, i: &Item) -> Result<()> {
        say(host, format!("perform_action {}", trigger));
        let texts = line!(
            i.path(),
            i.name(),
            i.mime_type(),
            i.etag(),
            i.file_id(),
            i.local_id(),
            i.download_trigger(),
            i.parent_path(),
            i.owner(),
            i.permissions(),
            i.local_path(),
            i.shares()
        );
        let numbers = line!(
            i.size(),
            i.last_modified(),
            i.last_used(),
            i.item_type(),
            i.cloud_status(),
            i.removed(),
            i.favorite(),
            i.remote_version(),
            i.available_offline(),
            i.sync_activity(),
            i.claims()
        );
        say(host, texts + &numbers);
        let id = i.local_id().ok_or_else(|| Error::new(LARDER_NOT_FOUND, "it has no id"))?;
        let actions = host.actions();
        met(host, "download", actions.download(id, 0, None));
        met(host, "download", actions.download(id, LARDER_DOWNLOAD_WHILE_COVERED, Some("key")));
        met(host, "remove_local_copy", actions.remove_local_copy(id, LARDER_REMOVE_IF_UNUSED, Some("")));
        met(host, "purge", actions.purge(id, None));
        met(host, "create_folder", actions.create_folder("/new", "key"));
        met(host, "move", actions.r#move(id, "/new/b", "key"));
        met(host, "copy", actions.copy(id, "/new/c", "key"));
        met(host, "remove_from_server", actions.remove_from_server(id, "key"));
        met(host, "set_favorite", actions.set_favorite(id, true, "key"));
        met(host, "set_favorite", actions.set_favorite(id, false, "key"));
        met(host, "upload", actions.upload("project", "out/a", "/a", LARDER_UPLOAD_REPLACE, "key"));
        Ok(())
    }

    fn end_matching(&mut self, host: &Host, _trigger: u32) -> Result<()> {
        say(host, "end_matching");
        let policies = host.policies();
        for policy in met(host, "list", policies.list()).into_iter().flatten() {
            show_policy(host, &policy);
        }
        let mut policy =
            Policy { condition: Some("favorite"), identifier: Some("mine"), data: Some(b"data"), ..Policy::default() };
        met(host, "add", policies.add(&policy, LARDER_POLICY_QUIET));
        policy.id = Some("id");
        policy.revision = 4;
        met(host, "update", policies.update(&policy, 0));
        met(host, "remove", policies.remove("id", 4, 0));
        Ok(())
    }

    fn begin_cleanup(&mut self, host: &Host, _trigger: u32) -> Result<()> {
        say(host, "begin_cleanup");
        host.actions().download("denied", 0, None)
    }

    fn perform_cleanup(&mut self, host: &Host, _trigger: u32, _item: &Item) -> Result<()> {
        say(host, "perform_cleanup");
        host.actions().download("denied", 0, None)?;
        unreachable!()
    }

    fn end_cleanup(&mut self, host: &Host, _trigger: u32) -> Result<()> {
        say(host, "end_cleanup");
        panic!("{}", "thrown")
    }

    fn did_pass_trigger(&mut self, host: &Host, _trigger: u32) -> Result<()> {
        say(host, "did_pass_trigger");
        Err(Error::new(LARDER_LIMIT, "too many"))
    }

    fn explain(&mut self, host: &Host, item: &Item) -> Result<Option<String>> {
        say(host, "explain");
        Ok(item.name().map(|name| format!("it is {}", name)))
    }
}

fn show_policy(host: &Host, p: &Policy) {
    say(
        host,
        line!(
            p.revision,
            p.id,
            p.kind,
            p.identifier,
            p.description,
            p.condition,
            p.path,
            p.local_id,
            p.remove_when_none,
            p.data
        ),
    );
}

fn time(host: &Host) {
    let (clock, cancel) = (host.clock(), host.cancel());
    let (now, monotonic, deadline) = (clock.now().ok(), clock.monotonic().ok(), cancel.deadline().ok());
    say(host, format!("time{}", line!(now, monotonic, deadline)));
    met(host, "check", cancel.check());
    if let Some(room) = met(host, "read", host.usage().read()) {
        say(host, line!(room.local_bytes, room.local_copies, room.free_bytes, room.total_bytes));
    }
    host.log().debug("debug");
    host.log().warning("warning");
    host.log().error("error");
}

fn settings(host: &Host) {
    let config = host.config();
    if let Some(all) = met(host, "settings", config.settings()) {
        say(host, format!("of {}", all.len()));
    }
    say(
        host,
        format!(
            "whole{} half{} yes{} text {}",
            config.integer("whole").ok().of(),
            config.number("half").map_or(0, |half| (half * 10.0) as i64).of(),
            config.flag("yes").ok().of(),
            config.text("text").unwrap_or_default()
        ),
    );
    say(host, config.list("list").unwrap_or_default().iter().map(|one| one.as_str().of()).collect::<String>());
    say(host, config.json("deep").unwrap_or(""));
    met(host, "none", config.list("none"));
    met(host, "nothing", config.integer("nothing"));
    met(host, "absent", config.text("absent"));
    met(host, "text as integer", config.integer("text"));
    met(host, "text as number", config.number("text"));
    met(host, "text as list", config.list("text"));
    met(host, "deep as text", config.text("deep"));
    met(host, "deep as flag", config.flag("deep"));
    for one in config.objects("objects").unwrap_or_default() {
        let (whole, text) = (one.integer("whole").ok(), one.text("text").unwrap_or_default());
        let list = one.list("list").unwrap_or_default().len() as i64;
        say(host, format!("whole{} text {}{}", whole.of(), text, list.of()));
    }
    met(host, "no objects", config.objects("none"));
    met(host, "texts as objects", config.objects("list"));
    met(host, "objects as texts", config.list("objects"));
}

fn store(host: &Host) {
    let kv = host.kv();
    let (none, found) = (kv.get("none"), kv.get("found"));
    if let Some(None) = met(host, "none", none) {
        say(host, "none -3");
    }
    if let Some(found) = met(host, "found", found) {
        say(host, found.of());
    }
    met(host, "put", kv.put("key", "a\0b"));
    met(host, "put", kv.put(b"key", []));
    met(host, "remove", kv.remove("key"));
}

fn show_record(host: &Host, r: &Record) {
    say(host, line!(r.key, r.version, r.value, r.content));
}

fn read_records(host: &Host) {
    let records = host.records();
    let parts = LARDER_RECORD_VALUE | LARDER_RECORD_CONTENT;
    if let Some(Some(record)) = met(host, "get", records.get("calendars", "/ada/", parts)) {
        show_record(host, &record);
    }
    if let Some(None) = met(host, "none", records.get("calendars", "none", 0)) {
        say(host, "none -3");
    }
    if let Some(mut cursor) = met(host, "records", records.open("calendars", Some("/a"), LARDER_RECORD_VERSION)) {
        while let Some(record) = cursor.next().unwrap() {
            show_record(host, &record);
        }
    }
}

fn steps(host: &Host) {
    let projects = host.projects();
    for id in met(host, "list", projects.list(LARDER_PROJECTS_OLDEST_FIRST)).unwrap_or_default() {
        say(host, id.of());
    }
    if let Some(p) = met(host, "fetch", projects.fetch("first", LARDER_PROJECT_STEPS | LARDER_PROJECT_USER_DATA)) {
        let ids: String = p.step_ids.iter().map(|id| id.of()).collect();
        let numbers = line!(p.can_undo, p.can_redo, p.created, p.modified, p.cursor);
        say(host, numbers + &ids + &line!(p.user_data, p.assets));
    }
    if let Ok(step) = projects.fetch_step("first", "second") {
        say(host, line!(Some(step.user_data), step.assets));
    }
    if let Ok(room) = projects.usage() {
        say(host, line!(room.bytes, room.quota));
    }
    say(host, projects.create().unwrap_or("").of());
    let added = [
        NewStep { user_data: Some(b"step"), ..NewStep::default() },
        NewStep { assets_source: Some("/source"), ..NewStep::default() },
    ];
    let update = ProjectUpdate { add: &added, delete: &["second"], if_modified: 6, ..ProjectUpdate::default() };
    let ids = projects.update("first", &update).unwrap_or_default();
    say(host, ids.iter().map(|id| id.of()).collect::<String>());
    say(host, projects.add_step("first", &added[0], None).unwrap_or("").of());
    say(host, projects.add_step("first", &added[1], Some(b"user")).unwrap_or("").of());
    met(host, "undo", projects.undo("first"));
    met(host, "redo", projects.redo("first"));
    say(host, projects.duplicate("first").unwrap_or("").of());
    met(host, "remove", projects.remove("first"));
}

struct TourLoop;

impl EventLoop for TourLoop {
    type Content = Vec<String>;
    const DESCRIPTION: Description = Description::new("org.example.tour.loop", "Loop", "1.0.0", &[]);
    const KIND: &'static str = "tourloop";
    const COLLECTION: Option<&'static str> = Some("calendars");
    const REFRESH_BITS: u32 = 0x3;
    const HINTS: u32 = LARDER_HINT_SHARES;

    fn start(host: &Host) -> Result<Self> {
        let _ = (host.log(), host.http(), host.dav(), host.discover(), host.records(), host.actions());
        Ok(TourLoop)
    }

    fn poll(&mut self, host: &Host, which: &Loop) -> Result<Page<Vec<String>>> {
        say(host, format!("poll {}", line!(which.id, which.event_id)));
        if which.id == "broken" {
            return Err(Error::from_status(LARDER_UNSUPPORTED));
        }
        ask(host)?;
        Ok(Page { event_id: "42".into(), content: vec!["one".into(), "two".into()], refresh: 2, more: true })
    }

    fn process(&mut self, host: &Host, which: &Loop, page: &Page<Vec<String>>) -> Result<()> {
        say(host, format!("process {}", line!(which.id, page.event_id.as_str(), page.content.len())));
        let records = host.records();
        let mut record = Record { key: "key", version: "version", value: "{}", content: Some(b"content") };
        met(host, "put", records.put("calendars", &record));
        record = Record { key: "key", ..Record::default() };
        met(host, "put", records.put("calendars", &record));
        met(host, "remove", records.remove("calendars", "key"));
        met(host, "look", host.actions().look("/a"));
        Ok(())
    }

    fn refresh(&mut self, host: &Host, which: &Loop, what: u32) -> Result<Page<()>> {
        say(host, format!("refresh {}", line!(which.id, which.event_id, what)));
        Ok(Page { event_id: "anchor".into(), ..Page::default() })
    }

    fn on_error(&mut self, host: &Host, which: &Loop, error: &LoopError) {
        say(host, format!("on_error {}", line!(which.id, error.code, error.status, error.message)));
    }
}

fn ask(host: &Host) -> Result<()> {
    let http = host.http();
    if let Some(mut answer) = met(host, "open", http.open("PUT", "/a", &[("Accept", "text/plain")], Some(b"body"))) {
        if answer.header("none")?.is_none() {
            say(host, "header -3");
        }
        let code = answer.code();
        say(host, format!("code{}", line!(code, answer.header("Content-Type")?)));
        say(host, Some(&answer.body(100)?[..]).of());
    }
    if let Some(mut answer) = met(host, "open", http.open("GET", "/b", &[], None)) {
        met(host, "body", answer.body(3));
    }
    let request = DavRequest {
        method: "REPORT",
        target: "/cal/",
        depth: 1,
        properties: &["{DAV:}getetag", "{DAV:}none"],
        body: Some("<a/>"),
        flags: LARDER_DAV_AHEAD,
    };
    let mut found = met(host, "open", host.dav().open(&request));
    if let Some(found) = &mut found {
        say(host, format!("code {}", found.code()));
        while let Some(r) = found.next()? {
            let third = r.values.get(2).copied().flatten();
            say(host, line!(r.href, r.status, r.values[0], r.values[1], third, r.error));
        }
        let end = found.end()?;
        say(host, format!("end{}", line!(end.truncated, end.sync_token, end.error)));
    }
    if let Some(home) = met(host, "find", host.discover().find("caldav")) {
        say(host, line!(home.principal, home.homes[1]));
    }
    Ok(())
}

export!(processor Tour, event_loop TourLoop);
