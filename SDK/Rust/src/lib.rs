//! The plugin interface of Larder for Rust.
//!
//! A plugin is a type that implements [`Processor`] or [`EventLoop`]. [`export!`] makes the library's entry function. The
//! host calls the plugin with a [`Host`], which has the services. The comments of the C headers in
//! `SDK/C/include/larder` say what each function means, which statuses it returns and in which calls it may be used. The
//! names are theirs; [`abi`] has the numbers and the raw declarations.
//!
//! - A call that returns an [`Error`] has failed: the host gets the status and the reason, and drops the requests of the
//!   call. A panic is such an error too, with [`abi::LARDER_FAILED`]; the panic's own message also goes to standard
//!   error, unless the plugin sets a hook. Do not build with `panic = "abort"`, which ends the host.
//! - What the host hands out is borrowed: it lives as long as the call, or the cursor that it came from. The compiler
//!   does not let a plugin keep it.
//! - The value of the plugin's type is made in `start` and dropped when the host stops the plugin.
//!
//! ```
//! use larder::{abi::*, quote, Description, Host, Item, Processor, Result};
//!
//! struct Rare {
//!     folder: String,
//! }
//!
//! impl Processor for Rare {
//!     const DESCRIPTION: Description =
//!         Description::new("org.example.rare", "Rare", "1.0.0", &[LARDER_EXT_ACTIONS, LARDER_EXT_CONFIG]);
//!     const KIND: &'static str = "rare";
//!     const FIELDS: u64 = larder::mask(&[LARDER_FIELD_LOCAL_ID]);
//!     const SCHEMA: Option<&'static str> =
//!         Some(r#"{"properties": {"folder": {"type": "string", "default": "/Rare"}}}"#);
//!
//!     fn start(host: &Host) -> Result<Self> {
//!         Ok(Rare { folder: host.config().text("folder")? })
//!     }
//!
//!     fn match_condition(&mut self, _host: &Host) -> Result<Option<String>> {
//!         Ok(Some(format!(r#"cloudStatus == "cloudOnly" && parentPath == {}"#, quote(&self.folder))))
//!     }
//!
//!     fn perform_action(&mut self, host: &Host, _trigger: u32, item: &Item) -> Result<()> {
//!         host.actions().download(item.local_id().unwrap_or(""), 0, None)
//!     }
//! }
//!
//! larder::export!(processor Rare);
//! ```
#![no_std]
#![warn(missing_docs)]
#![allow(clippy::should_implement_trait, clippy::declare_interior_mutable_const)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[rustfmt::skip]
pub mod abi;
mod error;
mod event_loop;
mod host;
mod item;
mod library;
mod policies;
mod processor;
mod projects;
mod records;
mod server;
mod services;
mod settings;
mod text;

pub use error::{Error, Result};
pub use event_loop::{EventLoop, Loop, LoopError, Page};
pub use host::Host;
pub use item::{Item, ItemCursor, Items, Query};
pub use library::Description;
#[doc(hidden)]
pub use library::{Library, Plugin};
pub use policies::{Policies, Policy, PolicyList};
pub use processor::Processor;
pub use projects::{NewStep, Project, ProjectUpdate, Projects, Step};
pub use records::{Record, RecordCursor, Records};
pub use server::{Dav, DavAnswer, DavEnd, DavRequest, DavResponse, Discover, Discovery, Http, HttpAnswer};
pub use services::{Actions, Cancel, Clock, Kv, Log, Usage};
pub use settings::{Config, Settings};
pub use text::{quote, quote_list};

/// Returns a mask of numbers: of fields, or of triggers.
///
/// ```
/// use larder::abi::*;
/// const FIELDS: u64 = larder::mask(&[LARDER_FIELD_PATH, LARDER_FIELD_SIZE]);
/// ```
pub const fn mask(numbers: &[u32]) -> u64 {
    let mut made = 0;
    let mut index = 0;
    while index < numbers.len() {
        made |= 1 << numbers[index];
        index += 1;
    }
    made
}

/// Returns the value of a query's `sort` for a field.
pub const fn sort_by(field: u32) -> u32 {
    field + 1
}

/// Defines the entry function of a library with these plugins. Write it once, in the library's crate, whose
/// `crate-type` is `cdylib`.
///
/// ```ignore
/// larder::export!(processor Favorites, processor Archive, event_loop Headlines);
/// ```
#[macro_export]
macro_rules! export {
    ($($kind:ident $plugin:ty),+ $(,)?) => {
        /// The entry function of the plugin's library.
        ///
        /// # Safety
        ///
        /// `out` points to a place for a pointer.
        #[no_mangle]
        pub unsafe extern "C" fn larder_plugin_entry_v1(
            _host_minor: u32,
            out: *mut *const $crate::abi::larder_module,
        ) -> $crate::abi::larder_status {
            static LIBRARY: $crate::Library = $crate::Library::new();
            unsafe extern "C" fn describe(index: u32) -> *const $crate::abi::larder_descriptor {
                LIBRARY.describe(index)
            }
            unsafe extern "C" fn create(
                id: $crate::abi::larder_str,
                host: *const $crate::abi::larder_host,
                out: *mut *const $crate::abi::larder_instance,
            ) -> $crate::abi::larder_status {
                // SAFETY: the host's arguments are passed on.
                unsafe { LIBRARY.create(id, host, out) }
            }
            LIBRARY.open(&[$($crate::Plugin::$kind::<$plugin>()),+], describe, create, out)
        }
    };
}
