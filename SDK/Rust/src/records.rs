use crate::abi::*;
use crate::error::{check, found, Result};
use crate::host::{call, service, sized};
use crate::text::{borrowed, borrowed_bytes, lent, lent_bytes, lent_or_absent};
use crate::Host;
use core::ptr;

/// A record. What was not asked for is empty or absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// A path or an id.
    pub key: &'a str,
    /// The server's version, such as an ETag.
    pub version: &'a str,
    /// A JSON object, or empty.
    pub value: &'a str,
    /// The thing itself.
    pub content: Option<&'a [u8]>,
}

impl Record<'_> {
    /// # Safety
    ///
    /// The record's texts live as long as the result.
    unsafe fn read(raw: *const larder_record) -> Self {
        Record {
            key: borrowed((*raw).key).unwrap_or(""),
            version: borrowed((*raw).version).unwrap_or(""),
            value: borrowed((*raw).value).unwrap_or(""),
            content: borrowed_bytes((*raw).content),
        }
    }
}

/// A stream of records in the order of their keys' bytes. Its end closes it.
pub struct RecordCursor<'a> {
    host: &'a Host,
    raw: *mut larder_record_cursor,
    table: *const larder_records,
}

impl RecordCursor<'_> {
    /// Returns the next record, or `None` past the last one.
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        let mut out = ptr::null();
        // SAFETY: the cursor is open, and the record is borrowed until the next one.
        unsafe {
            check("record_cursor.next", ((*self.raw).next)(self.raw, &mut out))?;
            Ok(if out.is_null() { None } else { Some(Record::read(out)) })
        }
    }
}

impl Drop for RecordCursor<'_> {
    fn drop(&mut self) {
        // SAFETY: the cursor comes from this table, and nothing is borrowed from it any more.
        unsafe { ((*self.table).close)(self.host.raw(), self.raw) };
    }
}

service! {
    /// The records that event loops keep. A processor only reads them. `parts` is a set of `LARDER_RECORD_…`.
    Records, larder_records
}

impl<'a> Records<'a> {
    /// Returns the asked parts of a record. `None`: there is no such record.
    pub fn get(&self, collection: &str, key: &str, parts: u32) -> Result<Option<Record<'a>>> {
        let mut out = sized!(larder_record);
        let result = call!(self, get, "records.get", lent(collection), lent(key), parts, &mut out);
        // SAFETY: the record is borrowed until the call returns.
        found(result.map(|()| unsafe { Record::read(&out) }))
    }

    /// Opens a cursor over a collection's records, or those with a key greater than `after`.
    pub fn open(&self, collection: &str, after: Option<&str>, parts: u32) -> Result<RecordCursor<'a>> {
        let mut raw = ptr::null_mut();
        call!(self, open, "records.open", lent(collection), lent_or_absent(after), parts, &mut raw)?;
        Ok(RecordCursor { host: self.host, raw, table: self.table })
    }

    /// Asks for a record as given.
    pub fn put(&self, collection: &str, record: &Record) -> Result<()> {
        let mut made = sized!(larder_record);
        made.key = lent(record.key);
        made.version = lent(record.version);
        made.value = lent(record.value);
        made.content = lent_bytes(record.content);
        call!(self, put, "records.put", lent(collection), &made)
    }

    /// Asks for the removal of a record and of everything that belongs to it.
    pub fn remove(&self, collection: &str, key: &str) -> Result<()> {
        call!(self, remove, "records.remove", lent(collection), lent(key))
    }
}
