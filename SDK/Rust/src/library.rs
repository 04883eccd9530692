use crate::abi::*;
use crate::error::Result;
use crate::event_loop::Looping;
use crate::processor::Processing;
use crate::text::{borrowed, lent, lent_or_absent, ABSENT};
use crate::{EventLoop, Host, Processor};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::mem::{size_of, take};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A plugin's identity, for the host and for people, and the services that it uses.
///
/// ```
/// use larder::{abi::*, Description};
/// const DESCRIPTION: Description = Description {
///     summary: Some("Keeps files that are older than five years"),
///     wanted: &[LARDER_EXT_LOG],
///     ..Description::new("org.example.archive", "Archive", "1.4.2", &[LARDER_EXT_ACTIONS])
/// };
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// A reversed domain: `org.example.archive`.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The plugin's own version.
    pub version: &'static str,
    /// The services without which the plugin does not start.
    pub required: &'static [&'static str],
    /// The services that the plugin uses if it gets them. The host grants no others.
    pub wanted: &'static [&'static str],
    /// The name of the author or company.
    pub vendor: Option<&'static str>,
    /// One sentence without a full stop.
    pub summary: Option<&'static str>,
}

impl Description {
    /// Makes a description of what every plugin has.
    pub const fn new(
        id: &'static str,
        name: &'static str,
        version: &'static str,
        required: &'static [&'static str],
    ) -> Self {
        Description { id, name, version, required, wanted: &[], vendor: None, summary: None }
    }

    fn descriptor(&self) -> larder_descriptor {
        // The names live as long as the library, which is never closed.
        let names = |services: &[&str]| match services {
            [] => ABSENT,
            _ => lent(Box::leak(services.join(" ").into_boxed_str())),
        };
        larder_descriptor {
            struct_size: size_of::<larder_descriptor>() as u32,
            reserved: 0,
            id: lent(self.id),
            name: lent(self.name),
            version: lent(self.version),
            vendor: lent_or_absent(self.vendor),
            summary: lent_or_absent(self.summary),
            required: names(self.required),
            wanted: names(self.wanted),
        }
    }
}

/// Makes an instance.
type Create = unsafe fn(*const larder_host) -> *const larder_instance;

/// The type of one of a library's plugins.
pub struct Plugin {
    description: Description,
    create: Create,
}

impl Plugin {
    /// The plugin of a processor's type.
    pub fn processor<P: Processor>() -> Self {
        Plugin { description: P::DESCRIPTION, create: Instance::<Processing<P>>::create }
    }

    /// The plugin of a loop's type.
    pub fn event_loop<L: EventLoop>() -> Self {
        Plugin { description: L::DESCRIPTION, create: Instance::<Looping<L>>::create }
    }
}

struct Contents {
    module: larder_module,
    plugins: Vec<(larder_descriptor, Create)>,
}

/// The plugins of a library, which the first call of the entry function makes.
pub struct Library(AtomicPtr<Contents>);

impl Library {
    /// Makes a library that is not open yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Library(AtomicPtr::new(ptr::null_mut()))
    }

    /// Hands the host the module, always the same one.
    ///
    /// # Safety
    ///
    /// `out` points to a place for a pointer.
    pub unsafe fn open(
        &self,
        plugins: &[Plugin],
        describe: unsafe extern "C" fn(u32) -> *const larder_descriptor,
        create: unsafe extern "C" fn(larder_str, *const larder_host, *mut *const larder_instance) -> larder_status,
        out: *mut *const larder_module,
    ) -> larder_status {
        if self.0.load(Ordering::Acquire).is_null() {
            let module = larder_module {
                struct_size: size_of::<larder_module>() as u32,
                abi_minor: LARDER_ABI_MINOR,
                describe,
                create,
            };
            let plugins = plugins.iter().map(|plugin| (plugin.description.descriptor(), plugin.create)).collect();
            let made = Box::into_raw(Box::new(Contents { module, plugins }));
            if self.0.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire).is_err() {
                drop(Box::from_raw(made));
            }
        }
        *out = ptr::addr_of!((*self.0.load(Ordering::Acquire)).module);
        LARDER_OK
    }

    fn plugins(&self) -> &[(larder_descriptor, Create)] {
        // SAFETY: what was stored once stays.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }.map_or(&[], |contents| &contents.plugins)
    }

    /// The descriptor with an index, or null.
    pub fn describe(&self, index: u32) -> *const larder_descriptor {
        self.plugins().get(index as usize).map_or(ptr::null(), |(descriptor, _)| descriptor)
    }

    /// Makes an instance of the plugin with an id.
    ///
    /// # Safety
    ///
    /// The arguments are those of the host.
    pub unsafe fn create(
        &self,
        id: larder_str,
        host: *const larder_host,
        out: *mut *const larder_instance,
    ) -> larder_status {
        match self.plugins().iter().find(|(descriptor, _)| borrowed(descriptor.id) == borrowed(id)) {
            Some((_, create)) => {
                *out = create(host);
                LARDER_OK
            }
            None => LARDER_NOT_FOUND,
        }
    }
}

