use larder::{abi::*, Description, Error, EventLoop, Host, Loop, Page, Record, Result};

const ID: &str = "org.example.plugin-name";
/// What the server answers about: a line with the newest event id, and a line for each thing that is new since the one
/// in the address.
const FEED: &str = "/apps/plugin-name/since/";

struct Plugin;

impl EventLoop for Plugin {
    /// The keys of what is new.
    type Content = Vec<String>;
    /// Id, name and version; the services that it requires. The id is for good: put a domain of
    /// your own in the place of `org.example`.
    const DESCRIPTION: Description = Description::new(
        ID,
        "Plugin name",
        "1.0.0",
        &[LARDER_EXT_HTTP, LARDER_EXT_RECORDS],
    );
    const KIND: &'static str = ID;

    fn start(_host: &Host) -> Result<Self> {
        Ok(Plugin)
    }

    /// Asks the server. Changes nothing: what it found is the page.
    fn poll(&mut self, host: &Host, which: &Loop) -> Result<Page<Vec<String>>> {
        ask(host, which.event_id.unwrap_or("0"))
    }

    /// Keeps a record for each line. The host commits them together with the page's event id.
    fn process(&mut self, host: &Host, _which: &Loop, page: &Page<Vec<String>>) -> Result<()> {
        for key in &page.content {
            host.records().put(
                ID,
                &Record {
                    key,
                    value: "{}",
                    ..Record::default()
                },
            )?;
        }
        Ok(())
    }

    /// Fetches everything.
    fn refresh(&mut self, host: &Host, which: &Loop, _what: u32) -> Result<Page<()>> {
        let page = ask(host, "0")?;
        self.process(host, which, &page)?;
        Ok(Page {
            event_id: page.event_id,
            ..Page::default()
        })
    }
}

/// Asks what is new since an event id. An error is not absence: whatever is no news fails.
fn ask(host: &Host, since: &str) -> Result<Page<Vec<String>>> {
    let mut answer = host
        .http()
        .open("GET", &format!("{FEED}{since}"), &[], None)?;
    match answer.code() {
        200 => {}
        // The host asks again a day later.
        404 => return Err(Error::new(LARDER_UNSUPPORTED, "the server has no news")),
        code => return Err(Error::new(LARDER_IO, format!("the server answered {code}"))),
    }
    let body = String::from_utf8(answer.body(1 << 20)?)?;
    let no_id = || Error::new(LARDER_IO, "the news have no newest id");
    let (event_id, rest) = body
        .split_once('\n')
        .filter(|(id, _)| !id.is_empty())
        .ok_or_else(no_id)?;
    let content = rest
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_string)
        .collect();
    Ok(Page {
        event_id: event_id.to_string(),
        content,
        ..Page::default()
    })
}

larder::export!(event_loop Plugin);
