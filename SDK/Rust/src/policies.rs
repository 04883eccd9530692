use crate::abi::*;
use crate::error::Result;
use crate::host::{call, service, sized};
use crate::text::{borrowed, borrowed_bytes, lent, lent_bytes, lent_or_absent};
use core::marker::PhantomData;
use core::{mem, ptr};

/// A policy. To add one, write what it has: `Policy { condition: Some("favorite"), ..Policy::default() }`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy<'a> {
    /// The revision, which rises with each update.
    pub revision: i64,
    /// A UUID.
    pub id: Option<&'a str>,
    /// The kind of the processor.
    pub kind: Option<&'a str>,
    /// A stable name.
    pub identifier: Option<&'a str>,
    /// For people.
    pub description: Option<&'a str>,
    /// The items that the policy is for.
    pub condition: Option<&'a str>,
    /// The processor's own.
    pub path: Option<&'a str>,
    /// The processor's own.
    pub local_id: Option<&'a str>,
    /// The host removes the policy when a finished scan leaves no item that meets it.
    pub remove_when_none: Option<&'a str>,
    /// The processor's own.
    pub data: Option<&'a [u8]>,
}

impl<'a> Policy<'a> {
    /// Reads a policy by rule I: what is beyond its size is absent.
    ///
    /// # Safety
    ///
    /// The policy lives as long as `'a`.
    unsafe fn read(raw: *const larder_policy) -> Self {
        let mut copy = sized!(larder_policy);
        let size = (*(raw as *const u32) as usize).min(mem::size_of::<larder_policy>());
        ptr::copy_nonoverlapping(raw as *const u8, ptr::addr_of_mut!(copy) as *mut u8, size);
        Policy {
            revision: copy.revision,
            id: borrowed(copy.id),
            kind: borrowed(copy.kind),
            identifier: borrowed(copy.identifier),
            description: borrowed(copy.description),
            condition: borrowed(copy.condition),
            path: borrowed(copy.path),
            local_id: borrowed(copy.local_id),
            remove_when_none: borrowed(copy.remove_when_none),
            data: borrowed_bytes(copy.data),
        }
    }

    fn lent(&self) -> larder_policy {
        let mut made = sized!(larder_policy);
        made.revision = self.revision;
        made.id = lent_or_absent(self.id);
        made.kind = lent_or_absent(self.kind);
        made.identifier = lent_or_absent(self.identifier);
        made.description = lent_or_absent(self.description);
        made.condition = lent_or_absent(self.condition);
        made.path = lent_or_absent(self.path);
        made.local_id = lent_or_absent(self.local_id);
        made.remove_when_none = lent_or_absent(self.remove_when_none);
        made.data = lent_bytes(self.data);
        made
    }
}

/// A borrowed list of policies, oldest first: `for policy in policies`.
#[derive(Clone, Copy)]
pub struct PolicyList<'a> {
    next: *const u8,
    stride: usize,
    left: usize,
    life: PhantomData<&'a larder_policy>,
}

impl PolicyList<'_> {
    /// # Safety
    ///
    /// The list's policies live as long as the result.
    pub(crate) unsafe fn new(raw: *const larder_policy_list) -> Self {
        PolicyList {
            next: (*raw).policies as *const u8,
            stride: (*raw).stride as usize,
            left: (*raw).count as usize,
            life: PhantomData,
        }
    }
}

impl<'a> Iterator for PolicyList<'a> {
    type Item = Policy<'a>;

    fn next(&mut self) -> Option<Policy<'a>> {
        if self.left == 0 {
            return None;
        }
        let policy = self.next as *const larder_policy;
        self.left -= 1;
        self.next = self.next.wrapping_add(self.stride);
        // SAFETY: the list has this policy.
        Some(unsafe { Policy::read(policy) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for PolicyList<'_> {}

service! {
    /// The policies of the processor's kind. `flags` is [`LARDER_POLICY_QUIET`] or 0.
    Policies, larder_policies
}

impl<'a> Policies<'a> {
    /// Returns the policies at the start of the run.
    pub fn list(&self) -> Result<PolicyList<'a>> {
        let mut out = sized!(larder_policy_list);
        call!(self, list, "policies.list", &mut out)?;
        // SAFETY: the list is borrowed until the call returns.
        Ok(unsafe { PolicyList::new(&out) })
    }

    /// Asks for a new policy, which has a condition.
    pub fn add(&self, policy: &Policy, flags: u32) -> Result<()> {
        call!(self, add, "policies.add", &policy.lent(), flags)
    }

    /// Asks for new values of the policy with this id and revision.
    pub fn update(&self, policy: &Policy, flags: u32) -> Result<()> {
        call!(self, update, "policies.update", &policy.lent(), flags)
    }

    /// Asks for the removal of the policy with this id and revision.
    pub fn remove(&self, id: &str, revision: i64, flags: u32) -> Result<()> {
        call!(self, remove, "policies.remove", lent(id), revision, flags)
    }
}
