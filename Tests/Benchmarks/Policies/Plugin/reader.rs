//! The processor of reader.c, by the crate for Rust.
use larder::{abi::*, *};

struct Reader {
    matching: String,
    rows: i64,
    sum: i64,
}

impl Processor for Reader {
    const DESCRIPTION: Description =
        Description::new("org.example.reader", "Reader", "1.0.0", &[LARDER_EXT_CONFIG, LARDER_EXT_LOG]);
    const KIND: &'static str = "reader";
    const FIELDS: u64 = mask(&[LARDER_FIELD_PATH, LARDER_FIELD_SIZE, LARDER_FIELD_LAST_USED]);
    const SCHEMA: Option<&'static str> =
        Some(r#"{"properties": {"match": {"type": "string", "default": "true"}}}"#);

    fn start(host: &Host) -> Result<Self> {
        Ok(Reader { matching: host.config().text("match")?, rows: 0, sum: 0 })
    }

    fn match_condition(&mut self, _host: &Host) -> Result<Option<String>> {
        Ok(Some(self.matching.clone()))
    }

    fn begin_matching(&mut self, _host: &Host, _trigger: u32) -> Result<()> {
        (self.rows, self.sum) = (0, 0);
        Ok(())
    }

    fn perform_action(&mut self, _host: &Host, _trigger: u32, item: &Item) -> Result<()> {
        self.rows += 1;
        if let Some(path) = item.path() {
            self.sum += path.len() as i64 + path.as_bytes().first().map_or(0, |&byte| i64::from(byte));
        }
        self.sum += item.size().unwrap_or(0) + item.last_used().unwrap_or(0);
        Ok(())
    }

    fn end_matching(&mut self, host: &Host, _trigger: u32) -> Result<()> {
        host.log().info(&format!("{} {}", self.rows, self.sum));
        Ok(())
    }
}

export!(processor Reader);
