use crate::abi::*;
use crate::error::{Error, Result};
use crate::library::{call, schema_table, Running};
use crate::text::{borrowed, lent, lent_or_absent};
use crate::{Description, Host};
use alloc::boxed::Box;
use alloc::string::String;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr;

/// A loop in the current call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop<'a> {
    /// The key of its record; the kind, if the plugin has one loop.
    pub id: &'a str,
    /// Its position. `None`: no position is known.
    pub event_id: Option<&'a str>,
}

/// What a poll or a refresh found: the position after it, and what the loop itself needs to process it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page<Content> {
    /// The loop's position after this page; for a refresh the anchor.
    pub event_id: String,
    /// The loop's own.
    pub content: Content,
    /// The parts of the cache that are too old: 0, bits, or [`LARDER_REFRESH_EVERYTHING`].
    pub refresh: u32,
    /// Whether there is more after this page.
    pub more: bool,
}

/// The reason why a turn of a loop failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopError<'a> {
    /// One of `LARDER_LOOP_…`.
    pub code: u32,
    /// A status for the failure, as far as the host knows one.
    pub status: larder_status,
    /// A sentence for people.
    pub message: &'a str,
}

/// A plugin that polls a server for news. `ext/event-loop.h` says what a turn is.
#[allow(unused_variables)]
pub trait EventLoop: Sized + Send + 'static {
    /// What a page has for `process`.
    type Content: Send + 'static;
    /// The plugin's identity and the services that it uses.
    const DESCRIPTION: Description;
    /// The kind of the plugin's loops: letters and digits, or the plugin's id.
    const KIND: &'static str;
    /// The collection of which each record is a loop. `None`: the plugin has one loop.
    const COLLECTION: Option<&'static str> = None;
    /// The bits of a page's `refresh` for which the host calls `refresh` one by one.
    const REFRESH_BITS: u32 = 0;
    /// The hints that concern the loops: a set of `LARDER_HINT_…`.
    const HINTS: u32 = 0;
    /// The JSON Schema of the plugin's settings. `None`: it has none.
    const SCHEMA: Option<&'static str> = None;

    /// Starts the plugin.
    fn start(host: &Host) -> Result<Self>;

    /// Asks the server for changes since the event id, which is there.
    fn poll(&mut self, host: &Host, which: &Loop) -> Result<Page<Self::Content>>;
    /// Applies a page to the records.
    fn process(&mut self, host: &Host, which: &Loop, page: &Page<Self::Content>) -> Result<()>;
    /// Takes a new anchor, then fetches what `what` says. `refresh` of the result means nothing.
    fn refresh(&mut self, host: &Host, which: &Loop, what: u32) -> Result<Page<()>>;
    /// Tells the loop why a turn failed.
    fn on_error(&mut self, host: &Host, which: &Loop, error: &LoopError) {}
}

/// An event loop at work.
pub(crate) struct Looping<L>(L);

impl<L: EventLoop> Running for Looping<L> {
    fn start(host: &Host) -> Result<Self> {
        L::start(host).map(Looping)
    }

    fn offer(name: &str) -> *const c_void {
        match name {
            LARDER_EXT_EVENT_LOOP => &Tables::<L>::LOOP as *const _ as *const c_void,
            LARDER_EXT_CONFIG_SCHEMA if L::SCHEMA.is_some() => &Tables::<L>::SCHEMA as *const _ as *const c_void,
            _ => ptr::null(),
        }
    }
}

/// What a page of the host points to, until it is released.
enum Held<Content> {
    Page(Page<Content>),
    Anchor(Page<()>),
}

impl<Content> Held<Content> {
    unsafe fn hand_out(self, out: *mut larder_event_page) {
        let held = Box::into_raw(Box::new(self));
        let (event_id, refresh, more) = match &*held {
            Held::Page(page) => (&page.event_id, page.refresh, page.more),
            Held::Anchor(page) => (&page.event_id, 0, page.more),
        };
        (*out).event_id = lent(event_id);
        (*out).refresh = refresh;
        (*out).more = more as u32;
        (*out).content = held as *mut c_void;
    }
}

unsafe fn read<'a>(which: *const larder_loop) -> Loop<'a> {
    Loop { id: borrowed((*which).id).unwrap_or(""), event_id: borrowed((*which).event_id) }
}

struct Tables<L>(PhantomData<L>);

impl<L: EventLoop> Tables<L> {
    const LOOP: larder_event_loop = larder_event_loop {
        struct_size: size_of::<larder_event_loop>() as u32,
        refresh_bits: L::REFRESH_BITS,
        kind: lent(L::KIND),
        collection: lent_or_absent(L::COLLECTION),
        hints: L::HINTS,
        reserved: 0,
        poll: Self::poll,
        process: Self::process,
        refresh: Self::refresh,
        on_error: Self::on_error,
        release_page: Self::release_page,
    };
    const SCHEMA: larder_config_schema = schema_table(Self::schema);

    unsafe extern "C" fn poll(
        context: *mut c_void,
        which: *const larder_loop,
        out: *mut larder_event_page,
    ) -> larder_status {
        call::<Looping<L>>(context, |running, host| {
            let page = running.0.poll(host, &read(which))?;
            Held::Page(page).hand_out(out);
            Ok(())
        })
    }

    unsafe extern "C" fn process(
        context: *mut c_void,
        which: *const larder_loop,
        page: *const larder_event_page,
    ) -> larder_status {
        call::<Looping<L>>(context, |running, host| match ((*page).content as *const Held<L::Content>).as_ref() {
            Some(Held::Page(page)) => running.0.process(host, &read(which), page),
            _ => Err(Error::new(LARDER_INTERNAL, "the host passed a page that is not one of a poll")),
        })
    }

    unsafe extern "C" fn refresh(
        context: *mut c_void,
        which: *const larder_loop,
        what: u32,
        out: *mut larder_event_page,
    ) -> larder_status {
        call::<Looping<L>>(context, |running, host| {
            let anchor = running.0.refresh(host, &read(which), what)?;
            Held::<L::Content>::Anchor(anchor).hand_out(out);
            Ok(())
        })
    }

    unsafe extern "C" fn on_error(context: *mut c_void, which: *const larder_loop, error: *const larder_loop_error) {
        call::<Looping<L>>(context, |running, host| {
            let message = borrowed((*error).message).unwrap_or("");
            let error = LoopError { code: (*error).code, status: (*error).status, message };
            running.0.on_error(host, &read(which), &error);
            Ok(())
        });
    }

    unsafe extern "C" fn release_page(context: *mut c_void, page: *mut larder_event_page) {
        call::<Looping<L>>(context, |_, _| {
            let held = core::mem::replace(&mut (*page).content, ptr::null_mut()) as *mut Held<L::Content>;
            if !held.is_null() {
                drop(Box::from_raw(held));
            }
            Ok(())
        });
    }

    unsafe extern "C" fn schema(_context: *mut c_void, out: *mut larder_str) -> larder_status {
        *out = lent(L::SCHEMA.unwrap_or(""));
        LARDER_OK
    }
}
