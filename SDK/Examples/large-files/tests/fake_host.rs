//! A test of the built library on the fake host, whose functions are those of LarderFakeHost.h.

use larder::abi::*;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};

#[repr(C)]
struct Entry {
    kind: u32,
    number: u32,
    status: larder_status,
    reserved: u32,
    name: *const c_char,
    path: *const c_char,
    id: *const c_char,
}

const ACTION: u32 = 1;
const MISTAKE: u32 = 6;

#[link(name = "LarderFakeHost")]
extern "C" {
    fn larder_fake_open(library: *const c_char) -> *mut c_void;
    fn larder_fake_free(fake: *mut c_void);
    fn larder_fake_problem(fake: *const c_void) -> *const c_char;
    fn larder_fake_settings(fake: *mut c_void, json: *const c_char);
    fn larder_fake_time(fake: *mut c_void, now: i64, monotonic: i64);
    fn larder_fake_put_item(fake: *mut c_void, item: *const larder_item);
    fn larder_fake_start(fake: *mut c_void, id: *const c_char) -> larder_status;
    fn larder_fake_run(
        fake: *mut c_void,
        trigger: u32,
        changed: *const *const c_char,
        count: usize,
    ) -> larder_status;
    fn larder_fake_cleanup_condition(fake: *mut c_void) -> *const c_char;
    fn larder_fake_explain(fake: *mut c_void, id: *const c_char) -> *const c_char;
    fn larder_fake_count(fake: *const c_void, kind: u32) -> usize;
    fn larder_fake_entry_at(fake: *const c_void, kind: u32, index: usize) -> *const Entry;
}

const MIB: i64 = 1 << 20;
const HOUR: i64 = 3_600_000_000_000;
const DAY: i64 = 24 * HOUR;
/// The time on the stage: 2026-11-30, in nanoseconds since 1970.
const NOW: i64 = 1_795_996_800_000_000_000;

/// A file on the stage: a copy that a person fetched, unless a test says otherwise.
#[derive(Clone, Copy)]
struct File<'a> {
    id: &'a str,
    size: Option<i64>,
    used: Option<i64>,
    modified: Option<i64>,
    status: u32,
    trigger: &'a str,
    pinned: u32,
    claims: u32,
}

impl<'a> File<'a> {
    /// A copy with a size in MiB that was used some time ago.
    fn new(id: &'a str, size: i64, ago: i64) -> Self {
        File {
            id,
            size: Some(size * MIB),
            used: Some(NOW - ago),
            modified: Some(NOW - 900 * DAY),
            status: LARDER_CLOUD_STATUS_LOCAL_COPY,
            trigger: "user",
            pinned: LARDER_AVAILABLE_OFFLINE_NONE,
            claims: 0,
        }
    }
}

fn lent(text: &str) -> larder_str {
    larder_str {
        ptr: text.as_ptr() as *const _,
        len: text.len() as u64,
    }
}

unsafe fn text(found: *const c_char) -> String {
    if found.is_null() {
        return String::new();
    }
    CStr::from_ptr(found).to_str().unwrap().to_string()
}

/// The fake host with the plugin.
struct Fake(*mut c_void);

impl Fake {
    fn new(settings: &str) -> Self {
        let settings = CString::new(settings).unwrap();
        unsafe {
            let fake = larder_fake_open("out/large-files.so\0".as_ptr() as *const c_char);
            larder_fake_settings(fake, settings.as_ptr());
            larder_fake_time(fake, NOW, 0);
            Fake(fake)
        }
    }

    fn start(&self) -> larder_status {
        unsafe {
            larder_fake_start(
                self.0,
                "org.example.large-files\0".as_ptr() as *const c_char,
            )
        }
    }

