//! The raw declarations of the plugin interface. The comments of the headers in `SDK/C/include/larder` say what
//! they mean. This file is made of those headers by `SDK/Rust/make-abi`: change it there.
#![allow(non_camel_case_types, missing_docs)]

use core::ffi::c_void;

/// A C `char`. All bytes of texts are used as bytes of UTF-8.
pub type c_char = u8;

// base.h

pub const LARDER_ABI_MAJOR: u32 = 1;
pub const LARDER_ABI_MINOR: u32 = 5;
pub const LARDER_OK: larder_status = 0;
pub const LARDER_FAILED: larder_status = -1;
pub const LARDER_INVALID_ARGUMENT: larder_status = -2;
pub const LARDER_NOT_FOUND: larder_status = -3;
pub const LARDER_ALREADY_EXISTS: larder_status = -4;
pub const LARDER_CONFLICT: larder_status = -5;
pub const LARDER_DENIED: larder_status = -6;
pub const LARDER_UNSUPPORTED: larder_status = -7;
pub const LARDER_LIMIT: larder_status = -8;
pub const LARDER_CANCELLED: larder_status = -9;
pub const LARDER_IO: larder_status = -10;
pub const LARDER_WRONG_THREAD: larder_status = -11;
pub const LARDER_WRONG_STATE: larder_status = -12;
pub const LARDER_INTERNAL: larder_status = -13;
pub const LARDER_STATUS_LAST: larder_status = -13;
pub type larder_status = i32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_str {
    pub ptr: *const c_char,
    pub len: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_bytes {
    pub ptr: *const u8,
    pub len: u64,
}

// host.h


#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_host {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub context: *mut c_void,
    pub extension: unsafe extern "C" fn(host: *const larder_host, name: larder_str) -> *const c_void,
    pub fail: unsafe extern "C" fn(host: *const larder_host, status: larder_status, message: larder_str),
}

// item.h

