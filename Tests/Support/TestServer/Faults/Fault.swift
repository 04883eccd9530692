public import DemoServer

/// A fault of the server, and the requests that it applies to.
public struct Fault: Sendable {
    /// The kinds of faults.
    public enum Kind: Sendable {
        /// A pause before the answer.
        case delay(Duration)
        /// No answer until the fault is removed. With `afterBytes` the answer's head and that many bytes of its body
        /// come first.
        case hold(afterBytes: Int? = nil)
        /// A connection that closes after this many bytes of the body, although the head announces the whole body.
        case cutOff(afterBytes: Int)
        /// This status, and no body unless `xml` is one; `retryAfter` is in seconds. The request is not executed.
        case status(Int, retryAfter: Int? = nil, xml: String? = nil)
        /// This status in place of the answer to a request that was executed.
        case statusAfterwards(Int)
        /// A connection that closes without an answer, after the request was executed or before.
        case lostAnswer(executed: Bool)
        /// A connection that closes after the server has read this many bytes of the request's body, or all of a
        /// shorter one. A resumable upload keeps these bytes; nothing else is written.
        case cutRequest(afterBytes: Int)
        /// A server that reads no more of the request's body after this many bytes, or after all of a shorter one,
        /// until the fault is removed.
        case holdRequest(afterBytes: Int)
        /// An `Upload-Offset` that differs from the true one by this.
        case wrongOffset(by: Int)
        /// A resumable upload that expires just before the request.
        case uploadExpired
        /// This status, with a body that names the WebDAV precondition that the request violated, such as
        /// `valid-sync-token`; nil names none.
        case refusal(Int, precondition: String?)
        /// This status and a body without end.
        case endless(Int)
        /// A calendar answer with this document type, `<!DOCTYPE x [<!ENTITY e …>]>`, and with `&e;` in place of each
        /// name and sync token.
        case documentType(String)
        /// A body that is this many bytes longer than the file, or shorter if negative. The announced length is that of
        /// the body.
        case wrongLength(by: Int)
        /// The file's bytes, followed by other bytes without end. The length is not announced.
        case overlong
        /// A checksum that is not the file's.
        case wrongChecksum
        /// Status 200 and an HTML page, as a log-in portal sends it.
        case page
        /// A listing that stops in the middle of a tag, while the HTTP answer ends properly.
        case truncatedListing
        /// Status 207 without any response in the body.
        case emptyListing
        /// A new ETag for the file just before the file is read.
        case changedBeforeReading
        /// A redirect to another address, by default with status 307.
        case redirect(to: String, status: Int = 307)
        /// These values in a listing, in place of the properties' own, by property names without a namespace.
        case properties([String: String])
        /// These header fields, in place of the answer's own.
        case fields([String: String])
        /// A request of which the server does a part. Of what a COPY, MOVE or DELETE goes through, this many files are
        /// done, in the order of their paths; of a PUT, this many bytes are written. Of other methods, nothing is done.
        case part(Int, PartEnding)
        /// What another client does to the tree just before the server executes the request.
        case othersBefore(@Sendable (Tree) -> Void)
        /// What another client does to the tree just after the server has executed the request, before the answer.
        case othersAfter(@Sendable (Tree) -> Void)
        /// Additional entries in a folder's listing, whose hrefs end with exactly these bytes.
        case foreignEntries([[UInt8]])
    }

    /// The ways in which the server answers a request of which it has done a part.
    public enum PartEnding: Sendable {
        /// A connection that closes without an answer.
        case hangup
        /// This status, and no body.
        case status(Int)
        /// Status 207, with status 423 for the first item that was not done, as RFC 4918 has it (sections 9.6.1 and
        /// 9.8.8).
        case failures
    }

    /// The kind of the fault.
    public var kind: Kind
    /// The method that the fault applies to; nil for every method.
    public var method: String?
    /// The path that the fault applies to: an item's path such as `/a/b`, or outside the served tree a target's path
    /// such as `/status.php`; nil for every path.
    public var path: String?
    /// Whether the fault also applies to everything below `path`.
    public var below: Bool
    /// The first matching request that the fault applies to, counted from 1.
    public var from: Int
    /// The number of matching requests that the fault applies to; nil for all that follow.
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

/// The identity of a fault that was switched on.
public struct FaultID: Hashable, Sendable {
    let number: Int
}
