//! A test of the built library on the fake host, whose functions are those of LarderFakeHost.h.

use larder::abi::*;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};

const ID: &str = "org.example.plugin-name";
const FEED: &str = "/apps/plugin-name/since/";
const MISTAKE: u32 = 6;

#[link(name = "LarderFakeHost")]
extern "C" {
    fn larder_fake_open(library: *const c_char) -> *mut c_void;
    fn larder_fake_free(fake: *mut c_void);
    fn larder_fake_start(fake: *mut c_void, id: *const c_char) -> larder_status;
    fn larder_fake_answer(
        fake: *mut c_void,
        method: *const c_char,
        target: *const c_char,
        status: u32,
        body: *const c_char,
    );
    fn larder_fake_poll(fake: *mut c_void, id: *const c_char) -> larder_status;
    fn larder_fake_event_id(fake: *const c_void, id: *const c_char) -> *const c_char;
    fn larder_fake_record(
        fake: *const c_void,
        collection: *const c_char,
        key: *const c_char,
    ) -> *const c_void;
    fn larder_fake_count(fake: *const c_void, kind: u32) -> usize;
}

fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

struct Fake(*mut c_void);

impl Fake {
    fn answer(&self, since: &str, status: u32, body: &str) {
        let (get, target, body) = (text("GET"), text(&format!("{FEED}{since}")), text(body));
        unsafe { larder_fake_answer(self.0, get.as_ptr(), target.as_ptr(), status, body.as_ptr()) }
    }
    fn poll(&self) -> larder_status {
        unsafe { larder_fake_poll(self.0, text(ID).as_ptr()) }
    }
    fn event_id(&self) -> String {
        unsafe {
            CStr::from_ptr(larder_fake_event_id(self.0, text(ID).as_ptr()))
                .to_str()
                .unwrap()
                .to_string()
        }
    }
    fn has(&self, key: &str) -> bool {
        unsafe { !larder_fake_record(self.0, text(ID).as_ptr(), text(key).as_ptr()).is_null() }
    }
}

#[test]
fn keeps_what_is_new() {
    let fake = Fake(unsafe { larder_fake_open(text("out/plugin-name.so").as_ptr()) });
    assert_eq!(
        unsafe { larder_fake_start(fake.0, text(ID).as_ptr()) },
        LARDER_OK
    );
    // The first turn knows nothing, and fetches everything.
    fake.answer("0", 200, "7\na\nb\n");
    assert_eq!(fake.poll(), LARDER_OK);
    assert!(fake.event_id() == "7" && fake.has("a") && fake.has("b"));
    fake.answer("7", 200, "8\nc\n");
    assert_eq!(fake.poll(), LARDER_OK);
    assert!(fake.event_id() == "8" && fake.has("c"));
    // A server that fails takes nothing away.
    fake.answer("8", 500, "");
    assert_eq!(fake.poll(), LARDER_IO);
    fake.answer("8", 200, "no news");
    assert_eq!(fake.poll(), LARDER_IO);
    assert!(fake.event_id() == "8" && fake.has("a") && fake.has("c"));
    // One that has none is asked again a day later.
    fake.answer("8", 404, "");
    assert_eq!(fake.poll(), LARDER_UNSUPPORTED);
    // A call of the host that it would refuse.
    assert_eq!(unsafe { larder_fake_count(fake.0, MISTAKE) }, 0);
    unsafe { larder_fake_free(fake.0) };
}
