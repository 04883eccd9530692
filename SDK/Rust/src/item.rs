use crate::abi::*;
use crate::error::{check, Result};
use crate::host::{call, service, sized};
use crate::text::{borrowed, lent};
use crate::Host;
use core::marker::PhantomData;
use core::ptr;

/// A borrowed file or folder. A field that the plugin did not ask for, or that has no value, is `None` or `false`.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    raw: *const larder_item,
    life: PhantomData<&'a larder_item>,
}

macro_rules! fields {
    ($($(#[$comment:meta])* $name:ident: $kind:ident $field:ident $member:ident;)+) => {
        $($(#[$comment])* pub fn $name(&self) -> fields!(@type $kind) {
            // SAFETY: the member is there if the bit of its field is set.
            unsafe { fields!(@value $kind self.has($field).then(|| ptr::addr_of!((*self.raw).$member).read())) }
        })+
    };
    (@type text) => { Option<&'a str> };
    (@type long) => { Option<i64> };
    (@type word) => { Option<u32> };
    (@type flag) => { bool };
    (@value text $value:expr) => { $value.and_then(|text| borrowed(text)) };
    (@value long $value:expr) => { $value };
    (@value word $value:expr) => { $value };
    (@value flag $value:expr) => { $value.map_or(false, |flag| flag != 0) };
}

impl<'a> Item<'a> {
    /// # Safety
    ///
    /// The item lives as long as `'a`.
    pub(crate) unsafe fn new(raw: *const larder_item) -> Self {
        Item { raw, life: PhantomData }
    }

    /// The item of the C headers.
    pub fn raw(&self) -> *const larder_item {
        self.raw
    }

    /// Whether a field has a value: `item.has(LARDER_FIELD_SIZE)`.
    pub fn has(&self, field: u32) -> bool {
        // SAFETY: every item has this member.
        unsafe { ptr::addr_of!((*self.raw).present).read() >> field & 1 == 1 }
    }

    fields! {
        /// On the server, decoded, without a closing slash.
        path: text LARDER_FIELD_PATH path;
        /// The last part of the path.
        name: text LARDER_FIELD_NAME name;
        /// The MIME type.
        mime_type: text LARDER_FIELD_MIME_TYPE mime_type;
        /// The ETag of the newest known version.
        etag: text LARDER_FIELD_ETAG etag;
        /// The server's id of the item.
        file_id: text LARDER_FIELD_FILE_ID file_id;
        /// The host's id of the item, which actions take.
        local_id: text LARDER_FIELD_LOCAL_ID local_id;
        /// The cause of the copy.
        download_trigger: text LARDER_FIELD_DOWNLOAD_TRIGGER download_trigger;
        /// The path of the folder that contains the item.
        parent_path: text LARDER_FIELD_PARENT_PATH parent_path;
        /// The owner, as the server tells it.
        owner: text LARDER_FIELD_OWNER owner;
        /// The server's letters.
        permissions: text LARDER_FIELD_PERMISSIONS permissions;
        /// The absolute path of the copy.
        local_path: text LARDER_FIELD_LOCAL_PATH local_path;
        /// A JSON list of share ids.
        shares: text LARDER_FIELD_SHARES shares;
        /// In bytes.
        size: long LARDER_FIELD_SIZE size;
        /// In nanoseconds since 1970 UTC.
        last_modified: long LARDER_FIELD_LAST_MODIFIED last_modified;
        /// In nanoseconds since 1970 UTC.
        last_used: long LARDER_FIELD_LAST_USED last_used;
        /// One of `LARDER_TYPE_…`.
        item_type: word LARDER_FIELD_TYPE r#type;
        /// One of `LARDER_CLOUD_STATUS_…`.
        cloud_status: word LARDER_FIELD_CLOUD_STATUS cloud_status;
        /// Whether the item is no longer on the server.
        removed: flag LARDER_FIELD_REMOVED removed;
        /// Whether the item is marked as a favorite on the server.
        favorite: flag LARDER_FIELD_FAVORITE favorite;
        /// One of `LARDER_REMOTE_VERSION_…`.
        remote_version: word LARDER_FIELD_REMOTE_VERSION remote_version;
        /// One of `LARDER_AVAILABLE_OFFLINE_…`.
        available_offline: word LARDER_FIELD_AVAILABLE_OFFLINE available_offline;
        /// A set of `LARDER_SYNC_…`.
        sync_activity: word LARDER_FIELD_SYNC_ACTIVITY sync_activity;
        /// A set of `LARDER_CLAIM_…`.
        claims: word LARDER_FIELD_CLAIMS claims;
    }
}

/// A stream of items. Its end closes it.
pub struct ItemCursor<'a> {
    host: &'a Host,
    /// Null: the cursor has no items.
    raw: *mut larder_item_cursor,
    /// Null: the host closes the cursor.
    table: *const larder_items,
}

impl<'a> ItemCursor<'a> {
    /// # Safety
    ///
    /// The cursor lives as long as `'a`, or is null.
    pub(crate) unsafe fn borrowing(host: &'a Host, raw: *mut larder_item_cursor) -> Self {
        ItemCursor { host, raw, table: ptr::null() }
    }

    /// Returns the next item, or `None` past the last one.
    pub fn next(&mut self) -> Result<Option<Item<'_>>> {
        if self.raw.is_null() {
            return Ok(None);
        }
        let mut out = ptr::null();
        // SAFETY: the cursor is open, and the item is borrowed until the next one.
        unsafe {
            check("cursor", ((*self.raw).next)(self.raw, &mut out))?;
            Ok(if out.is_null() { None } else { Some(Item::new(out)) })
        }
    }
}

impl Drop for ItemCursor<'_> {
    fn drop(&mut self) {
        if !self.table.is_null() {
            // SAFETY: the cursor comes from this table, and nothing is borrowed from it any more.
            unsafe { ((*self.table).close)(self.host.raw(), self.raw) };
        }
    }
}

/// A query for items.
#[derive(Clone, Copy, Default)]
pub struct Query<'a> {
    /// A text in the condition language.
    pub condition: &'a str,
    /// The fields to fill, as [`crate::mask`] makes them.
    pub fields: u64,
    /// [`crate::sort_by`] a field; 0: in no particular order.
    pub sort: u32,
    /// [`LARDER_QUERY_DESCENDING`] or 0.
    pub flags: u32,
    /// The greatest number of items; 0: all.
    pub limit: u64,
}

service! {
    /// All items that meet a condition.
    Items, larder_items
}

impl<'a> Items<'a> {
    /// Opens a cursor over the items that meet a query's condition.
    pub fn open(&self, query: &Query) -> Result<ItemCursor<'a>> {
        let mut asked = sized!(larder_query);
        asked.condition = lent(query.condition);
        asked.fields = query.fields;
        asked.sort = query.sort;
        asked.flags = query.flags;
        asked.limit = query.limit;
        let mut raw = ptr::null_mut();
        call!(self, open, "items.open", &asked, &mut raw)?;
        Ok(ItemCursor { host: self.host, raw, table: self.table })
    }
}
