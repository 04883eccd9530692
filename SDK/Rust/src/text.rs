use crate::abi::*;
use alloc::string::String;
use alloc::vec::Vec;
use core::{ptr, slice, str};

/// Returns a text as a condition has it, in quotes: `path == "a \"b\""`.
///
/// ```
/// assert_eq!(larder::quote("a \"b\""), r#""a \"b\"""#);
/// ```
pub fn quote(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            '\0'..='\x1f' | '\x7f' => {
                quoted.push_str("\\x");
                quoted.push(DIGITS[letter as usize >> 4] as char);
                quoted.push(DIGITS[letter as usize & 15] as char);
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a list of texts as a condition has it behind `in`: `["a", "b"]`.
///
/// ```
/// assert_eq!(larder::quote_list(&["a", "b"]), r#"["a", "b"]"#);
/// ```
pub fn quote_list<Text: AsRef<str>>(texts: &[Text]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quote(text.as_ref())).collect();
    let mut list = String::from("[");
    list.push_str(&quoted.join(", "));
    list.push(']');
    list
}

pub(crate) const ABSENT: larder_str = larder_str { ptr: ptr::null(), len: 0 };

/// Lends a text to the host.
pub(crate) const fn lent(text: &str) -> larder_str {
    larder_str { ptr: text.as_ptr(), len: text.len() as u64 }
}

pub(crate) const fn lent_or_absent(text: Option<&str>) -> larder_str {
    match text {
        Some(text) => lent(text),
        None => ABSENT,
    }
}

pub(crate) fn lent_bytes(bytes: Option<&[u8]>) -> larder_bytes {
    bytes.map_or(larder_bytes { ptr: ptr::null(), len: 0 }, |bytes| larder_bytes {
        ptr: bytes.as_ptr(),
        len: bytes.len() as u64,
    })
}

/// Borrows a text of the host.
///
/// # Safety
///
/// The text lives as long as `'a`. The host's texts are UTF-8 (base.h, rule IV).
pub(crate) unsafe fn borrowed<'a>(text: larder_str) -> Option<&'a str> {
    if text.ptr.is_null() {
        return None;
    }
    Some(str::from_utf8_unchecked(slice::from_raw_parts(text.ptr, text.len as usize)))
}

/// Borrows bytes of the host.
///
/// # Safety
///
/// The bytes live as long as `'a`.
pub(crate) unsafe fn borrowed_bytes<'a>(bytes: larder_bytes) -> Option<&'a [u8]> {
    if bytes.ptr.is_null() {
        return None;
    }
    Some(slice::from_raw_parts(bytes.ptr, bytes.len as usize))
}

/// Borrows a list of texts of the host.
///
/// # Safety
///
/// The list and its texts live as long as `'a`.
pub(crate) unsafe fn borrowed_list<'a>(texts: *const larder_str, count: u64) -> Vec<Option<&'a str>> {
    if texts.is_null() {
        return Vec::new();
    }
    slice::from_raw_parts(texts, count as usize).iter().map(|text| borrowed(*text)).collect()
}

/// Returns the texts of a list that has no absent ones.
///
/// # Safety
///
/// As for [`borrowed_list`].
pub(crate) unsafe fn borrowed_texts<'a>(texts: *const larder_str, count: u64) -> Vec<&'a str> {
    borrowed_list(texts, count).into_iter().flatten().collect()
}
