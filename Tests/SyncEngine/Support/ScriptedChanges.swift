import Model
import SyncEngine
import Synchronization
import TestSupport
import Threads
import Transfer

@testable import Connection

/// The folders of a server in memory, what it was asked to change, and what happens to the next requests.
final class ScriptedChanges: Sendable {
    /// An event that happens to the next request that changes something.
    enum Step: Sendable {
        /// The request does not reach the server.
        case fail
        /// The server does what it was asked, and its answer is lost.
        case loseAnswer
        /// The request is lost on its way, but nobody can tell.
        case loseRequest
        /// The request is lost on its way, nobody can tell, and somebody else writes.
        case loseRequestThen(@Sendable () -> Void)
        case refuse(WriteRefusal)
        /// A delay until the gate opens.
        case hold(Gate)
        /// The server does this much, and answers nothing until the request is ended.
        case hang(doing: Int)
        /// The server does what it was asked, and a proxy says that it did nothing.
        case deny
        /// The server does this much, and its answer is lost: so many entries of a tree, so many bytes of a file.
        case doPart(Int)
        /// A web page with status 200 comes, whether or not the server does what it was asked.
        case page(isDone: Bool)
        /// The server does what it was asked, a web page with status 200 comes, and as many questions are not answered.
        case pageThenSilence(questions: Int)
        /// An answer that says that all is done comes, and the server does nothing.
        case claim
        /// An answer that says that all is done comes, and the server does this much.
        case claimPart(Int)
        /// An answer that says that all is done comes, and the server has done something else.
        case claimThen(@Sendable () -> Void)
        /// Somebody else writes before the request arrives.
        case before(@Sendable () -> Void)
        /// The server does what it was asked, its answer is lost, and somebody else writes.
        case loseAnswerThen(@Sendable () -> Void)
    }

    struct State: Sendable {
        var folders: Set<ItemPath> = [.root]
        var favorites: Set<ItemPath> = []
        /// The modification times that were set.
        var times: [ItemPath: Timestamp] = [:]
        /// Whether the server takes modification times and does not keep them.
        var ignoresTimes = false
        var requests: [String] = []
        var steps: [Step] = []
        var versions = 0
        var givesETagsOnPut = true
        /// Whether the server keeps only the first byte of an upload.
        var keepsLess = false
        /// The number of questions to come that are not answered.
        var unanswered = 0
        /// The error of a question that is not answered.
        var lackOfAnswer = ConnectionError(.unreachable, "the server does not answer")
        /// The address that an upload gets when it is begun; nil for none.
        var begins: String?
        /// The addresses of begun uploads with which uploads came.
        var begun: [String?] = []
        /// The addresses of the uploads that were to be dropped.
        var terminated: [String] = []
        /// The folders that are calendars.
        var calendars: Set<ItemPath> = []
        /// What listings name and tell nothing of.
        var leftOut: Set<ItemPath> = []
        /// The names in listings that cannot be kept here, by their folders.
        var refused: [ItemPath: UnusableEntry] = [:]
        /// Whether listings leave out names that begin with a dot.
        var hidesDotNames = false
        /// The server's name, which tells its manners.
        var name = "Apache"
        /// Called when a PUT arrives.
        var onPut: (@Sendable (ItemPath) -> Void)?
        /// The number of files that were uploaded in batches.
        var batched = 0
    }

    let state = Mutex(State())

    /// What the server was asked to change, such as `MKCOL /a`.
    var requests: [String] { state.withLock { $0.requests } }

    func then(_ steps: Step...) { state.withLock { $0.steps += steps } }
    func addFolder(_ path: ItemPath) { state.withLock { _ = $0.folders.insert(path) } }
    func has(folder: ItemPath) -> Bool { state.withLock { $0.folders.contains(folder) } }

    func newVersion() -> ETag {
        state.withLock { state in
            state.versions += 1
            return ETag(opaque: "w\(state.versions)", strength: .strong)
        }
    }
}

extension ScriptedSource: ChangeServer {
    private static var lost: ConnectionError {
        var error = ConnectionError(.unreachable, "the answer was lost")
        error.mayHaveArrived = true
        return error
    }

