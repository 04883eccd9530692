import Database
import LocalTree
import Logging
import Model
import Synchronization

/// Snapshots whose uploads are not known any more, since the database was restored. A person is asked about each: it may
/// be the only copy of a file.
extension SnapshotRules {
    private static let folder = "outgoing/"

    /// Files an issue about each snapshot that no upload needs. When there is none any more, snapshots of commands that
    /// ended early are removed again. Blocks.
    func askAboutFound() throws {
        let found = try tree.foundSnapshots(olderThan: Self.snapshotAge) {
            try database.readBlocking { try $0.journal.snapshots() }
        }
        try database.writeBlocking { [self] tx in
            if found.isEmpty { try tx.meta.clear(.keepsSnapshots) }
            for snapshot in found {
                let code = IssueCode.found
                let path = snapshot.path.map { "to \($0)" } ?? "to a path that is not known"
                let choices = code.choices.filter { $0.id != "upload" || snapshot.path != nil }
                try tx.issues.file(
                    Issue(
                        code: code.rawValue, subject: Self.folder + snapshot.name,
                        message:
                            "A file of \(snapshot.size) bytes was to be uploaded \(path), and the upload went with the "
                            + "database that was restored. The file is the snapshot \(Self.folder)\(snapshot.name)",
                        choices: choices, created: clock.now()))
            }
        }
        if !found.isEmpty {
            logger.warning("\(found.count) files were to be uploaded before the database was restored")
        }
    }

    /// Reads the snapshot that a person wants to have uploaded after all.
    /// - Returns: nil for another issue or answer.
    func found(of issue: IssueID, choice: String) async throws -> TakenSnapshot? {
        guard choice == "upload", let issue = try await database.read({ try $0.issues.issue(id: issue) }),
            issue.code == IssueCode.found.rawValue
        else { return nil }
        let name = String(issue.subject.dropFirst(Self.folder.count))
        return try await Task(executorPreference: context.threads) { [tree] in try tree.describe(snapshot: name) }.value
    }

    /// Answers an issue about a snapshot.
    /// - Parameter taken: The facts about the snapshot, for an upload.
    /// - Throws: Why it cannot be uploaded, or kept here; `.localIO` if the snapshot is gone.
    func answer(_ issue: Issue, _ choice: String, _ taken: TakenSnapshot?, in tx: Transaction) throws {
        let name = String(issue.subject.dropFirst(Self.folder.count))
        let path = tree.target(ofSnapshot: name)
        switch choice {
        case "upload":
            guard let taken, let path else {
                throw Failure(.failed, "Issue \(issue.id) is answered by itself", hint: .listIssues)
            }
            if case .refused(let failure) = try context.intake.enqueue(
                .change(.put(taken, path, replaces: false)), in: tx)
            {
                throw failure
            }
        case "keep":
            let wanted = try path ?? ItemPath.root.appending(name)
            let first =
                try tx.items.item(at: wanted) == nil ? wanted : context.takeBack.freeName(beside: wanted, in: tx)
            let (place, mark) = try context.takeBack.putInTree(name, at: first, modified: nil, wanted, in: tx)
            try context.takeBack.insertKept(mark, at: place, in: tx)
            context.spentSnapshots.withLock { _ = $0.insert(name) }
        default: context.spentSnapshots.withLock { _ = $0.insert(name) }
        }
        try tx.issues.remove(id: issue.id)
    }
}
