//! A test of the built library on the fake host, whose functions are those of LarderFakeHost.h.

use larder::abi::*;
use std::ffi::CStr;
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
    fn larder_fake_put_item(fake: *mut c_void, item: *const larder_item);
    fn larder_fake_start(fake: *mut c_void, id: *const c_char) -> larder_status;
    fn larder_fake_run(
        fake: *mut c_void,
        trigger: u32,
        changed: *const *const c_char,
        count: usize,
    ) -> larder_status;
    fn larder_fake_count(fake: *const c_void, kind: u32) -> usize;
    fn larder_fake_entry_at(fake: *const c_void, kind: u32, index: usize) -> *const Entry;
}

unsafe fn put(fake: *mut c_void, id: &'static str, favorite: u32) {
    let mut item: larder_item = std::mem::zeroed();
    item.struct_size = std::mem::size_of::<larder_item>() as u32;
    item.present = larder::mask(&[LARDER_FIELD_LOCAL_ID, LARDER_FIELD_FAVORITE]);
    item.local_id = larder_str {
        ptr: id.as_ptr() as *const _,
        len: id.len() as u64,
    };
    item.favorite = favorite;
    larder_fake_put_item(fake, &item);
}

#[test]
fn keeps_favorites() {
    unsafe {
        let fake = larder_fake_open("out/plugin-name.so\0".as_ptr() as *const c_char);
        put(fake, "8f31", 1);
        put(fake, "5f21", 0);
        assert_eq!(
            larder_fake_start(fake, "org.example.plugin-name\0".as_ptr() as *const c_char),
            LARDER_OK
        );
        assert_eq!(
            larder_fake_run(
                fake,
                LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED,
                std::ptr::null(),
                0
            ),
            LARDER_OK
        );
        assert_eq!(larder_fake_count(fake, ACTION), 1);
        let action = &*larder_fake_entry_at(fake, ACTION, 0);
        assert_eq!(CStr::from_ptr(action.name).to_str(), Ok("download"));
        assert_eq!(CStr::from_ptr(action.id).to_str(), Ok("8f31"));
        // A call of the host that it would refuse.
        assert_eq!(larder_fake_count(fake, MISTAKE), 0);
        larder_fake_free(fake);
    }
}
