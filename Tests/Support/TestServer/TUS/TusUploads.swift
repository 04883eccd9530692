import DemoServer
import Digests
import HTTPTypes
import Synchronization

/// What a server says of its resumable uploads.
public struct TusSettings: Sendable {
    /// The largest body of a PATCH in bytes that the server asks for; 0 for no limit.
    public var largestChunk = 10_000_000
    /// The method that clients are asked to name in `X-HTTP-Method-Override`; empty for none.
    public var methodOverride = ""
    /// The seconds after which an upload that is not complete is dropped.
    public var lifetime: Int64 = 86_400
    /// Whether clients can drop an upload.
    public var terminates = false

    public init() {}
}

/// A resumable upload that is not complete.
struct TusUpload: Sendable {
    /// The request for the file that the upload becomes, with the conditions of the request that created the upload.
    let request: WriteRequest
    let length: Int
    /// The file's modification time in seconds since 1970; nil for the time of the upload's end.
    let modified: Int64?
    /// The file's checksum, as the client gave it.
    let checksum: Checksum?
    /// The time in seconds since 1970 at which the upload is dropped.
    var end: Int64
    var spool: Spool
    /// Whether a request is adding to the upload.
    var isBusy = false
}

/// The resumable uploads of a server.
final class TusUploads: Sendable {
    /// The reason why an upload cannot be had.
    enum Absence: Error {
        case unknown, expired, busy
    }

    private let all = Mutex<[String: TusUpload]>([:])

    /// The number of uploads that are neither complete nor dropped.
    var count: Int { all.withLock(\.count) }

    /// Makes an upload expire.
    func expire(_ id: String) { all.withLock { $0[id]?.end = .min } }

    /// Adds an upload, and drops those that have expired.
    /// - Returns: The upload's id.
    func add(_ upload: TusUpload, now: Int64) -> String {
        let id = hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        all.withLock { all in
            all = all.filter { $0.value.end > now || $0.value.isBusy }
            all[id] = upload
        }
        return id
    }

    func upload(_ id: String, now: Int64) throws(Absence) -> TusUpload {
        try all.withLock { (all) throws(Absence) in
            guard let upload = all[id] else { throw .unknown }
            guard upload.end > now else { throw .expired }
            return upload
        }
    }

    /// Returns an upload to add bytes to. Nobody else can add to it until ``giveBack(_:_:)``.
    func take(_ id: String, now: Int64) throws(Absence) -> TusUpload {
        try all.withLock { (all) throws(Absence) in
            guard let upload = all[id] else { throw .unknown }
            guard upload.end > now else { throw .expired }
            guard !upload.isBusy else { throw .busy }
            all[id]?.isBusy = true
            return upload
        }
    }

    /// Ends the adding to an upload, of which these are the bytes now.
    func giveBack(_ id: String, _ spool: Spool) {
        all.withLock { all in
            all[id]?.spool = spool
            all[id]?.isBusy = false
        }
    }

    func remove(_ id: String) { all.withLock { $0[id] = nil } }
}
