use crate::abi::*;
use crate::error::Result;
use crate::library::{call, lend, schema_table, Running};
use crate::text::lent;
use crate::{Description, Host, Item, ItemCursor, PolicyList};
use alloc::string::String;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::size_of;

/// A plugin that processes items. It implements what it needs; `ext/processor.h` says when each function is called.
///
/// The host calls it on one thread at a time, perhaps on different ones. The requests of a call take effect when it
/// returns `Ok`; the host drops them after an error.
#[allow(unused_variables)]
pub trait Processor: Sized + Send + 'static {
    /// The plugin's identity and the services that it uses.
    const DESCRIPTION: Description;
    /// The kind of the policies that the processor is for: letters and digits, or the plugin's id.
    const KIND: &'static str;
    /// The fields that the processor reads of items, as [`crate::mask`] makes them. The host fills only these.
    const FIELDS: u64;
    /// The greatest number of the processor's actions that may be in progress at a time; 0: any number.
    const MAX_RECORDS: u64 = 0;
    /// The JSON Schema of the plugin's settings. `None`: it has none.
    const SCHEMA: Option<&'static str> = None;

    /// Starts the plugin.
    fn start(host: &Host) -> Result<Self>;

    /// The triggers that start a run, as a mask of `1 << LARDER_TRIGGER_…`.
    fn triggers(&mut self, host: &Host) -> u32 {
        LARDER_TRIGGERS_ALL
    }
    /// The condition of the items that the processor covers.
    fn policy_condition(&mut self, host: &Host) -> Result<Option<String>> {
        Ok(None)
    }
    /// The condition of the items for which the host calls `perform_action`.
    fn match_condition(&mut self, host: &Host) -> Result<Option<String>> {
        Ok(None)
    }
    /// The condition of the items for which the host calls `perform_cleanup`.
    fn cleanup_condition(&mut self, host: &Host) -> Result<Option<String>> {
        Ok(None)
    }
    /// Takes all policies of the processor's kind.
    fn update_policies(&mut self, host: &Host, policies: PolicyList) -> Result<()> {
        Ok(())
    }
    /// Brings policies up to date. `changed` has items only with `LARDER_TRIGGER_ITEMS_CHANGED`.
    fn preflight(&mut self, host: &Host, trigger: u32, changed: &mut ItemCursor) -> Result<()> {
        Ok(())
    }
    /// Begins the main part of a run.
    fn will_enter_trigger(&mut self, host: &Host, trigger: u32) -> Result<()> {
        Ok(())
    }
    /// Begins matching.
    fn begin_matching(&mut self, host: &Host, trigger: u32) -> Result<()> {
        Ok(())
    }
    /// Asks for actions for an item that matches.
    fn perform_action(&mut self, host: &Host, trigger: u32, item: &Item) -> Result<()> {
        Ok(())
    }
    /// Ends matching.
    fn end_matching(&mut self, host: &Host, trigger: u32) -> Result<()> {
        Ok(())
    }
    /// Begins cleanup.
    fn begin_cleanup(&mut self, host: &Host, trigger: u32) -> Result<()> {
        Ok(())
    }
    /// Asks for actions for an item that meets the cleanup condition.
    fn perform_cleanup(&mut self, host: &Host, trigger: u32, item: &Item) -> Result<()> {
        Ok(())
    }
    /// Ends cleanup.
    fn end_cleanup(&mut self, host: &Host, trigger: u32) -> Result<()> {
        Ok(())
    }
    /// Ends the run.
    fn did_pass_trigger(&mut self, host: &Host, trigger: u32) -> Result<()> {
        Ok(())
    }
    /// Says what the processor makes of an item, for `larder explain`.
    fn explain(&mut self, host: &Host, item: &Item) -> Result<Option<String>> {
        Ok(None)
    }
}

/// A processor at work.
pub(crate) struct Processing<P>(P);

impl<P: Processor> Running for Processing<P> {
    fn start(host: &Host) -> Result<Self> {
        P::start(host).map(Processing)
    }

