use crate::abi::*;
use crate::error::{check, found, Error, Result};
use crate::host::{call, service, sized};
use crate::text::{borrowed, borrowed_bytes, borrowed_list, borrowed_texts, lent, lent_bytes, lent_or_absent, ABSENT};
use crate::Host;
use alloc::vec::Vec;
use core::ptr;

service! {
    /// Requests to the account's server.
    Http, larder_http
}

impl<'a> Http<'a> {
    /// Sends a request, and waits for the head of the answer.
    pub fn open(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<HttpAnswer<'a>> {
        let headers: Vec<larder_http_header> =
            headers.iter().map(|(name, value)| larder_http_header { name: lent(name), value: lent(value) }).collect();
        let mut request = sized!(larder_http_request);
        request.header_stride = core::mem::size_of::<larder_http_header>() as u32;
        request.method = lent(method);
        request.target = lent(target);
        if !headers.is_empty() {
            request.headers = headers.as_ptr();
            request.header_count = headers.len() as u64;
        }
        request.body = lent_bytes(body);
        let mut raw = ptr::null_mut();
        call!(self, open, "http.open", &request, &mut raw)?;
        Ok(HttpAnswer { host: self.host, raw, table: self.table })
    }
}

/// An answer of the server, with any status code. Its end closes it.
pub struct HttpAnswer<'a> {
    host: &'a Host,
    raw: *mut larder_http_answer,
    table: *const larder_http,
}

impl HttpAnswer<'_> {
    /// The HTTP status code.
    pub fn code(&self) -> u32 {
        // SAFETY: the answer is open.
        unsafe { (*self.raw).status }
    }

    /// Returns the value of a header. `None`: the answer has no such header.
    pub fn header(&self, name: &str) -> Result<Option<&str>> {
        let mut out = ABSENT;
        // SAFETY: the answer is open, and the value is borrowed until it is closed.
        unsafe {
            let result = check("http_answer.header", ((*self.raw).header)(self.raw, lent(name), &mut out));
            found(result.map(|()| borrowed(out).unwrap_or("")))
        }
    }

    /// Returns the next bytes of the body, or `None` past its end.
    pub fn read(&mut self) -> Result<Option<&[u8]>> {
        let mut out = lent_bytes(None);
        // SAFETY: the answer is open, and the bytes are borrowed until the next ones.
        unsafe {
            check("http_answer.read", ((*self.raw).read)(self.raw, &mut out))?;
            Ok(borrowed_bytes(out))
        }
    }

    /// Returns the whole rest of the body. Fails with [`LARDER_LIMIT`] if it has more bytes than `most`.
    pub fn body(&mut self, most: usize) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(part) = self.read()? {
            if part.len() > most - all.len() {
                return Err(Error::new(LARDER_LIMIT, "the body of an answer is too long"));
            }
            all.extend_from_slice(part);
        }
        Ok(all)
    }
}

impl Drop for HttpAnswer<'_> {
    fn drop(&mut self) {
        // SAFETY: the answer comes from this table, and nothing is borrowed from it any more.
        unsafe { ((*self.table).close)(self.host.raw(), self.raw) };
    }
}

service! {
    /// PROPFIND and REPORT requests.
    Dav, larder_dav
}

/// A request whose answer the host parses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DavRequest<'a> {
    /// `PROPFIND` or `REPORT`.
    pub method: &'a str,
    /// A percent-encoded path from the origin's root.
    pub target: &'a str,
    /// 0 or 1.
    pub depth: u32,
    /// The names of the properties to hand out, in Clark notation: `{DAV:}getetag`.
    pub properties: &'a [&'a str],
    /// The request's XML. `None` for a PROPFIND, which asks for `properties`.
    pub body: Option<&'a str>,
    /// [`LARDER_DAV_AHEAD`] or 0.
    pub flags: u32,
}