    fn put(&self, file: File) {
        unsafe {
            let mut item: larder_item = std::mem::zeroed();
            item.struct_size = std::mem::size_of::<larder_item>() as u32;
            item.present = larder::mask(&[
                LARDER_FIELD_LOCAL_ID,
                LARDER_FIELD_TYPE,
                LARDER_FIELD_CLOUD_STATUS,
                LARDER_FIELD_REMOVED,
                LARDER_FIELD_DOWNLOAD_TRIGGER,
                LARDER_FIELD_AVAILABLE_OFFLINE,
                LARDER_FIELD_CLAIMS,
            ]);
            item.local_id = lent(file.id);
            item.r#type = LARDER_TYPE_FILE;
            item.cloud_status = file.status;
            item.download_trigger = lent(file.trigger);
            item.available_offline = file.pinned;
            item.claims = file.claims;
            for (field, place, value) in [
                (LARDER_FIELD_SIZE, &mut item.size, file.size),
                (LARDER_FIELD_LAST_USED, &mut item.last_used, file.used),
                (
                    LARDER_FIELD_LAST_MODIFIED,
                    &mut item.last_modified,
                    file.modified,
                ),
            ] {
                if let Some(value) = value {
                    *place = value;
                    item.present |= 1 << field;
                }
            }
            larder_fake_put_item(self.0, &item);
        }
    }

    /// Makes a run as after a scan, and returns the ids of the copies whose removal was asked for.
    fn removed(&self) -> Vec<String> {
        unsafe {
            let trigger = LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES;
            assert_eq!(
                larder_fake_run(self.0, trigger, std::ptr::null(), 0),
                LARDER_OK
            );
            let count = larder_fake_count(self.0, ACTION);
            let mut ids: Vec<String> = (0..count)
                .map(|index| {
                    let action = &*larder_fake_entry_at(self.0, ACTION, index);
                    assert_eq!(text(action.name), "remove_local_copy");
                    assert_eq!(action.number, LARDER_REMOVE_IF_UNUSED);
                    text(action.id)
                })
                .collect();
            ids.sort();
            ids
        }
    }

    fn says(&self, id: &str) -> String {
        let id = CString::new(id).unwrap();
        unsafe { text(larder_fake_explain(self.0, id.as_ptr())) }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        unsafe {
            // A call of the host that it would refuse.
            let mistakes = larder_fake_count(self.0, MISTAKE);
            larder_fake_free(self.0);
            assert_eq!(mistakes, 0);
        }
    }
}

#[test]
fn the_larger_a_file_the_sooner_its_copy_goes() {
    let fake = Fake::new("{}");
    fake.put(File::new("huge, a day", 2048, DAY + HOUR));
    fake.put(File::new("huge, an hour", 2048, HOUR));
    fake.put(File::new("large, 4 days", 101, 4 * DAY));
    fake.put(File::new("large, a day", 101, DAY + HOUR));
    fake.put(File::new("at the limit", 100, 400 * DAY));
    fake.put(File::new("empty", 0, 400 * DAY));
    assert_eq!(fake.start(), LARDER_OK);
    assert_eq!(fake.removed(), ["huge, a day", "large, 4 days"]);
}

#[test]
fn without_a_last_use_the_time_on_the_server_counts_and_without_a_size_nothing_goes() {
    let fake = Fake::new("{}");
    let old = File {
        used: None,
        ..File::new("old", 500, 0)
    };
    fake.put(old);
    fake.put(File {
        id: "new",
        modified: Some(NOW - HOUR),
        ..old
    });
    fake.put(File {
        id: "no times",
        modified: None,
        ..old
    });
    fake.put(File {
        id: "no size",
        size: None,
        ..File::new("", 500, 900 * DAY)
    });
    assert_eq!(fake.start(), LARDER_OK);
    assert_eq!(fake.removed(), ["no times", "old"]);
}

