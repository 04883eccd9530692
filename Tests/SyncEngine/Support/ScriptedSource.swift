import Foundation
import LocalTree
import Model
import SyncEngine
import Synchronization
import TestSupport
import Threads
import Transfer
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
    /// Whether small files are downloaded in batches. With the variable `LARDER_TEST_BATCHES=0` in the environment each
    /// test downloads every file by itself.
    let takesBatches: Bool
    private let batched = Mutex(0)
    /// The number of files that were answered in batches.
    var batchedCount: Int { batched.withLock(\.self) }

    init(takesBatches: Bool = ProcessInfo.processInfo.environment["LARDER_TEST_BATCHES"] != "0") {
        self.takesBatches = takesBatches
    }

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

    // MARK: Batches

    func download(_ batch: FileBatch, for receiver: any FileBatchReceiver) -> (any FileBatchRun)? {
        guard takesBatches else { return nil }
        let run = Run()
        Task(executorPreference: Workplace.single ?? BlockingExecutor.common) {
            for file in batch.files.indices {
                var start = FileBatchStart.later
                while case .later = start {
                    if run.isStopped.load(ordering: .acquiring) { return receiver.ended() }
                    start = receiver.mayStart(file)
                    if case .later = start { await run.news.wait() }
                }
                guard case .now = start else { continue }
                let end = await self.answer(file, of: batch, for: receiver)
                // As a connection does, it requests nothing more after an answer that may be that of all others too.
                if case .first(let answer) = end, answer.concernsAll { run.stop() }
                receiver.end(file, at: 0, end)
            }
            receiver.ended()
        }
        return run
    }

    private final class Run: FileBatchRun {
        let isStopped = Atomic(false)
        let news = Signal()
        func goOn() { news.send() }
        func stop() {
            isStopped.store(true, ordering: .releasing)
            news.send()
        }
        func end(_ file: Int) {}
        func cancel() { stop() }
    }

    /// Answers the request of a file of a batch. If the script has a step for the file, or the file is not the requested
    /// one, the batch gets no answer, and the file's next request meets the script.
    private func answer(_ file: Int, of batch: FileBatch, for receiver: any FileBatchReceiver) async -> FileBatchEnd {
        let path = batch.path(of: file)
        let (found, fails): (File?, Bool) = state.withLock { state in
            var fails = state.always[path] != nil
            if case .fail? = state.script[path]?.first { fails = true }
            guard state.always[path] == nil, state.script[path]?.isEmpty ?? true, let found = state.files[path],
                found.version == batch.version(of: file), found.bytes.count == Int(batch.files[file].size),
                found.checksums.isEmpty
            else { return (nil, fails) }
            return (found, false)
        }
        let other: FileBatchEnd =
            fails ? .first(FirstAnswer(.failure(.closed), .none, generation: 0, leave: nil)) : .brokenOff
        guard let found, receiver.begin(file, at: 0, sha1: nil) else { return other }
        state.withLock { state in
            state.requests.append(Request(path: path, offset: 0))
            state.mostUnderWay = max(state.mostUnderWay, state.underWay + 1)
        }
        batched.withLock { $0 += 1 }
        look.withLock { $0 }?(Request(path: path, offset: 0))
        for start in stride(from: 0, to: found.bytes.count, by: 1 << 16) {
            let isTaken = found.bytes[start..<min(start + 1 << 16, found.bytes.count)].withUnsafeBytes {
                receiver.take($0, of: file, at: 0)
            }
            guard isTaken else { return .brokenOff }
        }
        return .complete
    }

    private func breakOff(_ text: String, _ sink: some DownloadSink) throws {
        try sink.begin(DownloadHead(size: nil, version: .substitute(size: nil, lastModified: nil)))
        try Array(text.utf8).withUnsafeBytes { try sink.write($0) }
        throw ConnectionError(.unreachable, "the answer ended before its last chunk")
    }
}