    fn offer(name: &str) -> *const c_void {
        match name {
            LARDER_EXT_ITEM_POLICY_PROCESSOR => &Tables::<P>::PROCESSOR as *const _ as *const c_void,
            LARDER_EXT_EXPLAIN => &Tables::<P>::EXPLAIN as *const _ as *const c_void,
            LARDER_EXT_CONFIG_SCHEMA if P::SCHEMA.is_some() => &Tables::<P>::SCHEMA as *const _ as *const c_void,
            _ => core::ptr::null(),
        }
    }
}

struct Tables<P>(PhantomData<P>);

/// Defines functions of the table that call a function of the processor with a trigger alone.
macro_rules! steps {
    ($($name:ident)+) => {
        $(unsafe extern "C" fn $name(context: *mut c_void, trigger: u32) -> larder_status {
            call::<Processing<P>>(context, |running, host| running.0.$name(host, trigger))
        })+
    };
}

/// Defines functions of the table that call a function of the processor with an item.
macro_rules! items {
    ($($name:ident)+) => {
        $(unsafe extern "C" fn $name(
            context: *mut c_void,
            trigger: u32,
            item: *const larder_item,
        ) -> larder_status {
            call::<Processing<P>>(context, |running, host| running.0.$name(host, trigger, &Item::new(item)))
        })+
    };
}

/// Defines functions of the table that lend a condition to the host.
macro_rules! conditions {
    ($($name:ident $place:literal)+) => {
        $(unsafe extern "C" fn $name(context: *mut c_void, out: *mut larder_str) -> larder_status {
            lend::<Processing<P>>(context, $place, out, |running, host| running.0.$name(host))
        })+
    };
}

impl<P: Processor> Tables<P> {
    const PROCESSOR: larder_item_policy_processor = larder_item_policy_processor {
        struct_size: size_of::<larder_item_policy_processor>() as u32,
        reserved: 0,
        kind: lent(P::KIND),
        fields: P::FIELDS,
        triggers: Self::triggers,
        policy_condition: Self::policy_condition,
        match_condition: Self::match_condition,
        cleanup_condition: Self::cleanup_condition,
        update_policies: Self::update_policies,
        preflight: Self::preflight,
        will_enter_trigger: Self::will_enter_trigger,
        begin_matching: Self::begin_matching,
        perform_action: Self::perform_action,
        end_matching: Self::end_matching,
        begin_cleanup: Self::begin_cleanup,
        perform_cleanup: Self::perform_cleanup,
        end_cleanup: Self::end_cleanup,
        did_pass_trigger: Self::did_pass_trigger,
        max_records: P::MAX_RECORDS,
    };
    const EXPLAIN: larder_explain =
        larder_explain { struct_size: size_of::<larder_explain>() as u32, reserved: 0, explain: Self::explain };
    const SCHEMA: larder_config_schema = schema_table(Self::schema);

    steps! { will_enter_trigger begin_matching end_matching begin_cleanup end_cleanup did_pass_trigger }
    items! { perform_action perform_cleanup }
    conditions! { policy_condition 0 match_condition 1 cleanup_condition 2 }

    unsafe extern "C" fn triggers(context: *mut c_void) -> u32 {
        let mut wanted = 0;
        call::<Processing<P>>(context, |running, host| {
            wanted = running.0.triggers(host);
            Ok(())
        });
        wanted
    }

    unsafe extern "C" fn update_policies(context: *mut c_void, policies: *const larder_policy_list) -> larder_status {
        call::<Processing<P>>(context, |running, host| running.0.update_policies(host, PolicyList::new(policies)))
    }

    unsafe extern "C" fn preflight(
        context: *mut c_void,
        trigger: u32,
        changed: *mut larder_item_cursor,
    ) -> larder_status {
        call::<Processing<P>>(context, |running, host| {
            running.0.preflight(host, trigger, &mut ItemCursor::borrowing(host, changed))
        })
    }

    unsafe extern "C" fn explain(
        context: *mut c_void,
        item: *const larder_item,
        out: *mut larder_str,
    ) -> larder_status {
        lend::<Processing<P>>(context, 3, out, |running, host| running.0.explain(host, &Item::new(item)))
    }

    unsafe extern "C" fn schema(_context: *mut c_void, out: *mut larder_str) -> larder_status {
        *out = lent(P::SCHEMA.unwrap_or(""));
        LARDER_OK
    }
}
