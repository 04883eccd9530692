use crate::abi::*;
use crate::error::{Error, Result};
use crate::host::{call, service};
use crate::text::{borrowed, ABSENT};
use alloc::string::String;
use alloc::vec::Vec;

service! {
    /// The plugin's settings by their names. A setting that is missing or null is an error with [`LARDER_NOT_FOUND`], one
    /// of another type with [`LARDER_INVALID_ARGUMENT`].
    Config, larder_config
}

impl<'a> Config<'a> {
    /// All settings, as a JSON object.
    pub fn settings(&self) -> Result<&'a str> {
        let mut out = ABSENT;
        call!(self, settings, "config", &mut out)?;
        // SAFETY: the text is borrowed until the call returns.
        Ok(unsafe { borrowed(out) }.unwrap_or("{}"))
    }

    fn object(&self) -> Result<Settings<'a>> {
        self.settings().map(|json| Settings { json })
    }

    /// The JSON of a setting: `10`, `"7d"` or `["a","b"]`.
    pub fn json(&self, name: &str) -> Result<&'a str> {
        self.object()?.json(name)
    }

    /// A whole number; also a duration in milliseconds, and a size in bytes.
    pub fn integer(&self, name: &str) -> Result<i64> {
        self.object()?.integer(name)
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<f64> {
        self.object()?.number(name)
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Result<bool> {
        self.object()?.flag(name)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<String> {
        self.object()?.text(name)
    }

    /// A list of texts.
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        self.object()?.list(name)
    }

    /// A list of objects.
    pub fn objects(&self, name: &str) -> Result<Vec<Settings<'a>>> {
        self.object()?.objects(name)
    }
}

/// Settings that belong together, by their names: an object of a list. Its errors are those of [`Config`].
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    json: &'a str,
}

impl<'a> Settings<'a> {
    /// The JSON of a setting: `10`, `"7d"` or `["a","b"]`.
    pub fn json(&self, name: &str) -> Result<&'a str> {
        match find(self.json, name) {
            None | Some("") | Some("null") => Err(Error::of("config", LARDER_NOT_FOUND)),
            Some(json) => Ok(json),
        }
    }

    /// A whole number; also a duration in milliseconds, and a size in bytes.
    pub fn integer(&self, name: &str) -> Result<i64> {
        self.json(name)?.parse().map_err(|_| wrong())
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<f64> {
        let json = self.json(name)?;
        if !json.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return Err(wrong());
        }
        json.parse().map_err(|_| wrong())
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Result<bool> {
        self.json(name)?.parse().map_err(|_| wrong())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<String> {
        read(self.json(name)?).ok_or_else(wrong)
    }

    /// A list of texts.
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        let items = items(self.json(name)?).ok_or_else(wrong)?;
        items.into_iter().map(|json| read(json).ok_or_else(wrong)).collect()
    }

    /// A list of objects.
    pub fn objects(&self, name: &str) -> Result<Vec<Settings<'a>>> {
        let items = items(self.json(name)?).ok_or_else(wrong)?;
        let object = |json: &'a str| if json.starts_with('{') { Ok(Settings { json }) } else { Err(wrong()) };
        items.into_iter().map(object).collect()
    }
}

/// Reads a JSON string. `None`: it is something else.
fn read(json: &str) -> Option<String> {
    let mut text = String::new();
    if !json.starts_with('"') {
        return None;
    }
    string(json, 0, |letter| text.push(letter));
    Some(text)
}

/// Returns the JSON of each item of a list. `None`: it is something else.
fn items(json: &str) -> Option<Vec<&str>> {
    let mut items = Vec::new();
    if !json.starts_with('[') {
        return None;
    }
    let mut at = blanks(json, 1);
    while at < json.len() && json.as_bytes()[at] != b']' {
        let end = value(json, at);
        if end == at {
            return None;
        }
        items.push(json.get(at..end)?);
        at = blanks(json, end);
        if json.as_bytes().get(at) == Some(&b',') {
            at = blanks(json, at + 1);
        }
    }
    Some(items)
}

fn wrong() -> Error {
    Error::of("config", LARDER_INVALID_ARGUMENT)
}

