import Model

/// What is known of a change that was requested: what the request's answer proves, together with what the server shows
/// at the places of the change before and after. A value without I/O.
///
/// An answer may be lost, may be a page of a proxy, or may come after only a part was done, and somebody else may have
/// written meanwhile. So a change counts as made only if the server shows it.
///
///     switch ChangeConfirmation.ofCopy(of: source, shown: target, wasFree: true) {
///     case .made: …        // the record is done
///     case .undone: …      // the request may be sent again
///     case .unproven: …    // files are read and compared first
///     case .partly: …      // the server may still be at work: look again later
///     case .foreign: …     // somebody else's: a person decides
///     }
public enum ChangeConfirmation: Hashable, Sendable {
    /// The server shows the change.
    case made
    /// The server shows what was there before. The request may be sent again.
    case undone
    /// The server shows names and sizes as they would be, which proves no contents. They must be read and compared.
    case unproven
    /// The server shows a part of the change, and may still be at work on the rest.
    case partly
    /// The server shows something that the change did not make. Nothing may be overwritten or removed.
    case foreign
}

extension ChangeConfirmation {
    // MARK: Copies and moves

    /// Decides about a copy whose answer does not tell whether it was made.
    /// - Parameters:
    ///   - source: What the server shows at the source; nil if nothing is there.
    ///   - target: What it shows at the target.
    ///   - wasFree: Whether the target was free just before the last request; see ``ChangeEvidence/targetWasFree``.
    ///   - mayHaveMore: Whether other entries at the target say nothing, since the server has answered that it made the
    ///     copy.
    public static func ofCopy(
        of source: ServerTree?, shown target: ServerTree?, wasFree: Bool?, mayHaveMore: Bool = false
    ) -> ChangeConfirmation {
        guard let target else { return .undone }
        // Without the source nothing tells whether the copy is whole.
        guard let source else { return wasFree == true ? .partly : .foreign }
        return compare(target, with: source, wasFree: wasFree, mayHaveMore: mayHaveMore)
    }

    /// Decides about a move whose answer does not tell whether it was made.
    /// - Parameters:
    ///   - known: What is known to have been at the source before the first request, at the paths of the target. Parts
    ///     of a folder that were never listed are missing in it.
    ///   - source: What the server shows at the source.
    ///   - target: What it shows at the target.
    ///   - wasFree: Whether the target was free just before the last request, of which the server has not answered that
    ///     it does nothing; nil if it was never seen to be free.
    public static func ofMove(
        of known: ServerTree, left source: ServerTree?, shown target: ServerTree?, wasFree: Bool?
    ) -> ChangeConfirmation {
        guard let target else { return .undone }
        let isSameItem = known.top?.fileID?.isFromServer == true && known.top?.fileID == target.top?.fileID
        // The item itself is at the target, with whatever others have changed below it meanwhile.
        if isSameItem, source?.top?.fileID != target.top?.fileID { return .made }
        if source != nil { return wasFree == true ? .partly : .foreign }
        // A file with another id is another file. A folder gets one where a server moves it by copying what is in it.
        let isOther =
            known.top?.kind == .file && known.top?.fileID?.isFromServer == true
            && target.top?.fileID?.isFromServer == true && !isSameItem
        // With the source gone, what came to the target that was free is what was moved, also where a proxy has answered
        // that nothing was done. A wrong guess removes nothing.
        switch compare(target, with: known, wasFree: wasFree, mayHaveMore: true) {
        case .unproven, .made: return wasFree != nil && !isOther || isSameItem ? .made : .unproven
        case .foreign, .partly, .undone: return wasFree == true ? .partly : .foreign
        }
    }

    /// Compares what is at a target with what is to be there.
    /// - Parameter mayHaveMore: Whether other entries at the target say nothing.
    private static func compare(
        _ target: ServerTree, with wanted: ServerTree, wasFree: Bool?, mayHaveMore: Bool = false
    ) -> ChangeConfirmation {
        var isPart = false
        for (path, entry) in target.entries {
            guard let other = wanted.entries[path] else {
                if mayHaveMore { continue }
                return .foreign
            }
            guard entry.kind == other.kind else { return .foreign }
            guard entry.kind == .file, let size = entry.size, let wanted = other.size, size != wanted else { continue }
            // A file that is shorter may still be written.
            if size > wanted { return .foreign }
            isPart = true
        }
        isPart = isPart || wanted.entries.keys.contains { target.entries[$0] == nil }
        if isPart { return wasFree == true ? .partly : .foreign }
        // Folders alone have no contents.
        let hasFiles = wanted.entries.values.contains { $0.kind == .file }
        return hasFiles || !wanted.isWhole || !target.isWhole ? .unproven : .made
    }

