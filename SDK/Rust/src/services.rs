use crate::abi::*;
use crate::error::{found, Result};
use crate::host::{call, service, sized};
use crate::text::{borrowed_bytes, lent, lent_bytes, lent_or_absent};
use core::ptr;

service! {
    /// Lines in the host's log. A lost line fails nothing.
    Log, larder_log
}

impl Log<'_> {
    /// Writes the reason of a decision.
    pub fn debug(&self, line: &str) {
        let _ = self.write(LARDER_LOG_DEBUG, line);
    }

    /// Writes an event.
    pub fn info(&self, line: &str) {
        let _ = self.write(LARDER_LOG_INFO, line);
    }

    /// Writes a fact that the operator may want to know.
    pub fn warning(&self, line: &str) {
        let _ = self.write(LARDER_LOG_WARNING, line);
    }

    /// Writes a problem that the operator must act on.
    pub fn error(&self, line: &str) {
        let _ = self.write(LARDER_LOG_ERROR, line);
    }

    /// Writes a line with a level, one of `LARDER_LOG_…`.
    pub fn write(&self, level: u32, line: &str) -> Result<()> {
        call!(self, write, "log.write", level, lent(line))
    }
}

service! {
    /// The time, in nanoseconds.
    Clock, larder_clock
}

impl Clock<'_> {
    /// The time since 1970 UTC. It may jump.
    pub fn now(&self) -> Result<i64> {
        let mut out = 0;
        call!(self, now, "clock", &mut out).map(|()| out)
    }

    /// The time since an unknown moment. It never goes back.
    pub fn monotonic(&self) -> Result<i64> {
        let mut out = 0;
        call!(self, monotonic, "clock", &mut out).map(|()| out)
    }
}

service! {
    /// Whether the current call should end.
    Cancel, larder_cancel
}

impl Cancel<'_> {
    /// Returns an error with [`LARDER_CANCELLED`] if the call should end.
    pub fn check(&self) -> Result<()> {
        call!(self, check, "cancel")
    }

    /// The time on [`Clock::monotonic`] at which the host gives the call up; `i64::MAX`: never.
    pub fn deadline(&self) -> Result<i64> {
        let mut out = i64::MAX;
        call!(self, deadline, "cancel", &mut out).map(|()| out)
    }
}

service! {
    /// Requests for actions. Without a key, requests are the same if they are for the same action on the same item. The
    /// changes of the server need a key and the grant `server-changes`.
    Actions, larder_actions
}

impl Actions<'_> {
    /// Asks for the file's newest version. `flags` is a set of `LARDER_DOWNLOAD_…`.
    pub fn download(&self, local_id: &str, flags: u32, key: Option<&str>) -> Result<()> {
        call!(self, download, "actions.download", lent(local_id), flags, lent_or_absent(key))
    }

    /// Asks for the removal of the local copy. `flags` is a set of `LARDER_REMOVE_…`.
    pub fn remove_local_copy(&self, local_id: &str, flags: u32, key: Option<&str>) -> Result<()> {
        call!(self, remove_local_copy, "actions.remove_local_copy", lent(local_id), flags, lent_or_absent(key))
    }

    /// Asks the host to forget an item that is no longer on the server.
    pub fn purge(&self, local_id: &str, key: Option<&str>) -> Result<()> {
        call!(self, purge, "actions.purge", lent(local_id), 0, lent_or_absent(key))
    }

    /// Asks the item list to check a path on the server now. For event loops.
    pub fn look(&self, path: &str) -> Result<()> {
        call!(self, look, "actions.look", lent(path))
    }

    /// Whether the host has the functions below. A host of ABI 1.0 does not.
    pub fn changes_server(&self) -> bool {
        // SAFETY: a table of the host begins with its size.
        !self.table.is_null()
            && unsafe { crate::host::member(self.table, ptr::addr_of!((*self.table).upload)).is_some() }
    }

    /// Asks for the creation of a folder.
    pub fn create_folder(&self, path: &str, key: &str) -> Result<()> {
        call!(self, create_folder, "actions.create_folder", lent(path), 0, lent(key))
    }

    /// Asks for the move of an item to a path at which there is nothing.
    pub fn r#move(&self, local_id: &str, target: &str, key: &str) -> Result<()> {
        call!(self, r#move, "actions.move", lent(local_id), lent(target), 0, lent(key))
    }

    /// Asks for a copy of an item at a path at which there is nothing.
    pub fn copy(&self, local_id: &str, target: &str, key: &str) -> Result<()> {
        call!(self, copy, "actions.copy", lent(local_id), lent(target), 0, lent(key))
    }

    /// Asks for the deletion of an item on the server.
    pub fn remove_from_server(&self, local_id: &str, key: &str) -> Result<()> {
        call!(self, remove_from_server, "actions.remove_from_server", lent(local_id), 0, lent(key))
    }

    /// Asks to make an item a favorite, or to end that.
    pub fn set_favorite(&self, local_id: &str, is_favorite: bool, key: &str) -> Result<()> {
        call!(self, set_favorite, "actions.set_favorite", lent(local_id), is_favorite as u32, 0, lent(key))
    }

    /// Asks for the upload of a file among the assets of one of the plugin's projects. `flags` is a set of
    /// `LARDER_UPLOAD_…`.
    pub fn upload(&self, project: &str, file: &str, path: &str, flags: u32, key: &str) -> Result<()> {
        call!(self, upload, "actions.upload", lent(project), lent(file), lent(path), flags, lent(key))
    }
}

service! {
    /// The room that local copies take, and the room that is left.
    Usage, larder_usage
}

impl Usage<'_> {
    /// Returns the figures. The first two stay the same during a run.
    pub fn read(&self) -> Result<larder_usage_figures> {
        let mut out = sized!(larder_usage_figures);
        call!(self, read, "usage.read", &mut out).map(|()| out)
    }
}

service! {
    /// A small store of the plugin's own.
    Kv, larder_kv
}

impl<'a> Kv<'a> {
    /// Returns the value of a key. `None`: it has none.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<&'a [u8]>> {
        let mut out = lent_bytes(None);
        let result = call!(self, get, "kv.get", lent_bytes(Some(key.as_ref())), &mut out);
        // SAFETY: the value is borrowed until the call returns.
        found(result.map(|()| unsafe { borrowed_bytes(out) }.unwrap_or(&[])))
    }

    /// Asks for a new value of a key.
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        call!(self, put, "kv.put", lent_bytes(Some(key.as_ref())), lent_bytes(Some(value.as_ref())))
    }

    /// Asks for the removal of a key's value.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<()> {
        call!(self, remove, "kv.remove", lent_bytes(Some(key.as_ref())))
    }
}
