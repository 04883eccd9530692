package import Database
package import Model

/// The issue about a scan that would remove too many items at once.
package enum MassRemoval {
    /// The issue's code.
    package static let code = HeldRemovals.code
    /// The issue's subject.
    package static let subject = HeldRemovals.subject
    /// The choice that keeps the items.
    package static let wait = Issue.Choice(
        id: "wait", label: "Keep everything as it is, and see what the next scans find", impact: .nonDestructive)
    /// The choice that removes the items.
    package static let apply = Issue.Choice(
        id: "apply", label: "Remove the items from the list; policies decide about their copies", impact: .dataLoss)

    fileprivate static func message(_ missing: Int, of known: Int, after earlier: Int, first: [ItemPath]) -> String {
        let names = first.map(\.text).joined(separator: ", ") + (missing > first.count ? ", …" : "")
        let before = earlier > 0 ? ", after \(earlier) that were removed in the last 24 hours" : ""
        return "The server no longer lists \(missing) of \(known) items\(before), or lists others in their place: "
            + "\(names). Nothing is removed here before you decide, and the scan does not run policies. If the "
            + "server lost them, restore them there"
    }
}

extension Transaction {
    /// Decides about the items that a scan found missing. Removes them, or, if there are too many, holds them in one
    /// issue until a person has decided or the items are back.
    /// - Parameters:
    ///   - folder: Limits the removal to items missing in this folder, outside of a scan. Too many missing items are
    ///     then left for the next scan to report.
    ///   - removalGuard: The limits. Nil means: no number of items is too many.
    /// - Returns: Whether the items are held.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func decideMissing(
        in folder: ItemPath? = nil, guardedBy removalGuard: RemovalGuard?, at time: Timestamp
    ) throws -> Bool {
        // Records that wait for their place are checked again after each scan, whatever the scan found.
        try journal.endPlaceWaits()
        guard try scan.hasMissing() else {
            try scan.endHold()
            return false
        }
        if let removalGuard, try holdMissing(removalGuard, isTold: folder == nil, at: time) { return true }
        let gone = try scan.removeMissing(in: folder, at: time)
        if gone > 0 {
            try scan.noteGone(gone, at: time)
            try issues.removeOfGonePaths(code: FolderMerge.refusedCode)
        }
        if folder == nil { try scan.endHold() }
        return false
    }

    private func holdMissing(_ removalGuard: RemovalGuard, isTold: Bool, at time: Timestamp) throws -> Bool {
        let missing = try scan.missingCount()
        let memory = try scan.removalMemory(at: time)
        let known = try max(memory.known, items.knownCount())
        guard removalGuard.holds(missing, after: memory.gone, ofKnown: known) else { return false }
        guard isTold else { return true }
        let message = MassRemoval.message(missing, of: known, after: memory.gone, first: try scan.firstMissing(3))
        let before = try scan.heldRemovals()
        // Each scan finds the items again. The issue is filed again only if its message has changed.
        guard before?.message != message else { return true }
        let issue = try issues.file(
            Issue(
                code: MassRemoval.code, subject: MassRemoval.subject, message: message,
                choices: [MassRemoval.wait, MassRemoval.apply], created: before?.created ?? time))
        // Some of the items may be back.
        try journal.endWaits(forIssue: issue.id)
        return true
    }

    /// Answers the issue. The issue stays if the choice is to wait.
    /// - Returns: True.
    /// - Throws: `.badData` if the issue does not offer the choice, or SQLite's error; see ``DatabaseReads``.
    package func decideRemovals(_ issue: Issue, _ choice: String, at time: Timestamp) throws -> Bool {
        switch choice {
        case MassRemoval.apply.id:
            try scan.removeMissing(at: time)
            try issues.removeOfGonePaths(code: FolderMerge.refusedCode)
            try journal.endPlaceWaits()
            try scan.endHold()
        case MassRemoval.wait.id: break
        default:
            throw Failure(
                .badData, "\(choice) is not a choice of issue \(issue.id)",
                hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
        }
        return true
    }
}