/// Returns the place of the first byte from `at` on that is no blank.
fn blanks(json: &str, mut at: usize) -> usize {
    while matches!(json.as_bytes().get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Reads the JSON string whose opening quote is at a place, and returns the place behind its closing one.
fn string(json: &str, at: usize, mut each: impl FnMut(char)) -> usize {
    let bytes = json.as_bytes();
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut at = at + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        if bytes[at] != b'\\' {
            let letter = json[at..].chars().next().unwrap_or('\u{fffd}');
            each(letter);
            at += letter.len_utf8();
            continue;
        }
        if let Some(first) = unit(at) {
            at += 6;
            let second = unit(at).filter(|second| first >> 10 == 0x36 && second >> 10 == 0x37);
            if second.is_some() {
                at += 6;
            }
            let number = second.map_or(first, |second| 0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff));
            each(char::from_u32(number).unwrap_or('\u{fffd}'));
            continue;
        }
        match bytes.get(at + 1) {
            Some(b'b') => each('\u{8}'),
            Some(b'f') => each('\u{c}'),
            Some(b'n') => each('\n'),
            Some(b'r') => each('\r'),
            Some(b't') => each('\t'),
            Some(b'"' | b'\\' | b'/') => each(bytes[at + 1] as char),
            _ => {
                each('\\');
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    (at + 1).min(bytes.len())
}

/// Returns the place behind the JSON value that begins at a place.
fn value(json: &str, mut at: usize) -> usize {
    let bytes = json.as_bytes();
    let mut depth = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string(json, at, |_| ()) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' | 0..=b' ' if depth == 0 => return at,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    at
}

/// Returns the JSON of a member of an object.
fn find<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let bytes = json.as_bytes();
    let mut at = blanks(json, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at = blanks(json, at + 1);
    while bytes.get(at) == Some(&b'"') {
        let mut rest = Some(name);
        at = string(json, at, |letter| rest = rest.and_then(|rest| rest.strip_prefix(letter)));
        at = blanks(json, at);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        let from = blanks(json, at + 1);
        at = value(json, from);
        if rest == Some("") {
            return json.get(from..at);
        }
        at = blanks(json, at);
        if bytes.get(at) == Some(&b',') {
            at = blanks(json, at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        let mut text = String::new();
        string(json, 0, |letter| text.push(letter));
        text
    }

    #[test]
    fn settings_are_found_by_their_names() {
        let json = r#" {"a" : 10, "nested":{"b":1,"c":"}"},"list":[{"b":2},"]",[3]],"b":-5,"\u0063":"d" , "e":null} "#;
        assert_eq!(find(json, "a"), Some("10"));
        assert_eq!(find(json, "b"), Some("-5"));
        assert_eq!(find(json, "list"), Some(r#"[{"b":2},"]",[3]]"#));
        assert_eq!(find(json, "c"), Some(r#""d""#));
        assert_eq!(find(json, "e"), Some("null"));
        assert_eq!(find(json, ""), None);
        assert_eq!(find(json, "nest"), None);
        assert_eq!(find("{}", "a"), None);
    }

    #[test]
    fn lists_are_read_item_by_item() {
        let json = r#"{"sizes": [ {"above": 5, "tags":["]","}"]} ,{ "above":-7,"name":"a" }], "none":[], "names":["a" , "b"]}"#;
        let settings = Settings { json };
        let sizes = settings.objects("sizes").unwrap();
        let above: Vec<i64> = sizes.iter().map(|size| size.integer("above").unwrap()).collect();
        assert_eq!(above, [5, -7]);
        assert_eq!(sizes[0].list("tags").unwrap(), ["]", "}"]);
        assert_eq!(sizes[1].text("name").unwrap(), "a");
        assert_eq!(sizes[0].text("name").unwrap_err().status(), LARDER_NOT_FOUND);
        assert!(settings.objects("none").unwrap().is_empty());
        assert_eq!(settings.list("names").unwrap(), ["a", "b"]);
        assert_eq!(settings.objects("names").err().unwrap().status(), LARDER_INVALID_ARGUMENT);
        assert_eq!(settings.list("sizes").err().unwrap().status(), LARDER_INVALID_ARGUMENT);
    }

    #[test]
    fn strings_are_read_as_json_has_them() {
        assert_eq!(text(r#""\"\\\/\b\f\n\r\tA\u00e9\u20ac\ud83d\ude00é€😀""#), "\"\\/\u{8}\u{c}\n\r\tAé€😀é€😀");
        assert_eq!(text(r#""\ud83dx\ude00""#), "\u{fffd}x\u{fffd}");
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        let parts: Vec<char> = "{}[]\":,\\u0019ad-tn é😀".chars().collect();
        let mut random = 1u32;
        for _ in 0..200_000 {
            let mut json = String::from("{");
            for _ in 0..random >> 16 & 15 {
                random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                json.push(parts[(random >> 16) as usize % parts.len()]);
            }
            random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let _ = find(&json, "a");
            let _ = Settings { json: &json }.objects("a");
            let _ = items(&json.replacen('{', "[", 1));
        }
    }
}