pub const LARDER_FIELD_PATH: u32 = 0;
pub const LARDER_FIELD_NAME: u32 = 1;
pub const LARDER_FIELD_TYPE: u32 = 2;
pub const LARDER_FIELD_SIZE: u32 = 3;
pub const LARDER_FIELD_MIME_TYPE: u32 = 4;
pub const LARDER_FIELD_ETAG: u32 = 5;
pub const LARDER_FIELD_FILE_ID: u32 = 6;
pub const LARDER_FIELD_LOCAL_ID: u32 = 7;
pub const LARDER_FIELD_LAST_MODIFIED: u32 = 8;
pub const LARDER_FIELD_LAST_USED: u32 = 9;
pub const LARDER_FIELD_CLOUD_STATUS: u32 = 10;
pub const LARDER_FIELD_DOWNLOAD_TRIGGER: u32 = 11;
pub const LARDER_FIELD_REMOVED: u32 = 12;
pub const LARDER_FIELD_FAVORITE: u32 = 13;
pub const LARDER_FIELD_REMOTE_VERSION: u32 = 14;
pub const LARDER_FIELD_PARENT_PATH: u32 = 15;
pub const LARDER_FIELD_OWNER: u32 = 16;
pub const LARDER_FIELD_PERMISSIONS: u32 = 17;
pub const LARDER_FIELD_AVAILABLE_OFFLINE: u32 = 18;
pub const LARDER_FIELD_SYNC_ACTIVITY: u32 = 19;
pub const LARDER_FIELD_LOCAL_PATH: u32 = 20;
pub const LARDER_FIELD_SHARES: u32 = 21;
pub const LARDER_FIELD_CLAIMS: u32 = 22;
pub const LARDER_TYPE_FILE: u32 = 0;
pub const LARDER_TYPE_FOLDER: u32 = 1;
pub const LARDER_CLOUD_STATUS_CLOUD_ONLY: u32 = 0;
pub const LARDER_CLOUD_STATUS_LOCAL_COPY: u32 = 1;
pub const LARDER_CLOUD_STATUS_LOCALLY_MODIFIED: u32 = 2;
pub const LARDER_CLOUD_STATUS_LOCAL_ONLY: u32 = 3;
pub const LARDER_REMOTE_VERSION_CURRENT: u32 = 0;
pub const LARDER_REMOTE_VERSION_NEWER: u32 = 1;
pub const LARDER_AVAILABLE_OFFLINE_NONE: u32 = 0;
pub const LARDER_AVAILABLE_OFFLINE_DIRECT: u32 = 1;
pub const LARDER_AVAILABLE_OFFLINE_INDIRECT: u32 = 2;
pub const LARDER_SYNC_DOWNLOADING: u32 = 0x01;
pub const LARDER_SYNC_UPLOADING: u32 = 0x02;
pub const LARDER_SYNC_DELETING: u32 = 0x04;
pub const LARDER_SYNC_MOVING: u32 = 0x08;
pub const LARDER_SYNC_COPYING: u32 = 0x10;
pub const LARDER_SYNC_CREATING: u32 = 0x20;
pub const LARDER_SYNC_UPDATING: u32 = 0x40;
pub const LARDER_CLAIM_READ: u32 = 0x01;
pub const LARDER_CLAIM_WRITE: u32 = 0x02;
pub const LARDER_CLAIM_DELETE: u32 = 0x04;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_item {
    pub struct_size: u32,
    pub reserved: u32,
    pub present: u64,
    pub path: larder_str,
    pub name: larder_str,
    pub mime_type: larder_str,
    pub etag: larder_str,
    pub file_id: larder_str,
    pub local_id: larder_str,
    pub download_trigger: larder_str,
    pub parent_path: larder_str,
    pub owner: larder_str,
    pub permissions: larder_str,
    pub local_path: larder_str,
    pub shares: larder_str,
    pub size: i64,
    pub last_modified: i64,
    pub last_used: i64,
    pub r#type: u32,
    pub cloud_status: u32,
    pub removed: u32,
    pub favorite: u32,
    pub remote_version: u32,
    pub available_offline: u32,
    pub sync_activity: u32,
    pub claims: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_item_cursor {
    pub struct_size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub next: unsafe extern "C" fn(cursor: *mut larder_item_cursor, out: *mut *const larder_item) -> larder_status,
}

// module.h

pub const LARDER_ENTRY: &str = "larder_plugin_entry_v1";
pub type larder_plugin_entry = unsafe extern "C" fn(host_minor: u32, out: *mut *const larder_module) -> larder_status;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_descriptor {
    pub struct_size: u32,
    pub reserved: u32,
    pub id: larder_str,
    pub name: larder_str,
    pub version: larder_str,
    pub vendor: larder_str,
    pub summary: larder_str,
    pub required: larder_str,
    pub wanted: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_instance {
    pub struct_size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub start: unsafe extern "C" fn(context: *mut c_void) -> larder_status,
    pub stop: unsafe extern "C" fn(context: *mut c_void),
    pub destroy: unsafe extern "C" fn(context: *mut c_void),
    pub extension: unsafe extern "C" fn(context: *mut c_void, name: larder_str) -> *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_module {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub describe: unsafe extern "C" fn(index: u32) -> *const larder_descriptor,
    pub create: unsafe extern "C" fn(id: larder_str, host: *const larder_host, out: *mut *const larder_instance) -> larder_status,
}

// policy.h


#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_policy {
    pub struct_size: u32,
    pub reserved: u32,
    pub revision: i64,
    pub id: larder_str,
    pub kind: larder_str,
    pub identifier: larder_str,
    pub description: larder_str,
    pub condition: larder_str,
    pub path: larder_str,
    pub local_id: larder_str,
    pub remove_when_none: larder_str,
    pub data: larder_bytes,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_policy_list {
    pub struct_size: u32,
    pub stride: u32,
    pub policies: *const c_void,
    pub count: u64,
}

// trigger.h

pub const LARDER_TRIGGER_ITEMS_CHANGED: u32 = 0;
pub const LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED: u32 = 1;
pub const LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES: u32 = 2;
pub const LARDER_TRIGGER_POLICIES_CHANGED: u32 = 3;
pub const LARDER_TRIGGER_SYNC_CAPACITY: u32 = 4;
pub const LARDER_TRIGGER_TIMER: u32 = 5;
pub const LARDER_TRIGGER_RECORDS_CHANGED: u32 = 6;
pub const LARDER_TRIGGERS_ALL: u32 = 0xFFFFFFFF;

// ext/actions.h

pub const LARDER_EXT_ACTIONS: &str = "larder.actions/1";
pub const LARDER_DOWNLOAD_WHILE_COVERED: u32 = 0x01;
pub const LARDER_DOWNLOAD_AS_UPDATE: u32 = 0x02;
pub const LARDER_REMOVE_RESTORE_FORMER: u32 = 0x01;
pub const LARDER_REMOVE_IF_UNUSED: u32 = 0x02;
pub const LARDER_UPLOAD_REPLACE: u32 = 0x01;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_actions {
    pub struct_size: u32,
    pub reserved: u32,
    pub download: unsafe extern "C" fn(host: *const larder_host, local_id: larder_str, flags: u32, key: larder_str) -> larder_status,
    pub remove_local_copy: unsafe extern "C" fn(host: *const larder_host, local_id: larder_str, flags: u32, key: larder_str) -> larder_status,
    pub purge: unsafe extern "C" fn(host: *const larder_host, local_id: larder_str, flags: u32, key: larder_str) -> larder_status,
    pub look: unsafe extern "C" fn(host: *const larder_host, path: larder_str) -> larder_status,
    pub create_folder: unsafe extern "C" fn(host: *const larder_host, path: larder_str, flags: u32, key: larder_str) -> larder_status,
    pub r#move: unsafe extern "C" fn(host: *const larder_host, local_id: larder_str, target: larder_str, flags: u32, key: larder_str) -> larder_status,
    pub copy: unsafe extern "C" fn(host: *const larder_host, local_id: larder_str, target: larder_str, flags: u32, key: larder_str) -> larder_status,
    pub remove_from_server: unsafe extern "C" fn(host: *const larder_host, local_id: larder_str, flags: u32, key: larder_str) -> larder_status,
    pub set_favorite: unsafe extern "C" fn(host: *const larder_host, local_id: larder_str, is_favorite: u32, flags: u32, key: larder_str) -> larder_status,
    pub upload: unsafe extern "C" fn(host: *const larder_host, project: larder_str, file: larder_str, path: larder_str, flags: u32, key: larder_str) -> larder_status,
}

// ext/cancel.h

pub const LARDER_EXT_CANCEL: &str = "larder.cancel/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_cancel {
    pub struct_size: u32,
    pub reserved: u32,
    pub check: unsafe extern "C" fn(host: *const larder_host) -> larder_status,
    pub deadline: unsafe extern "C" fn(host: *const larder_host, out: *mut i64) -> larder_status,
}

// ext/clock.h

pub const LARDER_EXT_CLOCK: &str = "larder.clock/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_clock {
    pub struct_size: u32,
    pub reserved: u32,
    pub now: unsafe extern "C" fn(host: *const larder_host, out: *mut i64) -> larder_status,
    pub monotonic: unsafe extern "C" fn(host: *const larder_host, out: *mut i64) -> larder_status,
}

// ext/config-schema.h

pub const LARDER_EXT_CONFIG_SCHEMA: &str = "larder.config-schema/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_config_schema {
    pub struct_size: u32,
    pub reserved: u32,
    pub schema: unsafe extern "C" fn(context: *mut c_void, out: *mut larder_str) -> larder_status,
}