    private func carryOut(
        _ request: String, _ body: (_ first: Int) -> WriteOutcome
    ) async throws(ConnectionError) -> WriteOutcome {
        let step: ScriptedChanges.Step? = changing.state.withLock { state in
            state.requests.append(request)
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        switch step {
        case .fail: throw ConnectionError(.unreachable, "the server does not answer")
        case .loseAnswer:
            _ = body(.max)
            throw Self.lost
        case .loseAnswerThen(let other):
            _ = body(.max)
            other()
            throw Self.lost
        case .doPart(let first):
            _ = body(first)
            throw Self.lost
        case .page(let isDone):
            if isDone { _ = body(.max) }
            var error = ConnectionError(.protocolViolation, "a page came")
            error.mayHaveArrived = true
            return .unclear(error)
        case .pageThenSilence(let questions):
            _ = body(.max)
            changing.state.withLock { $0.unanswered = questions }
            var error = ConnectionError(.protocolViolation, "a page came")
            error.mayHaveArrived = true
            return .unclear(error)
        case .claim: return .done(WriteAnswer(status: 201))
        case .claimPart(let first):
            _ = body(first)
            return .done(WriteAnswer(status: 201))
        case .claimThen(let other):
            other()
            return .done(WriteAnswer(status: 201))
        case .before(let other): other()
        case .loseRequest: throw Self.lost
        case .loseRequestThen(let other):
            other()
            throw Self.lost
        case .refuse(let refusal): return .refused(refusal)
        case .hold(let gate): await gate.pass()
        case .hang(let first):
            if first > 0 { _ = body(first) }
            await Gate().pass()
            throw Self.lost
        case .deny:
            _ = body(.max)
            throw ConnectionError(.serverError, "the server is overloaded", status: 503)
        case nil: break
        }
        return body(.max)
    }

    private func exists(_ path: ItemPath) -> Bool { changing.has(folder: path) || self[path] != nil }

    func makeFolder(_ path: ItemPath) async throws(ConnectionError) -> WriteOutcome {
        try await carryOut("MKCOL \(path)") { _ in
            guard !exists(path) else { return .refused(.exists) }
            guard changing.has(folder: path.parent) else { return .refused(.parentMissing) }
            changing.addFolder(path)
            return .done(WriteAnswer(status: 201))
        }
    }

    func delete(_ path: ItemPath, isFolder: Bool, version: ETag?) async throws(ConnectionError) -> WriteOutcome {
        try await carryOut("DELETE \(path)") { first in
            guard exists(path) else { return .refused(.notFound) }
            if let version, self[path]?.version != version { return .refused(.versionChanged) }
            for file in paths.filter({ $0 == path || path.isAncestor(of: $0) }).prefix(first) { self[file] = nil }
            guard first == .max else { return .refused(.conflict) }
            changing.state.withLock { state in
                state.folders = state.folders.filter { $0 != path && !path.isAncestor(of: $0) }
            }
            return .done(WriteAnswer(status: 204))
        }
    }

    private func put(_ from: ItemPath, to: ItemPath, removing: Bool, first: Int) -> WriteOutcome {
        guard exists(from) else { return .refused(.notFound) }
        guard !exists(to) else { return .refused(.exists) }
        guard changing.has(folder: to.parent) else { return .refused(.parentMissing) }
        changing.state.withLock { state in
            for folder in state.folders where folder == from || from.isAncestor(of: folder) {
                state.folders.insert(folder.moved(from: from, to: to))
                if removing, first == .max { state.folders.remove(folder) }
            }
        }
        for file in paths.filter({ $0 == from || from.isAncestor(of: $0) }).prefix(first) {
            self[file.moved(from: from, to: to)] = self[file]
            if removing { self[file] = nil }
        }
        return .done(WriteAnswer(status: 201))
    }

    func move(_ from: ItemPath, to: ItemPath, isFolder: Bool) async throws(ConnectionError) -> WriteOutcome {
        try await carryOut("MOVE \(from) \(to)") { put(from, to: to, removing: true, first: $0) }
    }

    func copy(_ from: ItemPath, to: ItemPath, isFolder: Bool) async throws(ConnectionError) -> WriteOutcome {
        try await carryOut("COPY \(from) \(to)") { put(from, to: to, removing: false, first: $0) }
    }

    func setFavorite(_ path: ItemPath, _ isFavorite: Bool) async throws(ConnectionError) -> WriteOutcome {
        try await carryOut("PROPPATCH \(path) \(isFavorite)") { _ in
            changing.state.withLock { state in
                if isFavorite { state.favorites.insert(path) } else { state.favorites.remove(path) }
            }
            return .done(WriteAnswer(status: 207))
        }
    }

    func setModificationTime(
        _ path: ItemPath, _ time: Timestamp, version: ETag?
    ) async throws(ConnectionError) -> WriteOutcome {
        try await carryOut("PROPPATCH \(path) \(time)") { _ in
            guard var file = self[path] else { return .refused(.notFound) }
            if let version, file.version != version { return .refused(.versionChanged) }
            guard !changing.state.withLock({ $0.ignoresTimes }) else { return .done(WriteAnswer(status: 207)) }
            file.version = changing.newVersion()
            self[path] = file
            changing.state.withLock { $0.times[path] = time }
            return .done(WriteAnswer(status: 207))
        }
    }

    func terminate(_ upload: ResumableUpload) async {
        changing.state.withLock { $0.terminated.append(upload.address) }
    }

    func upload(
        _ path: ItemPath, _ request: UploadRequest, from source: some UploadSource,
        resuming resumption: UploadResumption, after first: FirstAnswer?,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> WriteOutcome {
        changing.state.withLock { $0.begun.append(resumption.begun?.address) }
        if let address = changing.state.withLock({ $0.begins }) {
            try await resumption.note(ResumableUpload(address: address, path: path, base: nil))
        }
        var bytes = [UInt8](repeating: 0, count: Int(source.size))
        do {
            let count = try bytes.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
            precondition(count == bytes.count)
        } catch {
            throw ConnectionError(.badRequest, "\(error)")
        }
        progress(Int64(bytes.count))
        changing.state.withLock { $0.onPut }?(path)
        return try await carryOut("PUT \(path)") { [bytes] first in put(bytes, path, request, first: first) }
    }

    private func put(
        _ bytes: [UInt8], _ path: ItemPath, _ request: UploadRequest, first: Int = .max
    ) -> WriteOutcome {
        let there = self[path]?.version
        switch request.base {
        case .new where exists(path): return .refused(.exists)
        case .version(let version) where there != version: return .refused(.versionChanged)
        case .new, .version: break
        }
        guard changing.has(folder: path.parent) else { return .refused(.parentMissing) }
        let version = changing.newVersion()
        let kept = Array(bytes.prefix(changing.state.withLock { $0.keepsLess } ? 1 : first))
        self[path] = File(bytes: kept, version: version)
        let tells = changing.state.withLock { $0.givesETagsOnPut }
        return .done(WriteAnswer(status: 201, etag: tells ? version : nil))
    }

    func confirm(
        _ upload: AnsweredUpload, among entries: @Sendable () async -> Int
    ) async throws(ConnectionError) -> ConfirmedUpload {
        let held = try await held(at: upload.path)
        return (.ofUpload(upload.request, answer: upload.answer, shown: held), held)
    }

    // MARK: Batches

    var takesUploadBatches: Bool { takesBatches }

    func mayUploadInBatch(_ file: BatchedUpload) -> Bool { true }

    /// Uploads files one after the other. If the script has a step, the batch gets no answer, and the file's next request
    /// meets the script.
    func upload(_ files: [BatchedUpload], for receiver: any UploadBatchReceiver) -> (any FileBatchRun)? {
        guard takesBatches else { return nil }
        let run = UploadRun()
        Task(executorPreference: Workplace.single ?? BlockingExecutor.common) {
            for (number, file) in files.enumerated() {
                guard !run.isStopped.load(ordering: .acquiring) else { break }
                guard receiver.mayStart(number) else { continue }
                var bytes = [UInt8](repeating: 0, count: Int(file.request.size))
                guard bytes.withUnsafeMutableBytes({ receiver.read(number, into: $0) }) else {
                    receiver.end(number, .unread)
                    continue
                }
                self.changing.state.withLock { $0.onPut }?(file.path)
                guard !run.isEnded(number) else {
                    receiver.end(number, .cancelled)
                    continue
                }
                let isOrdinary = self.changing.state.withLock { $0.steps.isEmpty && $0.begins == nil }
                if isOrdinary, case .done(let answer) = self.put(bytes, file.path, file.request) {
                    self.changing.state.withLock { state in
                        state.requests.append("PUT \(file.path)")
                        state.begun.append(nil)
                        state.batched += 1
                    }
                    receiver.end(number, .made(answer))
                } else {
                    let lost = FirstAnswer(.failure(.closed), .none, generation: 0, leave: nil)
                    // As a connection does, it sends nothing more after an answer that may be that of all others too.
                    run.stop()
                    receiver.end(number, .first(lost))
                }
            }
            receiver.ended()
        }
        return run
    }

    private final class UploadRun: FileBatchRun {
        let isStopped = Atomic(false)
        private let ended = Mutex<Set<Int>>([])
        func goOn() {}
        func stop() { isStopped.store(true, ordering: .releasing) }
        func end(_ file: Int) { ended.withLock { _ = $0.insert(file) } }
        func isEnded(_ file: Int) -> Bool { ended.withLock { $0.contains(file) } }
        func cancel() { stop() }
    }

    func confirm(
        in folder: ItemPath, _ uploads: [AnsweredUpload], among entries: @Sendable () async -> Int
    ) async -> [ItemPath: ConfirmedUpload] {
        guard changing.state.withLock({ $0.unanswered == 0 }) else { return [:] }
        var found: [ItemPath: ConfirmedUpload] = [:]
        for upload in uploads {
            guard let item = item(at: upload.path) else { continue }
            let held = HeldItem(item: item)
            found[upload.path] = (.ofUpload(upload.request, answer: upload.answer, shown: held), held)
        }
        return found
    }

    var writingManners: WritingManners {
        let name = changing.state.withLock { $0.name }
        return WritingManners(server: name, isFamily: false, isModDav: name == "Apache")
    }

    func held(at path: ItemPath) async throws(ConnectionError) -> HeldItem? {
        let error = changing.state.withLock { state in
            defer { state.unanswered = max(0, state.unanswered - 1) }
            return state.unanswered == 0 ? nil : state.lackOfAnswer
        }
        if let error { throw error }
        let isForeign = changing.state.withLock { $0.calendars.contains(path) }
        return item(at: path).map { HeldItem(item: $0, isForeign: isForeign) }
    }

    func leavesOutDotNames() async throws(ConnectionError) -> Bool {
        changing.state.withLock { $0.hidesDotNames }
    }

    private func item(at path: ItemPath) -> ListedItem? {
        if changing.has(folder: path) { return ListedItem(path: path, kind: .folder) }
        return self[path].map {
            ListedItem(
                path: path, kind: .file, etag: $0.version, size: Int64($0.bytes.count),
                lastModified: changing.state.withLock { $0.times[path] },
                isFavorite: changing.state.withLock { $0.favorites.contains(path) })
        }
    }

    func list(
        _ folder: ItemPath, depth: Depth, onBatch: ([ListedItem]) async throws -> Void
    ) async throws -> Listing {
        guard let found = item(at: folder) else {
            throw ConnectionError(.notFound, "\(folder) is not there", status: 404)
        }
        let state = changing.state.withLock { $0 }
        var inside = (paths + state.folders.sorted()).filter { $0 != .root && $0.parent == folder }.compactMap(item)
        if state.calendars.contains(folder) { return Listing(folder: found, isForeign: true) }
        let foreign = inside.map(\.path).filter(state.calendars.contains)
        let leftOut = inside.map(\.path).filter(state.leftOut.contains)
        if state.hidesDotNames { inside.removeAll { $0.path.name.hasPrefix(".") } }
        inside.removeAll { state.calendars.contains($0.path) || state.leftOut.contains($0.path) }
        try await onBatch(inside)
        let refused = state.refused[folder].map { [$0] } ?? []
        return Listing(
            folder: found, entries: inside.count, refused: refused, foreign: foreign, leftOut: leftOut)
    }
}
