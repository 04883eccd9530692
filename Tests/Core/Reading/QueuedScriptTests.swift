import Database
import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import Connection
@testable import Core

/// Random scripts of commands that are queued while there is no network, and what the item list shows.
@Suite struct QueuedScriptTests {
    private static let seed = SeededGenerator().seed
    private static let commands = 1_000

    private static let before = TreeModel([
        "/a": .folder, "/a/a": .folder, "/a/a/a": .file("one"), "/a/b": .file("three"), "/b": .folder,
        "/b/c": .file("the fifth"), "/c": .file("of the root"),
    ])

    @Test(
        "S7: after each of a thousand commands without a network, the list shows what they will make",
        arguments: 0..<UInt64(SeededGenerator.rounds(usually: 200)))
    func script(round: UInt64) async throws {
        let seed = Self.seed &+ round
        var script = CommandScript(seed: seed, on: Self.before)
        var commands: [[TreeCommand]] = []
        var count = 0
        while count < Self.commands {
            // Each batch costs a read of the list, and single commands are given only now and then.
            let batch = count % 500 < 20 ? script.batch() : 35
            commands.append((0..<batch).map { _ in script.next() })
            count += batch
        }
        guard let problem = try await Self.problem(of: commands) else { return }
        let shortest = try await shortest(commands.flatMap(\.self)) { less in
            try await Self.problem(of: less.map { [$0] }) != nil
        }
        Issue.record("LARDER_TEST_SEED=\(seed) LARDER_TEST_ROUNDS=1: \(problem)\n\(shortest)")
    }

    /// Gives commands to a new account, and compares what it shows.
    /// - Parameter batches: The commands. After each batch the list is read.
    /// - Returns: The first difference.
    private static func problem(of batches: [[TreeCommand]]) async throws -> String? {
        try await withTemporaryFolder(isInMemory: true) { folder in
            let account = try await OfflineAccount(folder, before)
            do {
                let problem = try await account.problem(of: batches, from: before)
                try await account.close()
                return problem
            } catch {
                try await account.close()
                throw error
            }
        }
    }
}

/// An account that was listed once, and whose server cannot be reached.
private final class OfflineAccount: Sendable {
    private let process: HostProcess
    private let host: AccountHost
    private let reader: AccountReader
    private let files = Mutex(0)

    init(_ folder: String, _ tree: TreeModel) async throws {
        var settings = Settings()
        settings.plugins = ["core-loop", "calendar-loop", "share-loop"].map {
            PluginSettings(id: PluginID(shortOrFull: $0), isEnabled: false)
        }
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let bookmark = Bookmark(
            name: "test", url: "http://localhost/dav/", username: "ada", vault: "\(folder)/vault",
            files: "\(folder)/files")
        process = HostProcess(
            settings: settings,
            options: HostOptions(
                clock: .system, logger: logger, builtInPlugins: folder, probe: [], person: { "ada" }))
        host = try await process.open(bookmark) {
            AccountSecret(.basic(username: "ada", password: "secret"), writing: "1")
        }
        reader = try AccountReader.open(bookmark)
        try await host.database.write { tx in
            for (path, entry) in tree.entries {
                var item = ListedItem(path: ItemPath(unchecked: path), kind: .folder, fileID: FileID("id\(path)"))
                item.etag = ETag(opaque: "1", strength: .strong)
                if case .file(let text) = entry { (item.kind, item.size) = (.file, Int64(text.utf8.count)) }
                try tx.items.insertListed(item, fileID: FileID("id\(path)"), racy: .no)
            }
        }
    }

    func close() async throws {
        try reader.close()
        try await host.close()
        try await process.close()
    }

    func problem(of batches: [[TreeCommand]], from before: TreeModel) async throws -> String? {
        var model = before
        for batch in batches {
            let expected = batch.map { model.carryOut($0) }
            let outcome = try await host.perform(ServerChange(batch.map(request), waits: false))
            for (number, change) in outcome.changes.enumerated() where (change.refusal == nil) != expected[number] {
                return "\(batch[number]): \(change.refusal?.message ?? "accepted")"
            }
            let shown = try await listing()
            guard shown == model.listing else {
                let (more, less) = (Set(shown).subtracting(model.listing), Set(model.listing).subtracting(shown))
                return "after \(batch.last?.description ?? ""): shown, not there: \(more.sorted()); "
                    + "there, not shown: \(less.sorted())"
            }
        }
        return nil
    }

    /// Returns what `ls -r` lists.
    private func listing() async throws -> [String] {
        var query = ItemQuery(path: .root, now: .now())
        query.isRecursive = true
        let shown = Mutex<[String]>([])
        try await reader.items(query) { report in
            let item = report.item
            shown.withLock {
                $0.append(item.kind == .folder ? "\(item.path)/" : "\(item.path) \(item.size ?? -1)")
            }
            return true
        }
        return shown.withLock { $0.sorted() }
    }

    private func request(_ command: TreeCommand) -> ChangeRequest {
        switch command {
        case .makeFolder(let path): .createFolder(ItemPath(unchecked: path))
        case .put(let text, let path, let replaces):
            .put(snapshot(of: text), ItemPath(unchecked: path), replaces: replaces)
        case .move(let path, let target): .move(ItemPath(unchecked: path), to: ItemPath(unchecked: target))
        case .copy(let path, let target): .copy(ItemPath(unchecked: path), to: ItemPath(unchecked: target))
        case .remove(let path): .delete(ItemPath(unchecked: path))
        }
    }

    private func snapshot(of text: String) -> TakenSnapshot {
        let number = files.withLock { number in
            number += 1
            return number
        }
        return TakenSnapshot(
            name: "put-\(number)", size: Int64(text.utf8.count), digest: [UInt8](repeating: 1, count: 32), sha1: [],
            modified: Timestamp(seconds: 1_700_000_000), mark: nil)
    }
}
