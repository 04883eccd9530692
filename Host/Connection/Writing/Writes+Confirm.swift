public import Model
import Threads

/// An upload that the server has answered with `done`.
public struct AnsweredUpload: Sendable {
    /// The file's path on the server.
    public var path: ItemPath
    /// The upload.
    public var request: UploadRequest
    /// The facts that the answer tells.
    public var answer: WriteAnswer
    /// The time of the answer, on the monotonic clock.
    public var time: Duration

    /// Creates the upload.
    public init(_ path: ItemPath, _ request: UploadRequest, _ answer: WriteAnswer, at time: Duration) {
        (self.path, self.request, self.answer, self.time) = (path, request, answer, time)
    }
}

/// What the server holds after an upload, and whether that is provably the uploaded file.
public typealias ConfirmedUpload = (confirmation: ChangeConfirmation, held: HeldItem?)

extension Writes {
    /// Finds out what the server holds after an upload that it has answered with `done`, and whether that is provably
    /// the uploaded file.
    ///
    /// Costs a request unless the answer had a checksum; many that come together in one folder cost one listing of the
    /// folder, unless it is large. What is asked long after the answer proves less.
    /// - Parameter entries: Returns the number of entries that the folder has, as far as is known.
    /// - Returns: What the server shows proves, and what it shows; the file as the answer tells it if no request was
    ///   needed.
    public func confirm(
        _ upload: AnsweredUpload, among entries: @Sendable () async -> Int
    ) async throws(ConnectionError) -> ConfirmedUpload {
        if let certain = upload.certain { return certain }
        // A listing tells no checksums, which servers of the family have.
        let held =
            wire.knowledge.isFamily
            ? try await listings.held(at: upload.path)
            : try await heldTogether(at: upload.path, since: upload.time, among: entries)
        return upload.confirmed(by: held, at: wire.clock.monotonic())
    }

    /// Finds out what the server holds after uploads into one folder, by one listing of the folder.
    /// - Parameters:
    ///   - folder: The folder.
    ///   - uploads: The uploads.
    ///   - entries: Returns the number of entries that the folder has, as far as is known.
    /// - Returns: As ``confirm(_:among:)``, by path. What is missing is to be asked for alone: where a listing would cost
    ///   more, tells less or did not come to its end, and what it does not show.
    public func confirm(
        in folder: ItemPath, _ uploads: [AnsweredUpload], among entries: @Sendable () async -> Int
    ) async -> [ItemPath: ConfirmedUpload] {
        var confirmed: [ItemPath: ConfirmedUpload] = [:]
        var asked: [AnsweredUpload] = []
        let began = wire.clock.monotonic()
        for upload in uploads {
            if let certain = upload.certain {
                confirmed[upload.path] = certain
            } else if began - upload.time < Self.oldestInListing {
                asked.append(upload)
            }
        }
        guard !wire.knowledge.isFamily, asked.count >= ConfirmationQueue.several,
            await entries() <= asked.count * ConfirmationQueue.mostEntries
        else { return confirmed }
        let held = await held(in: folder, Set(asked.map(\.path)))
        let now = wire.clock.monotonic()
        for upload in asked {
            if let held = held[upload.path] { confirmed[upload.path] = upload.confirmed(by: held, at: now) }
        }
        return confirmed
    }

    /// The age of an upload that is not confirmed by a listing any more, which takes its time. After a second the server's
    /// clock proves nothing.
    private static let oldestInListing = Duration.milliseconds(600)

    /// Asks what the server holds at a path, together with others who ask about the same folder.
    private func heldTogether(
        at path: ItemPath, since start: Duration, among entries: () async -> Int
    ) async throws(ConnectionError) -> HeldItem? {
        let folder = path.parent
        let number = confirmations.change { $0.begin(path) }
        do { try await confirmations.waitUnlessCancelled { $0.isReady(number) } } catch {
            confirmations.change { $0.leave(number) }
            throw ConnectionError(.cancelled, "checking \(path) was cancelled")
        }
        switch confirmations.change({ $0.take(number) }) {
        case .answered(let held): return held
        case .askAlone: return try await listings.held(at: path)
        case .ask(let others):
            defer { confirmations.change { $0.end(folder) } }
            let count = others.count + 1
            guard count >= ConfirmationQueue.several, wire.clock.monotonic() - start < ConfirmationQueue.longestWait,
                await entries() <= count * ConfirmationQueue.mostEntries
            else {
                confirmations.change { $0.answer(others) }
                return try await listings.held(at: path)
            }
            let answers = await held(in: folder, Set(others.values).union([path]))
            confirmations.change { $0.answer(others, answers) }
            // The name may be shown in another form, or not at all.
            if let held = answers[path] { return held }
            return try await listings.held(at: path)
        }
    }

    /// Lists a folder for what it holds at some paths.
    /// - Returns: What it shows there; nothing if the listing is not whole, which is no answer.
    private func held(in folder: ItemPath, _ wanted: Set<ItemPath>) async -> [ItemPath: HeldItem] {
        var found: [ItemPath: HeldItem] = [:]
        do {
            let listing = try await listings.beginListing(
                folder, depth: .one, below: wire.root(), timeLimit: wire.timeLimits.head, as: .change)
            _ = try await listing.rest { entries, date in
                for entry in entries where wanted.contains(entry.path) {
                    found[entry.path] = HeldItem(item: entry, date: date)
                }
            }
        } catch {
            return [:]
        }
        return found
    }
}

extension AnsweredUpload {
    /// What the answer alone proves; nil if the server must be asked.
    fileprivate var certain: ConfirmedUpload? {
        guard let certain = ChangeConfirmation.ofUpload(request, answer: answer) else { return nil }
        let item = ListedItem(
            path: path, kind: .file, fileID: answer.fileID, etag: answer.etag, size: request.size,
            lastModified: answer.tookModified ? request.modified : answer.date)
        return (certain, HeldItem(item: item))
    }

    fileprivate func confirmed(by held: HeldItem?, at now: Duration) -> ConfirmedUpload {
        (.ofUpload(request, answer: answer, shown: held, gap: now - time), held)
    }
}
