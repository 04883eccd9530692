use larder::{abi::*, Description, Host, Item, Processor, Result};

struct Plugin;

impl Processor for Plugin {
    /// Id, name and version; the services that it requires. The id is for good: put a domain of
    /// your own in the place of `org.example`.
    const DESCRIPTION: Description = Description::new(
        "org.example.plugin-name",
        "Plugin name",
        "1.0.0",
        &[LARDER_EXT_ACTIONS],
    );
    const KIND: &'static str = "plugin-name";
    /// What it reads of an item.
    const FIELDS: u64 = larder::mask(&[LARDER_FIELD_LOCAL_ID]);

    fn start(_host: &Host) -> Result<Self> {
        Ok(Plugin)
    }

    /// The items that it is about: favourites that are not here, or are out of date.
    fn match_condition(&mut self, _host: &Host) -> Result<Option<String>> {
        let wanted = "favorite && !removed && type == \"file\" && (cloudStatus == \"cloudOnly\" \
            || cloudStatus == \"localCopy\" && remoteVersion == \"newer\")";
        Ok(Some(wanted.to_string()))
    }

    /// For each item that meets the condition.
    fn perform_action(&mut self, host: &Host, _trigger: u32, item: &Item) -> Result<()> {
        host.actions()
            .download(item.local_id().unwrap_or(""), 0, None)
    }
}

larder::export!(processor Plugin);