// ext/config.h

pub const LARDER_EXT_CONFIG: &str = "larder.config/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_config {
    pub struct_size: u32,
    pub reserved: u32,
    pub settings: unsafe extern "C" fn(host: *const larder_host, out: *mut larder_str) -> larder_status,
}

// ext/dav.h

pub const LARDER_EXT_DAV: &str = "larder.dav/1";
pub const LARDER_DAV_AHEAD: u32 = 0x01;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_dav_request {
    pub struct_size: u32,
    pub depth: u32,
    pub method: larder_str,
    pub target: larder_str,
    pub body: larder_str,
    pub properties: *const larder_str,
    pub property_count: u64,
    pub flags: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_dav_response {
    pub struct_size: u32,
    pub status: u32,
    pub href: larder_str,
    pub values: *const larder_str,
    pub value_count: u64,
    pub error: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_dav_end {
    pub struct_size: u32,
    pub truncated: u32,
    pub sync_token: larder_str,
    pub error: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_dav_answer {
    pub struct_size: u32,
    pub status: u32,
    pub context: *mut c_void,
    pub next: unsafe extern "C" fn(answer: *mut larder_dav_answer, out: *mut *const larder_dav_response) -> larder_status,
    pub end: unsafe extern "C" fn(answer: *mut larder_dav_answer, out: *mut larder_dav_end) -> larder_status,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_dav {
    pub struct_size: u32,
    pub reserved: u32,
    pub open: unsafe extern "C" fn(host: *const larder_host, request: *const larder_dav_request, out: *mut *mut larder_dav_answer) -> larder_status,
    pub close: unsafe extern "C" fn(host: *const larder_host, answer: *mut larder_dav_answer) -> larder_status,
}

// ext/discover.h

pub const LARDER_EXT_DISCOVER: &str = "larder.discover/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_discovery {
    pub struct_size: u32,
    pub reserved: u32,
    pub principal: larder_str,
    pub homes: *const larder_str,
    pub home_count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_discover {
    pub struct_size: u32,
    pub reserved: u32,
    pub find: unsafe extern "C" fn(host: *const larder_host, service: larder_str, out: *mut larder_discovery) -> larder_status,
}

// ext/event-loop.h

pub const LARDER_EXT_EVENT_LOOP: &str = "larder.event-loop/1";
pub const LARDER_REFRESH_EVERYTHING: u32 = 0xff;
pub const LARDER_HINT_ITEMS: u32 = 0x01;
pub const LARDER_HINT_SHARES: u32 = 0x02;
pub const LARDER_HINT_ACCOUNT: u32 = 0x04;
pub const LARDER_LOOP_MISSING_ID: u32 = 1;
pub const LARDER_LOOP_OUTDATED: u32 = 2;
pub const LARDER_LOOP_POLL_FAILED: u32 = 3;
pub const LARDER_LOOP_PROCESSING: u32 = 4;
pub const LARDER_LOOP_TIMED_OUT: u32 = 5;
pub const LARDER_LOOP_NO_PROGRESS: u32 = 6;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_loop {
    pub struct_size: u32,
    pub reserved: u32,
    pub id: larder_str,
    pub event_id: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_event_page {
    pub struct_size: u32,
    pub refresh: u32,
    pub more: u32,
    pub reserved: u32,
    pub event_id: larder_str,
    pub content: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_loop_error {
    pub struct_size: u32,
    pub code: u32,
    pub status: larder_status,
    pub reserved: u32,
    pub message: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_event_loop {
    pub struct_size: u32,
    pub refresh_bits: u32,
    pub kind: larder_str,
    pub collection: larder_str,
    pub hints: u32,
    pub reserved: u32,
    pub poll: unsafe extern "C" fn(context: *mut c_void, r#loop: *const larder_loop, out: *mut larder_event_page) -> larder_status,
    pub process: unsafe extern "C" fn(context: *mut c_void, r#loop: *const larder_loop, page: *const larder_event_page) -> larder_status,
    pub refresh: unsafe extern "C" fn(context: *mut c_void, r#loop: *const larder_loop, what: u32, out: *mut larder_event_page) -> larder_status,
    pub on_error: unsafe extern "C" fn(context: *mut c_void, r#loop: *const larder_loop, error: *const larder_loop_error),
    pub release_page: unsafe extern "C" fn(context: *mut c_void, page: *mut larder_event_page),
}

// ext/explain.h

pub const LARDER_EXT_EXPLAIN: &str = "larder.explain/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_explain {
    pub struct_size: u32,
    pub reserved: u32,
    pub explain: unsafe extern "C" fn(context: *mut c_void, item: *const larder_item, out: *mut larder_str) -> larder_status,
}

// ext/http.h

pub const LARDER_EXT_HTTP: &str = "larder.http/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_http_header {
    pub name: larder_str,
    pub value: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_http_request {
    pub struct_size: u32,
    pub header_stride: u32,
    pub method: larder_str,
    pub target: larder_str,
    pub headers: *const larder_http_header,
    pub header_count: u64,
    pub body: larder_bytes,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_http_answer {
    pub struct_size: u32,
    pub status: u32,
    pub context: *mut c_void,
    pub header: unsafe extern "C" fn(answer: *mut larder_http_answer, name: larder_str, out: *mut larder_str) -> larder_status,
    pub read: unsafe extern "C" fn(answer: *mut larder_http_answer, out: *mut larder_bytes) -> larder_status,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_http {
    pub struct_size: u32,
    pub reserved: u32,
    pub open: unsafe extern "C" fn(host: *const larder_host, request: *const larder_http_request, out: *mut *mut larder_http_answer) -> larder_status,
    pub close: unsafe extern "C" fn(host: *const larder_host, answer: *mut larder_http_answer) -> larder_status,
}

// ext/items.h

pub const LARDER_EXT_ITEMS: &str = "larder.items/1";
pub const LARDER_QUERY_DESCENDING: u32 = 0x01;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_query {
    pub struct_size: u32,
    pub reserved: u32,
    pub condition: larder_str,
    pub fields: u64,
    pub sort: u32,
    pub flags: u32,
    pub limit: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_items {
    pub struct_size: u32,
    pub reserved: u32,
    pub open: unsafe extern "C" fn(host: *const larder_host, query: *const larder_query, out: *mut *mut larder_item_cursor) -> larder_status,
    pub close: unsafe extern "C" fn(host: *const larder_host, cursor: *mut larder_item_cursor) -> larder_status,
}

// ext/kv.h

pub const LARDER_EXT_KV: &str = "larder.kv/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_kv {
    pub struct_size: u32,
    pub reserved: u32,
    pub get: unsafe extern "C" fn(host: *const larder_host, key: larder_bytes, out: *mut larder_bytes) -> larder_status,
    pub put: unsafe extern "C" fn(host: *const larder_host, key: larder_bytes, value: larder_bytes) -> larder_status,
    pub remove: unsafe extern "C" fn(host: *const larder_host, key: larder_bytes) -> larder_status,
}

// ext/log.h

pub const LARDER_EXT_LOG: &str = "larder.log/1";
pub const LARDER_LOG_DEBUG: u32 = 0;
pub const LARDER_LOG_INFO: u32 = 1;
pub const LARDER_LOG_WARNING: u32 = 2;
pub const LARDER_LOG_ERROR: u32 = 3;
pub const LARDER_LOG_HOST_MISBEHAVING: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_log {
    pub struct_size: u32,
    pub reserved: u32,
    pub write: unsafe extern "C" fn(host: *const larder_host, level: u32, message: larder_str) -> larder_status,
}

// ext/policies.h

pub const LARDER_EXT_POLICIES: &str = "larder.policies/1";
pub const LARDER_POLICY_QUIET: u32 = 0x01;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_policies {
    pub struct_size: u32,
    pub reserved: u32,
    pub list: unsafe extern "C" fn(host: *const larder_host, out: *mut larder_policy_list) -> larder_status,
    pub add: unsafe extern "C" fn(host: *const larder_host, policy: *const larder_policy, flags: u32) -> larder_status,
    pub update: unsafe extern "C" fn(host: *const larder_host, policy: *const larder_policy, flags: u32) -> larder_status,
    pub remove: unsafe extern "C" fn(host: *const larder_host, id: larder_str, revision: i64, flags: u32) -> larder_status,
}

// ext/processor.h

pub const LARDER_EXT_ITEM_POLICY_PROCESSOR: &str = "larder.item-policy-processor/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_item_policy_processor {
    pub struct_size: u32,
    pub reserved: u32,
    pub kind: larder_str,
    pub fields: u64,
    pub triggers: unsafe extern "C" fn(context: *mut c_void) -> u32,
    pub policy_condition: unsafe extern "C" fn(context: *mut c_void, out: *mut larder_str) -> larder_status,
    pub match_condition: unsafe extern "C" fn(context: *mut c_void, out: *mut larder_str) -> larder_status,
    pub cleanup_condition: unsafe extern "C" fn(context: *mut c_void, out: *mut larder_str) -> larder_status,
    pub update_policies: unsafe extern "C" fn(context: *mut c_void, policies: *const larder_policy_list) -> larder_status,
    pub preflight: unsafe extern "C" fn(context: *mut c_void, trigger: u32, changed: *mut larder_item_cursor) -> larder_status,
    pub will_enter_trigger: unsafe extern "C" fn(context: *mut c_void, trigger: u32) -> larder_status,
    pub begin_matching: unsafe extern "C" fn(context: *mut c_void, trigger: u32) -> larder_status,
    pub perform_action: unsafe extern "C" fn(context: *mut c_void, trigger: u32, item: *const larder_item) -> larder_status,
    pub end_matching: unsafe extern "C" fn(context: *mut c_void, trigger: u32) -> larder_status,
    pub begin_cleanup: unsafe extern "C" fn(context: *mut c_void, trigger: u32) -> larder_status,
    pub perform_cleanup: unsafe extern "C" fn(context: *mut c_void, trigger: u32, item: *const larder_item) -> larder_status,
    pub end_cleanup: unsafe extern "C" fn(context: *mut c_void, trigger: u32) -> larder_status,
    pub did_pass_trigger: unsafe extern "C" fn(context: *mut c_void, trigger: u32) -> larder_status,
    pub max_records: u64,
}

// ext/projects.h

pub const LARDER_EXT_PROJECTS: &str = "larder.projects/1";
pub const LARDER_PROJECT_STEPS: u32 = 0x01;
pub const LARDER_PROJECT_USER_DATA: u32 = 0x02;
pub const LARDER_PROJECTS_BY_MODIFICATION: u32 = 0x01;
pub const LARDER_PROJECTS_OLDEST_FIRST: u32 = 0x02;
pub const LARDER_PROJECT_CURSOR_STAYS: i64 = -1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_project_ids {
    pub struct_size: u32,
    pub reserved: u32,
    pub ids: *const larder_str,
    pub count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_project {
    pub struct_size: u32,
    pub can_undo: u32,
    pub can_redo: u32,
    pub reserved: u32,
    pub created: i64,
    pub modified: i64,
    pub cursor: u64,
    pub step_count: u64,
    pub step_ids: *const larder_str,
    pub user_data: larder_bytes,
    pub assets: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_project_step {
    pub struct_size: u32,
    pub reserved: u32,
    pub user_data: larder_bytes,
    pub assets: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_project_new_step {
    pub struct_size: u32,
    pub reserved: u32,
    pub user_data: larder_bytes,
    pub assets_source: larder_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_project_update {
    pub struct_size: u32,
    pub add_stride: u32,
    pub cursor: i64,
    pub delete_ids: *const larder_str,
    pub delete_count: u64,
    pub add: *const c_void,
    pub add_count: u64,
    pub user_data: larder_bytes,
    pub if_modified: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_project_usage {
    pub struct_size: u32,
    pub reserved: u32,
    pub bytes: u64,
    pub quota: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_projects {
    pub struct_size: u32,
    pub reserved: u32,
    pub list: unsafe extern "C" fn(host: *const larder_host, order: u32, out: *mut larder_project_ids) -> larder_status,
    pub fetch: unsafe extern "C" fn(host: *const larder_host, id: larder_str, parts: u32, out: *mut larder_project) -> larder_status,
    pub fetch_step: unsafe extern "C" fn(host: *const larder_host, id: larder_str, step: larder_str, out: *mut larder_project_step) -> larder_status,
    pub usage: unsafe extern "C" fn(host: *const larder_host, out: *mut larder_project_usage) -> larder_status,
    pub create: unsafe extern "C" fn(host: *const larder_host, out: *mut larder_str) -> larder_status,
    pub update: unsafe extern "C" fn(host: *const larder_host, id: larder_str, update: *const larder_project_update, out: *mut larder_project_ids) -> larder_status,
    pub add_step: unsafe extern "C" fn(host: *const larder_host, id: larder_str, step: *const larder_project_new_step, user_data: larder_bytes, out: *mut larder_str) -> larder_status,
    pub undo: unsafe extern "C" fn(host: *const larder_host, id: larder_str) -> larder_status,
    pub redo: unsafe extern "C" fn(host: *const larder_host, id: larder_str) -> larder_status,
    pub duplicate: unsafe extern "C" fn(host: *const larder_host, id: larder_str, out: *mut larder_str) -> larder_status,
    pub remove: unsafe extern "C" fn(host: *const larder_host, id: larder_str) -> larder_status,
}

// ext/records.h

pub const LARDER_EXT_RECORDS: &str = "larder.records/1";
pub const LARDER_RECORD_VERSION: u32 = 0x01;
pub const LARDER_RECORD_VALUE: u32 = 0x02;
pub const LARDER_RECORD_CONTENT: u32 = 0x04;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_record {
    pub struct_size: u32,
    pub reserved: u32,
    pub key: larder_str,
    pub version: larder_str,
    pub value: larder_str,
    pub content: larder_bytes,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_record_cursor {
    pub struct_size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub next: unsafe extern "C" fn(cursor: *mut larder_record_cursor, out: *mut *const larder_record) -> larder_status,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_records {
    pub struct_size: u32,
    pub reserved: u32,
    pub get: unsafe extern "C" fn(host: *const larder_host, collection: larder_str, key: larder_str, parts: u32, out: *mut larder_record) -> larder_status,
    pub open: unsafe extern "C" fn(host: *const larder_host, collection: larder_str, after: larder_str, parts: u32, out: *mut *mut larder_record_cursor) -> larder_status,
    pub close: unsafe extern "C" fn(host: *const larder_host, cursor: *mut larder_record_cursor) -> larder_status,
    pub put: unsafe extern "C" fn(host: *const larder_host, collection: larder_str, record: *const larder_record) -> larder_status,
    pub remove: unsafe extern "C" fn(host: *const larder_host, collection: larder_str, key: larder_str) -> larder_status,
}

// ext/usage.h

pub const LARDER_EXT_USAGE: &str = "larder.usage/1";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_usage_figures {
    pub struct_size: u32,
    pub reserved: u32,
    pub local_bytes: i64,
    pub local_copies: i64,
    pub free_bytes: i64,
    pub total_bytes: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct larder_usage {
    pub struct_size: u32,
    pub reserved: u32,
    pub read: unsafe extern "C" fn(host: *const larder_host, out: *mut larder_usage_figures) -> larder_status,
}
