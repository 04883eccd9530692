use crate::abi::*;
use crate::error::Error;
use crate::text::lent;
use alloc::string::ToString;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

/// The host, as one plugin sees it for one account. It is lent to each call of the plugin.
///
/// A service that the host does not have, or that the operator withholds, is there all the same: its functions return
/// [`LARDER_UNSUPPORTED`], and [`Host::has`] tells. So does a function that an older host lacks.
pub struct Host {
    raw: *const larder_host,
    /// The tables that the plugin asked for so far, in the order of [`NAMES`].
    tables: [Cell<Option<*const c_void>>; NAMES.len()],
}

const NAMES: [&str; 14] = [
    LARDER_EXT_LOG,
    LARDER_EXT_CLOCK,
    LARDER_EXT_CANCEL,
    LARDER_EXT_CONFIG,
    LARDER_EXT_ITEMS,
    LARDER_EXT_ACTIONS,
    LARDER_EXT_POLICIES,
    LARDER_EXT_USAGE,
    LARDER_EXT_KV,
    LARDER_EXT_RECORDS,
    LARDER_EXT_PROJECTS,
    LARDER_EXT_HTTP,
    LARDER_EXT_DAV,
    LARDER_EXT_DISCOVER,
];

impl Host {
    pub(crate) fn new(raw: *const larder_host) -> Self {
        const UNASKED: Cell<Option<*const c_void>> = Cell::new(None);
        Host { raw, tables: [UNASKED; NAMES.len()] }
    }

    /// The host of the C headers.
    pub fn raw(&self) -> *const larder_host {
        self.raw
    }

    /// The minor version of the host's ABI.
    pub fn abi_minor(&self) -> u32 {
        // SAFETY: the host outlives the instance.
        unsafe { (*self.raw).abi_minor }
    }

    /// Returns the table of a service by its name, or null if the host has no such service or it is withheld.
    pub fn extension(&self, name: &str) -> *const c_void {
        // SAFETY: the host outlives the instance.
        unsafe { ((*self.raw).extension)(self.raw, lent(name)) }
    }

    /// Whether the host has a service and grants it: `host.has(LARDER_EXT_LOG)`.
    pub fn has(&self, name: &'static str) -> bool {
        match NAMES.iter().position(|known| *known == name) {
            Some(index) => !self.table(index).is_null(),
            None => !self.extension(name).is_null(),
        }
    }

    fn table(&self, index: usize) -> *const c_void {
        if let Some(known) = self.tables[index].get() {
            return known;
        }
        let table = self.extension(NAMES[index]);
        self.tables[index].set(Some(table));
        table
    }

    /// Asks for each table anew.
    pub(crate) fn forget_tables(&self) {
        self.tables.iter().for_each(|table| table.set(None));
    }

    /// Tells the host why the current call fails, and returns the status.
    pub(crate) fn report(&self, error: &Error) -> larder_status {
        let status = if error.status() == LARDER_OK { LARDER_FAILED } else { error.status() };
        if error.is_said() {
            let message = error.to_string();
            // SAFETY: the host copies the message.
            unsafe { ((*self.raw).fail)(self.raw, status, lent(&message)) }
        }
        status
    }
}

macro_rules! services {
    ($($(#[$comment:meta])* $name:ident: $service:ident, $index:expr;)+) => {
        impl Host {
            $($(#[$comment])* pub fn $name(&self) -> crate::$service<'_> {
                crate::$service { host: self, table: self.table($index) as *const _ }
            })+
        }
    };
}

services! {
    /// Lines in the host's log.
    log: Log, 0;
    /// The time.
    clock: Clock, 1;
    /// Whether the current call should end.
    cancel: Cancel, 2;
    /// The plugin's settings.
    config: Config, 3;
    /// All items that meet a condition.
    items: Items, 4;
    /// Requests for actions.
    actions: Actions, 5;
    /// The policies of the processor's kind.
    policies: Policies, 6;
    /// The room that local copies take.
    usage: Usage, 7;
    /// A small store of the plugin's own.
    kv: Kv, 8;
    /// The records that event loops keep.
    records: Records, 9;
    /// State with steps, undo and redo.
    projects: Projects, 10;
    /// Requests to the account's server.
    http: Http, 11;
    /// PROPFIND and REPORT requests.
    dav: Dav, 12;
    /// The addresses of the account's calendars, address books and files.
    discover: Discover, 13;
}

/// Returns a member of a table of the host, or nothing if there is no table or it ends before the member.
///
/// # Safety
///
/// `table` is null, or points to a table that begins with its size; `member` is the address of its member.
pub(crate) unsafe fn member<Table, Member: Copy>(table: *const Table, member: *const Member) -> Option<Member> {
    let end = (member as usize).wrapping_sub(table as usize) + core::mem::size_of::<Member>();
    if (*(table as *const u32) as usize) < end {
        return None;
    }
    Some(ptr::read(member))
}

/// Calls a function of a service, with its name for errors.
macro_rules! call {
    ($service:expr, $function:ident, $name:literal $(, $argument:expr)*) => {{
        let (host, table) = ($service.host.raw(), $service.table);
        // SAFETY: the table lives as long as the instance, and a table of the host begins with its size. The arguments
        // live until the function returns.
        let status = unsafe {
            if table.is_null() {
                $crate::abi::LARDER_UNSUPPORTED
            } else {
                match $crate::host::member(table, core::ptr::addr_of!((*table).$function)) {
                    Some(function) => function(host $(, $argument)*),
                    None => $crate::abi::LARDER_UNSUPPORTED,
                }
            }
        };
        $crate::error::check($name, status)
    }};
}

/// Makes a struct of the ABI with its size and zeros.
macro_rules! sized {
    ($type:ident) => {{
        // SAFETY: the struct has numbers and pointers only, for which zeros are a value.
        #[allow(unused_unsafe)]
        let mut made: $crate::abi::$type = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<$crate::abi::$type>() as u32;
        made
    }};
}

/// Defines a service: the host's table, borrowed with the host.
macro_rules! service {
    ($(#[$comment:meta])* $name:ident, $table:ident) => {
        $(#[$comment])*
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            pub(crate) host: &'a $crate::Host,
            pub(crate) table: *const $crate::abi::$table,
        }
    };
}

pub(crate) use {call, service, sized};
