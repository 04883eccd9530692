import LocalTree
import Model
import SyncEngine
import Synchronization
import TestSupport
import Vault

@testable import Connection

/// A server in memory that follows a test's script.
final class ScriptedSource: FileSource {
    struct File: Sendable {
        var bytes: [UInt8]
        var version: ETag
        var checksums: [ContentChecksum] = []
    }

    /// An event that happens to a request before the request is answered from the file.
    enum Step: Sendable {
        case fail(ConnectionError)
        /// An answer that sends this many bytes and then ends the connection.
        case cutOff(after: Int)
        /// An answer that shows neither version nor length, sends these bytes and then ends the connection.
        case unproven(String)
        /// A delay until the gate opens.
        case hold(Gate)
        /// An answer that sends this many bytes at once and the others when the gate opens.
        case pause(after: Int, Gate)
    }

    struct Request: Hashable, Sendable {
        var path: ItemPath
        var offset: Int64
    }

    private struct State {
        var files: [ItemPath: File] = [:]
        var script: [ItemPath: [Step]] = [:]
        var always: [ItemPath: ConnectionError] = [:]
        var requests: [Request] = []
        var underWay = 0
        var mostUnderWay = 0
    }

    private let state = Mutex(State())
    /// What the server does when it is to change something.
    let changing = ScriptedChanges()
    private let look = Mutex<(@Sendable (Request) -> Void)?>(nil)

    /// Sets a function that inspects each request when the request arrives, before it is answered.
    func each(_ look: @escaping @Sendable (Request) -> Void) { self.look.withLock { $0 = look } }

    var requests: [Request] { state.withLock { $0.requests } }
    var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }
    func requestCount(_ path: ItemPath) -> Int { requests.count { $0.path == path } }

    subscript(path: ItemPath) -> File? {
        get { state.withLock { $0.files[path] } }
        set { state.withLock { $0.files[path] = newValue } }
    }

    /// The paths of all files.
    var paths: [ItemPath] { state.withLock { $0.files.keys.sorted() } }

    func then(_ path: ItemPath, _ steps: Step...) { state.withLock { $0.script[path, default: []] += steps } }
    func failAlways(_ path: ItemPath, _ error: ConnectionError?) { state.withLock { $0.always[path] = error } }

    func get(
        _ path: ItemPath, request: DownloadRequest, into sink: some DownloadSink
    ) async throws -> DownloadSummary {
        look.withLock { $0 }?(Request(path: path, offset: request.offset))
        let step: Step? = state.withLock { state in
            state.requests.append(Request(path: path, offset: request.offset))
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
            if let error = state.always[path] { return .fail(error) }
            guard state.script[path]?.isEmpty == false else { return nil }
            return state.script[path]?.removeFirst()
        }
        defer { state.withLock { $0.underWay -= 1 } }
        var end: Int?
        var pause: (after: Int, gate: Gate)?
        switch step {
        case .fail(let error): throw error
        case .cutOff(let count): end = count
        case .unproven(let text): try breakOff(text, sink)
        case .hold(let gate):
            await gate.pass()
            try Task.checkCancellation()
        case .pause(let count, let gate): pause = (count, gate)
        case nil: break
        }
        guard let file = self[path] else { throw ConnectionError(.notFound, "\(path) is not there", status: 404) }
        if let version = request.version, version != file.version {
            throw ConnectionError(.versionChanged, "\(path) has changed on the server", status: 412)
        }
        let size = Int64(file.bytes.count)
        let head = DownloadHead(
            offset: request.offset, size: size, version: file.version, lastModified: Timestamp(seconds: 1_600_000_000),
            checksums: file.checksums, isResumable: true)
        try sink.begin(head)
        var rest = file.bytes[Int(request.offset)..<min(end ?? .max, file.bytes.count)]
        let received = Int64(rest.count)
        if let pause {
            try rest.prefix(pause.after).withUnsafeBytes { try sink.write($0) }
            rest = rest.dropFirst(pause.after)
            await pause.gate.pass()
            try Task.checkCancellation()
        }
        for start in stride(from: rest.startIndex, to: rest.endIndex, by: 1 << 16) {
            try rest[start..<min(start + 1 << 16, rest.endIndex)].withUnsafeBytes { try sink.write($0) }
        }
        if let end, end < file.bytes.count {
            throw ConnectionError(.unreachable, "downloading \(path): the answer ended at byte \(end) of \(size)")
        }
        return DownloadSummary(head: head, received: received)
    }

    private func breakOff(_ text: String, _ sink: some DownloadSink) throws {
        try sink.begin(DownloadHead(size: nil, version: .substitute(size: nil, lastModified: nil)))
        try Array(text.utf8).withUnsafeBytes { try sink.write($0) }
        throw ConnectionError(.unreachable, "the answer ended before its last chunk")
    }
}
