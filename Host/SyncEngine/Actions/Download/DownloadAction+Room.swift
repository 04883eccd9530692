import LocalTree
import Model
import Synchronization

extension DownloadAction {
    /// Takes the room for a download that begins.
    /// - Returns: Whether there is room. If not, nothing was taken.
    func takeRoom(for job: Job) -> Bool {
        context.room.withLock { room in
            guard room.fits(job.expectedSize) || room.fits(missing(of: job)) else { return false }
            // What an earlier try left is noted as received when the download goes on with it.
            room.begin(context.gauge.owner(job.id), missing: job.expectedSize)
            return true
        }
    }

    /// Takes the room for a download on a page of the journal, unless the download is under way already.
    /// - Returns: Whether there is room. If not, the page counts the download among those that wait.
    func takeRoom(for job: Job, on page: inout JournalPage) -> Bool {
        guard var room = page.room, !room.holds(context.gauge.owner(job.id)) else { return true }
        page.room = nil
        defer { page.room = room }
        let bytes = room.fits(job.expectedSize) ? job.expectedSize : missing(of: job)
        guard room.fits(bytes) else {
            var lack = page.lack ?? RoomLack()
            lack.add(size: job.size ?? 0, missing: bytes)
            page.lack = lack
            return false
        }
        room.begin(context.gauge.owner(job.id), missing: bytes)
        return true
    }

    /// Returns the bytes of a download that are not in `incoming/`.
    private func missing(of job: Job) -> Int64 {
        guard let size = job.size else { return job.expectedSize }
        if job.incomingNames.contains(where: { tree.incomingSize($0) == size }) { return 0 }
        return size - (tree.incomingSize(job.incomingName) ?? 0)
    }
}

extension JournalPage {
    /// Takes the room for a small download of which nothing is here, unless it is under way already.
    /// - Returns: Whether there is room.
    mutating func takesRoom(_ bytes: Int64, for owner: DownloadRoom.Owner) -> Bool {
        guard room?.holds(owner) == false else { return true }
        guard room?.fits(bytes) == true else { return false }
        room?.begin(owner, missing: bytes)
        return true
    }
}

extension Job {
    /// The size, or 1 if it is not known, so that nothing begins on a disk without room.
    fileprivate var expectedSize: Int64 { size ?? 1 }
}
