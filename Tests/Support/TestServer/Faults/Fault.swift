/// Something that a server does wrong, for the requests that it is meant for.
public struct Fault: Sendable {
    /// What goes wrong.
    public enum Kind: Sendable {
        /// Waits before the answer.
        case delay(Duration)
        /// Does not answer until the fault is removed; with `afterBytes` the answer's head and as many bytes of its body
        /// come first.
        case hold(afterBytes: Int? = nil)
        /// Announces the whole body, closes the connection after this many bytes of it.
        case cutOff(afterBytes: Int)
        /// This status and no body; `retryAfter` is in seconds.
        case status(Int, retryAfter: Int? = nil)
        /// This status with a body that names the precondition of WebDAV that the request broke, such as
        /// `valid-sync-token`; nil names none.
        case refusal(Int, precondition: String?)
        /// This status and a body without end.
        case endless(Int)
        /// A calendar answer with this document type, `<!DOCTYPE x [<!ENTITY e …>]>`, that has `&e;` in the place of each
        /// name and sync token.
        case documentType(String)
        /// A body that is so many bytes longer or shorter than the file, and says so.
        case wrongLength(by: Int)
        /// The file's bytes, then others without end; how many there are is not said.
        case overlong
        /// A checksum that is not the file's.
        case wrongChecksum
        /// 200 and a page for people, as a log-in portal sends it.
        case page
        /// A listing that stops in the middle of a tag, with a proper end of the answer.
        case truncatedListing
        /// 207 with no response in it.
        case emptyListing
        /// The file gets another ETag just before it is read.
        case changedBeforeReading
        /// Another address, with status 307 unless said otherwise.
        case redirect(to: String, status: Int = 307)
        /// These values in a listing, in place of the properties' own, by their names without a namespace.
        case properties([String: String])
        /// These header fields, in place of the answer's own.
        case fields([String: String])
        /// More entries in a folder's listing, whose hrefs end with these bytes as they are.
        case foreignEntries([[UInt8]])
    }

    public var kind: Kind
    /// The method, or nil for every one.
    public var method: String?
    /// The item's path, `/a/b`; outside of the served tree the target's, `/status.php`; nil for every one.
    public var path: String?
    /// Whether `path` stands for all below it too.
    public var below: Bool
    /// From which of the requests that fit on, counted from 1.
    public var from: Int
    /// For how many of them; nil for all that follow.
    public var times: Int?

    public init(
        _ kind: Kind, method: String? = nil, path: String? = nil, below: Bool = false, from: Int = 1, times: Int? = nil
    ) {
        self.kind = kind
        self.method = method
        self.path = path
        self.below = below
        self.from = from
        self.times = times
    }
}

/// Names a fault that was switched on.
public struct FaultID: Hashable, Sendable {
    let number: Int
}
