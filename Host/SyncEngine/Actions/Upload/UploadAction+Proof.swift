import Connection
import Database
import LocalTree
import Model

/// The finding out of what the server holds after an upload.
extension UploadAction {
    /// The number of a folder's entries up to which they are counted.
    private static let mostCounted = 10_000

    /// What became of an upload whose answer was lost.
    enum Found {
        case result(ChangeResult<Effect>)
        /// The upload is to be sent again. The server has this in its place.
        case notSent(HeldItem?)
        /// The server holds the beginning of the content, as this version. The upload is to be sent again in its place.
        case cutOff(ETag)
    }

    /// Finds out what became of an upload whose answer was lost, or proves nothing.
    func find(_ upload: Upload, _ request: UploadRequest, at path: ItemPath) async throws -> Found {
        let held = try await server.held(at: path)
        switch ChangeConfirmation.ofUpload(request, shown: held, manners: server.writingManners) {
        case .undone: return .notSent(held)
        case .made: if let held { return .result(.uploaded(held.item)) }
        case .unproven:
            if let held, try await isOurs(upload, held) { return .result(.uploaded(held.item)) }
            if let held, upload.base != nil, held.item.etag == upload.base { return .notSent(held) }
        case .foreign, .partly:
            if let held, let version = held.item.etag, try await isBeginning(of: upload, held) {
                return .cutOff(version)
            }
        }
        return .result(conflict(path, .versionChanged, held, isSure: false))
    }

    /// Handles a server that holds another version. If it is what was to be sent, the upload is done.
    func conflict(
        _ upload: Upload, _ request: UploadRequest, at path: ItemPath, _ refusal: WriteRefusal, isSure: Bool
    ) async throws -> ChangeResult<Effect> {
        let held = try await server.held(at: path)
        if let held {
            switch ChangeConfirmation.ofUpload(request, shown: held, manners: server.writingManners) {
            case .made: return .uploaded(held.item)
            case .unproven where try await isOurs(upload, held): return .uploaded(held.item)
            case .unproven, .undone, .partly, .foreign: break
            }
        } else if refusal == .exists {
            // Nextcloud says so of names that it keeps for itself. Another version of the name would meet the same.
            return .refused(
                Failure(
                    .badData,
                    "\(path) was not uploaded: the server says that there is something already, and shows nothing there",
                    hint: "Try again, or choose another name"),
                .upload)
        }
        return conflict(path, refusal, held, isSure: isSure)
    }

    /// Returns the result for a server that holds something else, with the version that an answer is about.
    private func conflict(
        _ path: ItemPath, _ refusal: WriteRefusal, _ held: HeldItem?, isSure: Bool
    ) -> ChangeResult<Effect> {
        var failure = refusal.failure(of: .put(path))
        if let item = held?.item, item.kind == .file {
            let facts = [item.size.map { "\($0) bytes" }, item.lastModified.map { "of \($0)" }].compactMap(\.self)
            if !facts.isEmpty { failure.message += " (the server has \(facts.joined(separator: ", ")))" }
        } else if held == nil {
            failure.message += " (the server has nothing there)"
        }
        return .unmade(.conflict(failure, found: held?.item.etag, isSure: isSure))
    }

    /// Returns the result for a server that says that it has taken all, and does not show the file.
    func unseen(_ path: ItemPath, _ held: HeldItem?) -> ChangeResult<Effect> {
        .uncertain(
            Failure(
                .protocolViolation,
                "\(path) was uploaded, but the server \(held == nil ? "has no such file" : "still has the version before")",
                hint: "Check the server's log, and whether somebody deleted it"), .upload,
            seen: held?.item.etag?.opaque ?? "", wasTaken: true)
    }

    /// Returns the number of entries that a folder has, as far as is known. If that cannot be read, the folder is not
    /// listed.
    func countEntries(of folder: ItemPath) async -> Int {
        (try? await context.database.read { try $0.items.countEntries(of: folder, atMost: Self.mostCounted) }) ?? .max
    }