/// A plugin at work: what the tables' functions call.
pub(crate) trait Running: Sized + Send + 'static {
    fn start(host: &Host) -> Result<Self>;
    /// The table of a feature, or null.
    fn offer(name: &str) -> *const c_void;
}

/// One plugin for one account.
struct Instance<R> {
    table: larder_instance,
    host: Host,
    running: Option<R>,
    /// The texts that the host got, and may read until its next call.
    lent: [String; 4],
}

impl<R: Running> Instance<R> {
    unsafe fn create(host: *const larder_host) -> *const larder_instance {
        let table = larder_instance {
            struct_size: size_of::<larder_instance>() as u32,
            reserved: 0,
            context: ptr::null_mut(),
            start: Self::start,
            stop: Self::stop,
            destroy: Self::destroy,
            extension: Self::extension,
        };
        let made = Box::into_raw(Box::new(Instance::<R> {
            table,
            host: Host::new(host),
            running: None,
            lent: Default::default(),
        }));
        (*made).table.context = made as *mut c_void;
        ptr::addr_of!((*made).table)
    }

    unsafe extern "C" fn start(context: *mut c_void) -> larder_status {
        let me = context as *mut Self;
        let host = &*ptr::addr_of!((*me).host);
        host.forget_tables();
        guard(host, || {
            let started = R::start(host)?;
            *ptr::addr_of_mut!((*me).running) = Some(started);
            Ok(())
        })
    }

    unsafe extern "C" fn stop(context: *mut c_void) {
        let me = context as *mut Self;
        guard(&*ptr::addr_of!((*me).host), || {
            drop((*ptr::addr_of_mut!((*me).running)).take());
            Ok(())
        });
    }

    unsafe extern "C" fn destroy(context: *mut c_void) {
        drop(Box::from_raw(context as *mut Self));
    }

    unsafe extern "C" fn extension(_context: *mut c_void, name: larder_str) -> *const c_void {
        R::offer(borrowed(name).unwrap_or(""))
    }
}

/// Runs a body as one call of the host into the plugin, from which no panic comes.
fn guard(host: &Host, body: impl FnOnce() -> Result<()>) -> larder_status {
    match caught(body) {
        Ok(()) => LARDER_OK,
        Err(error) => host.report(&error),
    }
}

#[cfg(feature = "std")]
fn caught(body: impl FnOnce() -> Result<()>) -> Result<()> {
    use crate::Error;
    use std::panic::{catch_unwind, AssertUnwindSafe};
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let message = match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => {
                let message = panic.downcast_ref::<&str>().copied().unwrap_or("a panic without a message");
                let message = String::from(message);
                // To drop what is no text could be a panic again.
                core::mem::forget(panic);
                message
            }
        };
        Err(Error::failed(message))
    })
}

#[cfg(not(feature = "std"))]
fn caught(body: impl FnOnce() -> Result<()>) -> Result<()> {
    body()
}

/// Calls what runs in an instance, if it is started.
///
/// # Safety
///
/// `context` is that of an instance of this type.
pub(crate) unsafe fn call<R: Running>(
    context: *mut c_void,
    body: impl FnOnce(&mut R, &Host) -> Result<()>,
) -> larder_status {
    let me = context as *mut Instance<R>;
    let host = &*ptr::addr_of!((*me).host);
    match &mut *ptr::addr_of_mut!((*me).running) {
        Some(running) => guard(host, || body(running, host)),
        None => LARDER_WRONG_STATE,
    }
}

/// Lends a text of the plugin to the host, until the next one of its kind.
///
/// # Safety
///
/// As for [`call`]; `out` points to a text.
pub(crate) unsafe fn lend<R: Running>(
    context: *mut c_void,
    place: usize,
    out: *mut larder_str,
    ask: impl FnOnce(&mut R, &Host) -> Result<Option<String>>,
) -> larder_status {
    call::<R>(context, |running, host| {
        let text = ask(running, host)?;
        let kept = &mut (*ptr::addr_of_mut!((*(context as *mut Instance<R>)).lent))[place];
        drop(take(kept));
        if let Some(text) = text {
            *kept = text;
            *out = lent(kept);
        }
        Ok(())
    })
}

/// Makes the table of a plugin's schema.
pub(crate) const fn schema_table(
    schema: unsafe extern "C" fn(*mut c_void, *mut larder_str) -> larder_status,
) -> larder_config_schema {
    larder_config_schema { struct_size: size_of::<larder_config_schema>() as u32, reserved: 0, schema }
}
