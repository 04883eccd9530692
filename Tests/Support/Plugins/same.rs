//! A small processor that same.c, same.cpp and same.swift also are: each call does the same in each language.
use larder::{abi::*, *};

struct Same {
    folder: String,
    largest: i64,
    policy_count: usize,
}

impl Processor for Same {
    const DESCRIPTION: Description = Description {
        wanted: &[LARDER_EXT_LOG],
        ..Description::new(
            "org.example.same",
            "Same",
            "1.0.0",
            &[LARDER_EXT_CONFIG, LARDER_EXT_ACTIONS, LARDER_EXT_KV, LARDER_EXT_ITEMS, LARDER_EXT_POLICIES],
        )
    };
    const KIND: &'static str = "same";
    const FIELDS: u64 = mask(&[LARDER_FIELD_LOCAL_ID, LARDER_FIELD_PATH, LARDER_FIELD_SIZE]);
    const MAX_RECORDS: u64 = 20;
    const SCHEMA: Option<&'static str> = Some(
        r#"{"properties": {"folder": {"type": "string", "default": "/it \"is\""}, "largest": {"type": "string", "format": "size", "default": "1kB"}}}"#,
    );

    fn start(host: &Host) -> Result<Self> {
        let folder = host.config().text("folder")?;
        let largest = host.config().integer("largest")?;
        if largest == 0 {
            return Err(Error::new(LARDER_INVALID_ARGUMENT, "nothing is as small as 0 bytes"));
        }
        Ok(Same { folder, largest, policy_count: 0 })
    }

    fn policy_condition(&mut self, _host: &Host) -> Result<Option<String>> {
        Ok(Some("favorite".into()))
    }

    fn match_condition(&mut self, _host: &Host) -> Result<Option<String>> {
        Ok(Some(format!(r#"type == "file" && !removed && parentPath == {}"#, quote(&self.folder))))
    }

    fn cleanup_condition(&mut self, _host: &Host) -> Result<Option<String>> {
        Ok(Some(r#"cloudStatus == "localCopy""#.into()))
    }

    fn update_policies(&mut self, _host: &Host, policies: PolicyList) -> Result<()> {
        self.policy_count = policies.len();
        Ok(())
    }

    fn preflight(&mut self, host: &Host, _trigger: u32, changed: &mut ItemCursor) -> Result<()> {
        while let Some(item) = changed.next()? {
            host.log().info(&format!("changed: {}", item.path().unwrap_or("")));
        }
        Ok(())
    }

    fn will_enter_trigger(&mut self, host: &Host, trigger: u32) -> Result<()> {
        let mut runs = String::from_utf8_lossy(host.kv().get("runs")?.unwrap_or(b"")).into_owned();
        runs.push('|');
        host.kv().put("runs", &runs)?;
        let query = Query {
            condition: r#"type == "folder""#,
            fields: mask(&[LARDER_FIELD_PATH]),
            sort: sort_by(LARDER_FIELD_PATH),
            ..Query::default()
        };
        let mut folders = host.items().open(&query)?;
        let mut count = 0;
        while folders.next()?.is_some() {
            count += 1;
        }
        let policies = self.policy_count;
        host.log().info(&format!("trigger {trigger}, runs {runs}, policies {policies}, folders {count}"));
        if policies > 0 {
            return Ok(());
        }
        let policy = Policy { condition: Some("favorite"), identifier: Some("same"), ..Policy::default() };
        host.policies().add(&policy, 0)
    }

    fn perform_action(&mut self, host: &Host, _trigger: u32, item: &Item) -> Result<()> {
        let path = item.path().unwrap_or("");
        if item.size() > Some(self.largest) {
            return Err(Error::new(LARDER_LIMIT, format!("{path} is too large")));
        }
        let key = format!("get:{path}");
        host.actions().download(item.local_id().unwrap_or(""), LARDER_DOWNLOAD_WHILE_COVERED, Some(&key))
    }

    fn perform_cleanup(&mut self, host: &Host, _trigger: u32, item: &Item) -> Result<()> {
        host.actions().remove_local_copy(item.local_id().unwrap_or(""), LARDER_REMOVE_IF_UNUSED, None)
    }

    fn end_cleanup(&mut self, host: &Host, _trigger: u32) -> Result<()> {
        host.actions().download("nobody", 0, None)
    }

    fn explain(&mut self, _host: &Host, item: &Item) -> Result<Option<String>> {
        Ok((item.size() > Some(self.largest)).then(|| "it is too large".into()))
    }
}

export!(processor Same);
