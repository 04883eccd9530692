//! Removes the copies of large files some time after their last use: the larger a file, the sooner.
//!
//! The condition decides which copies go, so that the host hands over only those.

use larder::{abi::*, Description, Error, Host, Item, Processor, Result};

/// The copies that may go at all: those that a person fetched, and that neither a pin nor a claim keeps. What another
/// plugin brought here is that plugin's, and what only this machine has is no `localCopy`.
const MAY_GO: &str =
    "cloudStatus == \"localCopy\" && type == \"file\" && !removed && downloadTrigger == \"user\" \
    && availableOffline == \"none\" && !claimed";

/// How soon the copies of files above a size go.
struct Limit {
    /// In bytes.
    above: i64,
    /// How long after its last use a copy goes, in milliseconds.
    after: i64,
}

impl Limit {
    /// The condition that a file is above the size and was not used for that long. The time on the server stands in for
    /// an unknown time of last use.
    fn condition(&self) -> String {
        let limit = format!("now - duration(\"{}ms\")", self.after);
        let unused = format!("lastUsed < {limit} || lastUsed == null && (lastModified == null || lastModified < {limit})");
        format!("size > {} && ({unused})", self.above)
    }
}

struct LargeFiles {
    limits: Vec<Limit>,
}

impl LargeFiles {
    /// The limit that decides about a file: of those that it is above, the one with the shortest time.
    fn limit(&self, size: i64) -> Option<&Limit> {
        self.limits
            .iter()
            .filter(|limit| size > limit.above)
            .min_by_key(|limit| limit.after)
    }
}

impl Processor for LargeFiles {
    /// The id is for good: put a domain of your own in the place of `org.example`.
    const DESCRIPTION: Description = Description {
        summary: Some("Removes the copies of large files some time after their last use, the larger the sooner"),
        ..Description::new("org.example.large-files", "Large files", "1.0.0", &[LARDER_EXT_CONFIG, LARDER_EXT_ACTIONS])
    };
    const KIND: &'static str = "largeFiles";
    const FIELDS: u64 = larder::mask(&[
        LARDER_FIELD_LOCAL_ID,
        LARDER_FIELD_TYPE,
        LARDER_FIELD_SIZE,
        LARDER_FIELD_CLOUD_STATUS,
        LARDER_FIELD_DOWNLOAD_TRIGGER,
        LARDER_FIELD_REMOVED,
        LARDER_FIELD_AVAILABLE_OFFLINE,
        LARDER_FIELD_CLAIMS,
    ]);
    const SCHEMA: Option<&'static str> = Some(
        r#"{"properties": {"sizes": {"type": "array",
        "description": "how soon the copies of files above a size go; of several the shortest time counts",
        "default": [{"above": "100MiB", "after": "3d"}, {"above": "1GiB", "after": "1d"}],
        "items": {"type": "object", "required": ["above", "after"], "properties": {
        "above": {"type": "string", "format": "size", "minimum": 0, "description": "the size that a file is above"},
        "after": {"type": "string", "format": "duration", "minimum": 1000,
        "description": "how long after its last use a copy goes"}}}}}}"#,
    );

    fn start(host: &Host) -> Result<Self> {
        let mut limits = Vec::new();
        for size in host.config().objects("sizes")? {
            limits.push(Limit {
                above: size.integer("above")?,
                after: size.integer("after")?,
            });
        }
        Ok(LargeFiles { limits })
    }

    /// After each scan, and while the server cannot be reached: a removal needs no server.
    fn triggers(&mut self, _host: &Host) -> u32 {
        1 << LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED
            | 1 << LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES
            | 1 << LARDER_TRIGGER_TIMER
    }

    fn cleanup_condition(&mut self, _host: &Host) -> Result<Option<String>> {
        let limits: Vec<String> = self.limits.iter().map(Limit::condition).collect();
        Ok((!limits.is_empty()).then(|| format!("{MAY_GO} && ({})", limits.join(" || "))))
    }

    /// For each copy that is to go. The host passes over one that is in use.
    fn perform_cleanup(&mut self, host: &Host, _trigger: u32, item: &Item) -> Result<()> {
        let id = item
            .local_id()
            .ok_or_else(|| Error::failed("the item has no id"))?;
        host.actions()
            .remove_local_copy(id, LARDER_REMOVE_IF_UNUSED, None)
    }

    fn explain(&mut self, _host: &Host, item: &Item) -> Result<Option<String>> {
        let is_file = item.item_type() == Some(LARDER_TYPE_FILE) && !item.removed();
        let limit = match item.size().and_then(|size| self.limit(size)) {
            Some(limit)
                if is_file && item.cloud_status() != Some(LARDER_CLOUD_STATUS_CLOUD_ONLY) =>
            {
                limit
            }
            _ => return Ok(None),
        };
        let above = format!("it is larger than {}", size(limit.above));
        Ok(Some(match keeper(item) {
            Some(why) => format!("{above}, and stays, since {why}"),
            None => format!(
                "its copy goes {} after its last use, since {above}",
                duration(limit.after)
            ),
        }))
    }
}

/// Says why a copy stays, whatever its size. `None`: it may go.
fn keeper(item: &Item) -> Option<String> {
    if item.cloud_status() != Some(LARDER_CLOUD_STATUS_LOCAL_COPY) {
        return Some("only this machine has it as it is".to_string());
    }
    if item
        .available_offline()
        .unwrap_or(LARDER_AVAILABLE_OFFLINE_NONE)
        != LARDER_AVAILABLE_OFFLINE_NONE
    {
        return Some("it is pinned".to_string());
    }
    if item.claims().unwrap_or(0) != 0 {
        return Some("it is claimed".to_string());
    }
    match item.download_trigger() {
        Some("user") => None,
        other => Some(format!(
            "its copy is here for {}",
            other.unwrap_or("an unknown reason")
        )),
    }
}

/// Writes a size as the config has it.
fn size(bytes: i64) -> String {
    let units = [
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1_000_000_000, "GB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "kB"),
    ];
    in_units(bytes, &units).unwrap_or_else(|| format!("{bytes} bytes"))
}

/// Writes a duration as the config has it.
fn duration(milliseconds: i64) -> String {
    let units = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1_000, "s"),
    ];
    in_units(milliseconds, &units).unwrap_or_else(|| format!("{milliseconds}ms"))
}

/// Writes a number in the first unit of which it is a multiple.
fn in_units(number: i64, units: &[(i64, &str)]) -> Option<String> {
    let (unit, name) = units
        .iter()
        .find(|(unit, _)| number != 0 && number % unit == 0)?;
    Some(format!("{}{name}", number / unit))
}

larder::export!(processor LargeFiles);
