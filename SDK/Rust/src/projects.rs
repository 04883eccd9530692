use crate::abi::*;
use crate::error::Result;
use crate::host::{call, service, sized};
use crate::text::{borrowed, borrowed_bytes, borrowed_texts, lent, lent_bytes, lent_or_absent, ABSENT};
use alloc::vec::Vec;
use core::mem;

/// A project at the time of the fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project<'a> {
    /// Whether a step is applied.
    pub can_undo: bool,
    /// Whether a step is not applied.
    pub can_redo: bool,
    /// In nanoseconds since 1970 UTC.
    pub created: i64,
    /// The last update, in nanoseconds since 1970 UTC.
    pub modified: i64,
    /// The number of applied steps.
    pub cursor: u64,
    /// The steps' ids in their order; empty unless asked for.
    pub step_ids: Vec<&'a str>,
    /// `None` unless asked for.
    pub user_data: Option<&'a [u8]>,
    /// The path of a folder that the plugin may change in any way.
    pub assets: &'a str,
}

/// A step of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// The step's bytes.
    pub user_data: &'a [u8],
    /// The path of a folder; empty if the step was added without assets.
    pub assets: &'a str,
}

/// A step to add.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewStep<'a> {
    /// The step's bytes.
    pub user_data: Option<&'a [u8]>,
    /// The absolute path of a folder, which the host copies.
    pub assets_source: Option<&'a str>,
}

impl NewStep<'_> {
    fn lent(&self) -> larder_project_new_step {
        let mut made = sized!(larder_project_new_step);
        made.user_data = lent_bytes(self.user_data);
        made.assets_source = lent_or_absent(self.assets_source);
        made
    }
}

/// A change of a project. The default one changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProjectUpdate<'a> {
    /// The number of applied steps after the update. `None`: it stays.
    pub cursor: Option<u64>,
    /// The ids of the steps to delete.
    pub delete: &'a [&'a str],
    /// The steps to add, in their order.
    pub add: &'a [NewStep<'a>],
    /// Replaces the project's user data.
    pub user_data: Option<&'a [u8]>,
    /// The update is made only if the project still has this `modified`; 0: in any case.
    pub if_modified: i64,
}

service! {
    /// State with steps, undo and redo. What is changed is changed at once, also if the call fails.
    Projects, larder_projects
}

impl<'a> Projects<'a> {
    /// Returns the ids of the plugin's projects. `order` is a set of `LARDER_PROJECTS_…`.
    pub fn list(&self, order: u32) -> Result<Vec<&'a str>> {
        let mut out = sized!(larder_project_ids);
        call!(self, list, "projects.list", order, &mut out)?;
        // SAFETY: the ids are borrowed until the call returns.
        Ok(unsafe { borrowed_texts(out.ids, out.count) })
    }

    /// Returns a project. `parts` is a set of [`LARDER_PROJECT_STEPS`] and [`LARDER_PROJECT_USER_DATA`].
    pub fn fetch(&self, id: &str, parts: u32) -> Result<Project<'a>> {
        let mut out = sized!(larder_project);
        call!(self, fetch, "projects.fetch", lent(id), parts, &mut out)?;
        // SAFETY: everything is borrowed until the call returns.
        Ok(unsafe {
            Project {
                can_undo: out.can_undo != 0,
                can_redo: out.can_redo != 0,
                created: out.created,
                modified: out.modified,
                cursor: out.cursor,
                step_ids: borrowed_texts(out.step_ids, out.step_count),
                user_data: borrowed_bytes(out.user_data),
                assets: borrowed(out.assets).unwrap_or(""),
            }
        })
    }

    /// Returns a step of a project.
    pub fn fetch_step(&self, id: &str, step: &str) -> Result<Step<'a>> {
        let mut out = sized!(larder_project_step);
        call!(self, fetch_step, "projects.fetch_step", lent(id), lent(step), &mut out)?;
        // SAFETY: everything is borrowed until the call returns.
        Ok(unsafe {
            Step { user_data: borrowed_bytes(out.user_data).unwrap_or(&[]), assets: borrowed(out.assets).unwrap_or("") }
        })
    }

    /// Returns the room that the plugin's projects take.
    pub fn usage(&self) -> Result<larder_project_usage> {
        let mut out = sized!(larder_project_usage);
        call!(self, usage, "projects.usage", &mut out).map(|()| out)
    }

    /// Creates a project, and returns its id.
    pub fn create(&self) -> Result<&'a str> {
        let mut out = ABSENT;
        call!(self, create, "projects.create", &mut out)?;
        // SAFETY: the id is borrowed until the call returns.
        Ok(unsafe { borrowed(out) }.unwrap_or(""))
    }

    /// Makes an update, and returns the ids of the added steps.
    pub fn update(&self, id: &str, update: &ProjectUpdate) -> Result<Vec<&'a str>> {
        let add: Vec<larder_project_new_step> = update.add.iter().map(NewStep::lent).collect();
        let delete: Vec<larder_str> = update.delete.iter().map(|id| lent(id)).collect();
        let mut made = sized!(larder_project_update);
        made.cursor = update.cursor.map_or(LARDER_PROJECT_CURSOR_STAYS, |cursor| cursor as i64);
        made.add_stride = mem::size_of::<larder_project_new_step>() as u32;
        if !add.is_empty() {
            made.add = add.as_ptr() as *const _;
            made.add_count = add.len() as u64;
        }
        if !delete.is_empty() {
            made.delete_ids = delete.as_ptr();
            made.delete_count = delete.len() as u64;
        }
        made.user_data = lent_bytes(update.user_data);
        made.if_modified = update.if_modified;
        let mut out = sized!(larder_project_ids);
        call!(self, update, "projects.update", lent(id), &made, &mut out)?;
        // SAFETY: the ids are borrowed until the call returns.
        Ok(unsafe { borrowed_texts(out.ids, out.count) })
    }

    /// Adds a step, deletes those that were undone, and returns the step's id. Without user data that of the project
    /// stays.
    pub fn add_step(&self, id: &str, step: &NewStep, user_data: Option<&[u8]>) -> Result<&'a str> {
        let mut out = ABSENT;
        call!(self, add_step, "projects.add_step", lent(id), &step.lent(), lent_bytes(user_data), &mut out)?;
        // SAFETY: the id is borrowed until the call returns.
        Ok(unsafe { borrowed(out) }.unwrap_or(""))
    }

    /// Moves the cursor one step back.
    pub fn undo(&self, id: &str) -> Result<()> {
        call!(self, undo, "projects.undo", lent(id))
    }

    /// Moves the cursor one step forward.
    pub fn redo(&self, id: &str) -> Result<()> {
        call!(self, redo, "projects.redo", lent(id))
    }

    /// Copies a project, and returns the copy's id.
    pub fn duplicate(&self, id: &str) -> Result<&'a str> {
        let mut out = ABSENT;
        call!(self, duplicate, "projects.duplicate", lent(id), &mut out)?;
        // SAFETY: the id is borrowed until the call returns.
        Ok(unsafe { borrowed(out) }.unwrap_or(""))
    }

    /// Removes a project for good.
    pub fn remove(&self, id: &str) -> Result<()> {
        call!(self, remove, "projects.remove", lent(id))
    }
}
