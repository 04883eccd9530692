public import Model

/// What a server holds after it has answered that an upload is done.
public enum UploadConfirmation: Hashable, Sendable {
    /// The uploaded content, in this version.
    case certain(ETag, fileID: FileID?)
    /// A file that may be the uploaded one, as far as the server tells: its size is equal. Its version must not become
    /// a base before its content was compared.
    case uncertain(HeldItem)
    /// Something else, or nothing. Somebody has changed it since, or the server did not keep what it took.
    case other(HeldItem?)
}

extension UploadConfirmation {
    /// Decides by the answer alone.
    /// - Returns: nil if the answer does not prove what the server holds.
    static func decide(_ answer: WriteAnswer) -> UploadConfirmation? {
        guard let etag = answer.etag, etag.strength == .strong else { return nil }
        return .certain(etag, fileID: answer.fileID)
    }

    /// The longest time between the answer and the end of the question for what the server holds in which the server's
    /// clock at the question still stands for that at the answer.
    private static let longestGap = Duration.seconds(1)

    /// Decides by what the server holds after the answer.
    /// - Parameter gap: The time between the answer and the end of the question for what the server holds.
    static func decide(
        _ held: HeldItem?, after answer: WriteAnswer, to request: UploadRequest, gap: Duration = .zero
    ) -> UploadConfirmation {
        guard let held, held.item.kind == .file, let etag = held.item.etag,
            held.item.size == nil || held.item.size == request.size
        else { return .other(held) }
        let fileID = held.item.fileID ?? answer.fileID
        if let isEqual = request.checksums.equals(held.checksums) {
            return isEqual ? .certain(etag, fileID: fileID) : .other(held)
        }
        // The answer's own weak ETag is the version that this upload made, and it is still there.
        if let told = answer.etag, told.strength == .weak {
            return told == etag ? .certain(etag, fileID: fileID) : .other(held)
        }
        let isNew = if case .version(let base) = request.base { base != etag } else { true }
        return isNew && held.item.size != nil && isRecent(held, answer, request, gap)
            ? .certain(etag, fileID: fileID) : .uncertain(held)
    }

    /// Tells whether the date of what the server holds is that of this upload: not before the request by the server's
    /// own clock, or the date that the server took over.
    private static func isRecent(
        _ held: HeldItem, _ answer: WriteAnswer, _ request: UploadRequest, _ gap: Duration
    ) -> Bool {
        guard let modified = held.item.lastModified else { return false }
        if answer.tookModified, let wanted = request.modified {
            return modified.nanoseconds / 1_000_000_000 == wanted.nanoseconds / 1_000_000_000
        }
        guard let date = answer.date else { return false }
        // All dates are rounded down to the second. What was written after the answer is somebody else's. Apache dates
        // an answer by the beginning of its request, which was long ago for a large file.
        let last = gap < longestGap ? max(date, held.date ?? date) : date
        return modified >= date - answer.took - .seconds(1) && modified <= last
    }
}