    /// Returns the result for an upload that the server provably holds; nil if it is another one.
    func made(_ answered: AnsweredUpload, _ found: ConfirmedUpload) -> ChangeResult<Effect>? {
        guard found.confirmation == .made, let held = found.held else { return nil }
        var made = held.item
        made.fileID = made.fileID ?? answered.answer.fileID
        return .uploaded(made, hasReplaced: answered.answer.hasReplaced)
    }

    /// Finds out what the server holds after it has taken the upload.
    /// - Parameter found: What it holds, if that was asked; nil if not.
    func confirm(
        _ upload: Upload, _ answered: AnsweredUpload, _ found: ConfirmedUpload? = nil
    ) async throws -> ChangeResult<Effect> {
        let path = answered.path
        let confirmed: ConfirmedUpload
        if let found {
            confirmed = found
        } else {
            confirmed = try await afterChange {
                try await server.confirm(answered) { await countEntries(of: path.parent) }
            }
        }
        let (confirmation, held) = confirmed
        switch (confirmation, held) {
        case (.made, let held?), (.unproven, let held?):
            if confirmation == .unproven, try await !isOurs(upload, held) {
                // The server may show the new version a while later.
                if upload.base != nil, held.item.etag == upload.base { return unseen(path, held) }
                break
            }
            return made(answered, (.made, held)) ?? unseen(path, held)
        case (.undone, let held): return unseen(path, held)
        case (_, nil): return unseen(path, nil)
        case (.foreign, _), (.partly, _): break
        }
        // Whether somebody has replaced the file at once, or the server did not keep what it took, the snapshot may be
        // the only copy. No rule answers that: another name would help no more.
        let size = held?.item.size.map { " (\($0) bytes; \(upload.size) were sent)" } ?? ""
        return .refused(
            Failure(
                .failed, "\(path) was uploaded, and the server holds something else now\(size)", hint: .listIssues),
            .upload)
    }

    /// Tells whether the server holds only a beginning of the uploaded content, which a request that is cut off leaves on
    /// some servers. Nothing is lost if such a file is replaced by the whole.
    private func isBeginning(of upload: Upload, _ held: HeldItem) async throws -> Bool {
        guard !server.writingManners.dropsCutOffUploads, held.item.kind == .file, let size = held.item.size,
            size < upload.size
        else { return false }
        let sink: BeginningSink
        do { sink = BeginningSink(try tree.snapshot(upload.snapshot)) } catch { return false }
        let request = DownloadRequest(
            version: held.item.etag, size: size, lastModified: held.item.lastModified)
        do {
            _ = try await context.source.get(held.item.path, request: request, into: sink)
        } catch let error as ConnectionError where error.kind == .versionChanged || error.kind == .notFound {
            return false
        }
        return sink.isEqual && sink.count == size
    }

    /// Tells whether the server holds the uploaded content, by reading it.
    private func isOurs(_ upload: Upload, _ held: HeldItem) async throws -> Bool {
        guard held.item.kind == .file, held.item.size.map({ $0 == upload.size }) ?? true else { return false }
        let sink = DigestSink()
        let request = DownloadRequest(
            version: held.item.etag, size: held.item.size, lastModified: held.item.lastModified)
        do {
            _ = try await context.source.get(held.item.path, request: request, into: sink)
        } catch let error as ConnectionError {
            if error.kind == .versionChanged || error.kind == .notFound { return false }
            // The upload arrived, or may have.
            throw FailedQuestion(error: error, followsRequest: true)
        }
        return sink.digest == upload.digest
    }
}

/// A sink that compares what it gets with the beginning of a snapshot.
private final class BeginningSink: DownloadSink {
    private let snapshot: Snapshot
    private(set) var isEqual = true
    private(set) var count: Int64 = 0

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    func begin(_ head: DownloadHead) throws {}

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var own = [UInt8](repeating: 0, count: bytes.count)
        var done = 0
        while done < own.count {
            let more = try own.withUnsafeMutableBytes { own in
                try snapshot.read(at: count + Int64(done), into: UnsafeMutableRawBufferPointer(rebasing: own[done...]))
            }
            guard more > 0 else { break }
            done += more
        }
        isEqual = isEqual && done == own.count && own.elementsEqual(bytes)
        count += Int64(bytes.count)
    }
}