#[test]
fn what_is_pinned_claimed_changed_or_another_plugins_stays() {
    let fake = Fake::new("{}");
    let old = File::new("old", 500, 90 * DAY);
    fake.put(old);
    fake.put(File {
        id: "pinned",
        pinned: LARDER_AVAILABLE_OFFLINE_INDIRECT,
        ..old
    });
    fake.put(File {
        id: "claimed",
        claims: LARDER_CLAIM_READ,
        ..old
    });
    fake.put(File {
        id: "changed",
        status: LARDER_CLOUD_STATUS_LOCALLY_MODIFIED,
        ..old
    });
    fake.put(File {
        id: "only here",
        status: LARDER_CLOUD_STATUS_LOCAL_ONLY,
        ..old
    });
    fake.put(File {
        id: "away",
        status: LARDER_CLOUD_STATUS_CLOUD_ONLY,
        ..old
    });
    fake.put(File {
        id: "another's",
        trigger: "org.example.this-month",
        ..old
    });
    fake.put(File::new("small", 1, 90 * DAY));
    assert_eq!(fake.start(), LARDER_OK);
    assert_eq!(fake.removed(), ["old"]);
    let large = "it is larger than 100MiB, and stays, since";
    assert_eq!(
        fake.says("old"),
        "its copy goes 3d after its last use, since it is larger than 100MiB"
    );
    assert_eq!(fake.says("pinned"), format!("{large} it is pinned"));
    assert_eq!(fake.says("claimed"), format!("{large} it is claimed"));
    assert_eq!(
        fake.says("changed"),
        format!("{large} only this machine has it as it is")
    );
    assert_eq!(
        fake.says("another's"),
        format!("{large} its copy is here for org.example.this-month")
    );
    assert_eq!((fake.says("away"), fake.says("small")), Default::default());
}

#[test]
fn of_several_rows_the_shortest_time_counts_in_any_order() {
    let fake = Fake::new(
        r#"{"sizes": [{"above": "1GB", "after": "10d"}, {"above": "0B", "after": "90m"}]}"#,
    );
    fake.put(File::new("huge", 2048, 2 * HOUR));
    fake.put(File::new("small", 1, 2 * HOUR));
    fake.put(File::new("empty", 0, 2 * HOUR));
    fake.put(File::new("used", 2048, HOUR));
    assert_eq!(fake.start(), LARDER_OK);
    assert_eq!(fake.removed(), ["huge", "small"]);
    assert_eq!(
        fake.says("small"),
        "its copy goes 90m after its last use, since it is larger than 0 bytes"
    );
}

#[test]
fn without_rows_nothing_goes() {
    let fake = Fake::new(r#"{"sizes": []}"#);
    fake.put(File::new("huge", 9_000_000, 900 * DAY));
    assert_eq!(fake.start(), LARDER_OK);
    assert!(unsafe { larder_fake_cleanup_condition(fake.0).is_null() });
    assert!(fake.removed().is_empty());
}

#[test]
fn wrong_settings_are_refused_with_what_is_wrong() {
    for (settings, word) in [
        (r#"{"sizes": [{"above": "100MiB"}]}"#, "after"),
        (
            r#"{"sizes": [{"above": "large", "after": "3d"}]}"#,
            "is not a size",
        ),
        (
            r#"{"sizes": [{"above": "1GiB", "after": "0s"}]}"#,
            "at least 1000ms",
        ),
        (r#"{"sizes": [{"above": "-1B", "after": "3d"}]}"#, "size"),
        (r#"{"sizes": "100MiB"}"#, "must be a list"),
        (r#"{"size": []}"#, "sizes"),
    ] {
        let fake = Fake::new(settings);
        assert_ne!(fake.start(), LARDER_OK, "{settings}");
        let problem = unsafe { text(larder_fake_problem(fake.0)) };
        assert!(problem.contains(word), "{settings}: {problem}");
    }
}

#[test]
fn a_thousand_files_go_in_one_run() {
    let fake = Fake::new("{}");
    let names: Vec<String> = (0..1000)
        .map(|number| format!("file {number:04}"))
        .collect();
    for name in &names {
        fake.put(File::new(name, 101, 4 * DAY));
    }
    assert_eq!(fake.start(), LARDER_OK);
    assert_eq!(fake.removed(), names);
}