impl<'a> Dav<'a> {
    /// Sends a request.
    pub fn open(&self, request: &DavRequest) -> Result<DavAnswer<'a>> {
        let properties: Vec<larder_str> = request.properties.iter().map(|name| lent(name)).collect();
        let mut made = sized!(larder_dav_request);
        made.depth = request.depth;
        made.method = lent(request.method);
        made.target = lent(request.target);
        made.body = lent_or_absent(request.body);
        if !properties.is_empty() {
            made.properties = properties.as_ptr();
            made.property_count = properties.len() as u64;
        }
        made.flags = request.flags;
        let mut raw = ptr::null_mut();
        call!(self, open, "dav.open", &made, &mut raw)?;
        Ok(DavAnswer { host: self.host, raw, table: self.table })
    }
}

/// An answer of the server as a stream of responses. Its end closes it.
pub struct DavAnswer<'a> {
    host: &'a Host,
    raw: *mut larder_dav_answer,
    table: *const larder_dav,
}

/// One response of a multistatus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DavResponse<'a> {
    /// The status of the whole response; 200 if it has properties.
    pub status: u32,
    /// A path from the origin's root.
    pub href: &'a str,
    /// The texts of the properties, in the order of the request; `None` where the server has none.
    pub values: Vec<Option<&'a str>>,
    /// The element names inside the response's DAV:error.
    pub error: Option<&'a str>,
}

/// The facts that are known after the last response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DavEnd<'a> {
    /// Whether the server left responses out.
    pub truncated: bool,
    /// The sync-token, if the answer has one.
    pub sync_token: Option<&'a str>,
    /// The element names inside the answer's DAV:error.
    pub error: Option<&'a str>,
}

impl DavAnswer<'_> {
    /// The HTTP status code; 0 for a request that was sent ahead, until the first response is read.
    pub fn code(&self) -> u32 {
        // SAFETY: the answer is open.
        unsafe { ptr::addr_of!((*self.raw).status).read() }
    }

    /// Returns the next response, or `None` past the last one.
    pub fn next(&mut self) -> Result<Option<DavResponse<'_>>> {
        let mut out = ptr::null();
        // SAFETY: the answer is open, and the response is borrowed until the next one.
        unsafe {
            check("dav_answer.next", ((*self.raw).next)(self.raw, &mut out))?;
            if out.is_null() {
                return Ok(None);
            }
            Ok(Some(DavResponse {
                status: (*out).status,
                href: borrowed((*out).href).unwrap_or(""),
                values: borrowed_list((*out).values, (*out).value_count),
                error: borrowed((*out).error),
            }))
        }
    }

    /// Returns the facts that are known at the end, after `next` returned `None`.
    pub fn end(&self) -> Result<DavEnd<'_>> {
        let mut out = sized!(larder_dav_end);
        // SAFETY: the answer is open, and the texts are borrowed until it is closed.
        unsafe {
            check("dav_answer.end", ((*self.raw).end)(self.raw, &mut out))?;
            Ok(DavEnd {
                truncated: out.truncated != 0,
                sync_token: borrowed(out.sync_token),
                error: borrowed(out.error),
            })
        }
    }
}

impl Drop for DavAnswer<'_> {
    fn drop(&mut self) {
        // SAFETY: the answer comes from this table, and nothing is borrowed from it any more.
        unsafe { ((*self.table).close)(self.host.raw(), self.raw) };
    }
}

service! {
    /// The addresses of the account's calendars, address books and files.
    Discover, larder_discover
}

/// The addresses that were found: percent-encoded paths from the origin's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery<'a> {
    /// The account's principal; `None` for `files`.
    pub principal: Option<&'a str>,
    /// The homes, one or more.
    pub homes: Vec<&'a str>,
}

impl<'a> Discover<'a> {
    /// Finds the homes of a service: `caldav`, `files` or, since ABI 1.5, `carddav`.
    pub fn find(&self, service: &str) -> Result<Discovery<'a>> {
        let mut out = sized!(larder_discovery);
        call!(self, find, "discover.find", lent(service), &mut out)?;
        // SAFETY: everything is borrowed until the call returns.
        Ok(unsafe {
            Discovery { principal: borrowed(out.principal), homes: borrowed_texts(out.homes, out.home_count) }
        })
    }
}
