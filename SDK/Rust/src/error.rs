use crate::abi::*;
use alloc::string::String;
use core::fmt;

/// The failure of a call: a status for the host, and a sentence for people.
///
/// With the feature `std`, `?` makes one with [`LARDER_FAILED`] of any error of the standard library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    status: larder_status,
    why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    Unsaid,
    /// A function of the host failed.
    Function(&'static str),
    Message(String),
}

/// The result of a call.
pub type Result<Value> = core::result::Result<Value, Error>;

impl Error {
    /// Makes an error with a status of [`crate::abi`] and a message: one sentence without a full stop.
    pub fn new(status: larder_status, message: impl Into<String>) -> Self {
        Error { status, why: Why::Message(message.into()) }
    }

    /// Makes an error with [`LARDER_FAILED`].
    pub fn failed(message: impl Into<String>) -> Self {
        Error::new(LARDER_FAILED, message)
    }

    /// Makes an error without a message.
    pub fn from_status(status: larder_status) -> Self {
        Error { status, why: Why::Unsaid }
    }

    /// Makes the error of a function of the host.
    pub(crate) fn of(function: &'static str, status: larder_status) -> Self {
        Error { status, why: Why::Function(function) }
    }

    /// The status, a negative number.
    pub fn status(&self) -> larder_status {
        self.status
    }

    /// Whether there is a message.
    pub(crate) fn is_said(&self) -> bool {
        self.why != Why::Unsaid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::Message(message) => return out.write_str(message),
            Why::Function(function) => write!(out, "the host's {} failed: ", function)?,
            Why::Unsaid => {}
        }
        match reason(self.status) {
            Some(reason) => out.write_str(reason),
            None => write!(out, "status {}", self.status),
        }
    }
}

#[cfg(feature = "std")]
impl<Other: std::error::Error> From<Other> for Error {
    fn from(other: Other) -> Self {
        use alloc::string::ToString;
        Error::failed(other.to_string())
    }
}

/// Returns an error unless a function of the host returned [`LARDER_OK`].
pub(crate) fn check(function: &'static str, status: larder_status) -> Result<()> {
    if status == LARDER_OK {
        Ok(())
    } else {
        Err(Error::of(function, status))
    }
}

/// Returns `None` where a function of the host found nothing.
pub(crate) fn found<Value>(result: Result<Value>) -> Result<Option<Value>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.status == LARDER_NOT_FOUND => Ok(None),
        Err(error) => Err(error),
    }
}

fn reason(status: larder_status) -> Option<&'static str> {
    Some(match status {
        LARDER_FAILED => "the operation could not be done",
        LARDER_INVALID_ARGUMENT => "an argument is invalid",
        LARDER_NOT_FOUND => "not found",
        LARDER_ALREADY_EXISTS => "it exists already",
        LARDER_CONFLICT => "it changed since it was read",
        LARDER_DENIED => "it is not allowed",
        LARDER_UNSUPPORTED => "it is not offered",
        LARDER_LIMIT => "a limit is reached",
        LARDER_CANCELLED => "the call should end",
        LARDER_IO => "reading or writing failed",
        LARDER_WRONG_THREAD => "this is the wrong thread",
        LARDER_WRONG_STATE => "it is not allowed in this call",
        _ => return None,
    })
}