    // MARK: Uploads

    /// Decides about an upload whose answer was lost, or does not tell whether the server took the file.
    /// - Parameters:
    ///   - request: The upload.
    ///   - held: What the server shows at the path; nil if nothing is there.
    ///   - manners: The server's manners, which tell how far an ETag can be believed.
    public static func ofUpload(
        _ request: UploadRequest, shown held: HeldItem?, manners: WritingManners
    ) -> ChangeConfirmation {
        guard let held else {
            // What was to be replaced is gone. Somebody has deleted it, before or after the upload.
            return request.base == .new ? .undone : .foreign
        }
        guard held.item.kind == .file else { return .foreign }
        let isBase = if case .version(let version) = request.base { held.item.etag == version } else { false }
        if let isEqual = request.checksums.equals(held.checksums) {
            // Some servers keep the checksum that they were told, and have not computed it.
            let hasSize = held.item.size.map { $0 == request.size } ?? true
            guard isEqual, hasSize else { return isBase ? .undone : .foreign }
            return held.item.etag == nil ? .unproven : .made
        }
        // Of a version that was told by size and second only, another content may follow within the second.
        let isCoarse = held.item.etag?.strength == .substitute || manners.etags != .fine
        if held.item.size == request.size { return isBase && !isCoarse ? .undone : .unproven }
        return isBase ? .undone : .foreign
    }

    /// Decides about an upload that the server has answered as done, by the answer alone.
    ///
    /// An ETag proves only that the server has a version. The checksum of what it has stored proves the content.
    /// - Returns: nil if the answer proves nothing, so that the server must be asked.
    public static func ofUpload(_ request: UploadRequest, answer: WriteAnswer) -> ChangeConfirmation? {
        guard let etag = answer.etag, etag.strength == .strong, request.checksums.equals(answer.checksums) == true
        else { return nil }
        return .made
    }

    /// The longest time between the answer and the end of the question for what the server holds in which the server's
    /// clock at the question still stands for that at the answer.
    private static let longestGap = Duration.seconds(1)

    /// Decides about an upload that the server has answered as done, by what the server shows after the answer.
    /// - Parameters:
    ///   - held: What the server shows at the path; nil if nothing is there.
    ///   - gap: The time between the answer and the end of the question for what the server holds.
    /// - Returns: `undone` if nothing of the upload shows, though the server has taken it.
    public static func ofUpload(
        _ request: UploadRequest, answer: WriteAnswer, shown held: HeldItem?, gap: Duration = .zero
    ) -> ChangeConfirmation {
        guard let held else { return .undone }
        guard held.item.kind == .file, let etag = held.item.etag else { return .foreign }
        let isBase = if case .version(let base) = request.base { base == etag } else { false }
        if let size = held.item.size, size != request.size { return isBase && answer.etag != etag ? .undone : .foreign }
        if let isEqual = request.checksums.equals(held.checksums) { return isEqual ? .made : .foreign }
        // The version that the answer names, of the size that was sent (RFC 9110, section 9.3.4, for a strong ETag).
        if let told = answer.etag {
            guard told == etag else { return told.strength == .weak ? .foreign : .unproven }
            return held.item.size == nil ? .unproven : .made
        }
        return !isBase && held.item.size != nil && isRecent(held, answer, request, gap) ? .made : .unproven
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

extension [ContentChecksum] {
    /// Tells whether checksums of the same algorithms are equal.
    /// - Returns: nil if no algorithm is in both.
    public func equals(_ others: [ContentChecksum]) -> Bool? {
        var isEqual: Bool?
        for checksum in self {
            for other in others where other.algorithm == checksum.algorithm {
                isEqual = (isEqual ?? true) && other.value == checksum.value
            }
        }
        return isEqual
    }
}
