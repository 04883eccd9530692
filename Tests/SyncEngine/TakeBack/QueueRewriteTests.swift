import Model
import TestSupport
import Testing

@testable import SyncEngine

/// The rewriting of a queue, as a value: what becomes of the records behind one that is taken back.
@Suite struct QueueRewriteTests {
    private static let before = TreeModel([
        "/a": .folder, "/a/a": .folder, "/a/a/a": .file("one"), "/a/b": .file("two"), "/b": .folder,
        "/b/c": .file("three"), "/c": .file("four"), "/d": .folder,
    ])

    @Test("S51: whatever is taken back, each record behind it can be carried out, and no content is lost")
    func scripts() throws {
        let seed = SeededGenerator().seed
        for round in 0..<UInt64(SeededGenerator.rounds(usually: 3_000)) {
            var script = CommandScript(seed: seed &+ round, on: Self.before)
            let commands = (0..<10).map { _ in script.next() }
            guard let problem = try Self.problem(of: commands) else { continue }
            var shortest = commands
            for index in commands.indices.reversed() {
                var less = shortest
                less.remove(at: index)
                if try Self.problem(of: less) != nil { shortest = less }
            }
            Issue.record("LARDER_TEST_SEED=\(seed &+ round) LARDER_TEST_ROUNDS=1: \(problem): \(shortest)")
            return
        }
    }

    @Test("S51: a copy or move behind a command that is taken back loses nothing, and comes into nothing of itself")
    func found() throws {
        let scripts: [[TreeCommand]] = [
            // A part that is not made, or not there, or there again, is so in the copy too.
            [.put("1", "/b/a", replaces: false), .copy("/b", to: "/d/b"), .move("/d/b/a", to: "/d/e")],
            [.move("/b/c", to: "/a/a/c"), .copy("/a/a", to: "/b/a"), .put("1", "/a/a/c", replaces: true)],
            [.remove("/a/a/a"), .copy("/a/a", to: "/a/c"), .makeFolder("/a/c/a")],
            [.copy("/a/a", to: "/b/b"), .move("/a/a/a", to: "/d/d"), .remove("/d")],
            [
                .makeFolder("/a/a/e"), .move("/a/b", to: "/a/a/e/a"), .copy("/a/a/e", to: "/e"), .remove("/a/a/e/a"),
            ],
            [
                .makeFolder("/a/a/e"), .move("/a/a/e", to: "/a/c"), .copy("/a/a/a", to: "/a/c/e"),
                .move("/a/a", to: "/a/d"), .remove("/a/d/a"),
            ],
            // The folder to which something goes is back in it.
            [.move("/a/a", to: "/b/d"), .move("/a", to: "/b/d/d")],
            [.move("/a/a", to: "/d/d"), .copy("/a", to: "/d/d/e")],
        ]
        for script in scripts {
            let problem = try Self.problem(of: script)
            #expect(problem == nil, "\(script)")
        }
    }

    /// Takes back the first command that is accepted, and carries out the others.
    private static func problem(of commands: [TreeCommand]) throws -> String? {
        var queue = Queue(on: before)
        let records = commands.compactMap { queue.record($0) }
        guard let first = records.first, let displacement = displacement(of: first) else { return nil }
        var actual = before
        var kept: Set<String> = []
        if case .upload(let upload) = first.action { kept.insert(upload.snapshot) }
        let source: ItemPath? = if case .copy(let source) = first.action { source } else { nil }
        var names = 0
        var rewrite = QueueRewrite(displacement, sparing: source) { path in
            names += 1
            return ItemPath(unchecked: "\(path)~\(names)")
        }
        for record in records.dropFirst() {
            let new: SyncRecord
            switch try rewrite.take(record) {
            case .stays: new = record
            case .changes(let changed): new = changed
            case .goes: continue
            case .keepsFile:
                if case .upload(let upload) = record.action { kept.insert(upload.snapshot) }
                continue
            }
            guard actual.carryOut(command(new)) else { return "\(command(new)) cannot be carried out" }
        }
        let left = texts(actual).union(kept)
        return texts(queue.tree).subtracting(left).sorted().first.map { "\($0) is lost" }
    }

    private static func texts(_ tree: TreeModel) -> Set<String> {
        Set(tree.entries.values.compactMap { if case .file(let text) = $0 { text } else { nil } })
    }

    /// Returns what is not where later records expect it when a record is taken back; nil if all is.
    private static func displacement(of record: SyncRecord) -> QueueRewrite.Displacement? {
        switch record.action {
        case .move(let target): .init(from: target, to: record.path, item: record.localID, isTakenBack: true)
        case .delete: .init(to: record.path)
        case .upload(let upload) where !upload.isNew: nil
        default: .init(from: record.path, item: record.localID, isTakenBack: true)
        }
    }

    private static func command(_ record: SyncRecord) -> TreeCommand {
        let path = record.path.text
        return switch record.action {
        case .upload(let upload): .put(upload.snapshot, path, replaces: !upload.isNew)
        case .move(let target): .move(path, to: target.text)
        case .copy(let source): .copy(source.text, to: path)
        case .delete: .remove(path)
        default: .makeFolder(path)
        }
    }
}

/// The records of commands. A snapshot's name is the text of its file.
private struct Queue {
    private(set) var tree: TreeModel
    private var items: [String: LocalID] = [:]
    private var count = 0

    init(on tree: TreeModel) {
        self.tree = tree
        for path in tree.entries.keys { items[path] = LocalID(path) }
    }

    /// Returns the record of a command; nil if the command is refused.
    mutating func record(_ command: TreeCommand) -> SyncRecord? {
        let isVersion = if case .put(_, let path, _) = command { tree.entries[path] != nil } else { false }
        let before = tree
        guard tree.carryOut(command) else { return nil }
        count += 1
        func record(_ action: SyncRecord.Action, _ path: String) -> SyncRecord {
            SyncRecord(
                id: SyncRecordID(Int64(count)), action: action,
                localID: items[path] ?? LocalID("made \(count) \(path)"),
                path: ItemPath(unchecked: path), reason: .user, since: Timestamp(seconds: 1))
        }
        switch command {
        case .makeFolder(let path):
            items[path] = LocalID("made \(count)")
            return record(.createFolder, path)
        case .put(let text, let path, _):
            if !isVersion { items[path] = LocalID("made \(count)") }
            let upload = Upload(
                snapshot: text, size: 1, digest: [], sha1: [], mark: nil, modified: nil, isNew: !isVersion)
            return record(.upload(upload), path)
        case .copy(let source, let path):
            for copied in before.entries.keys where copied == source || copied.hasPrefix(source + "/") {
                items[path + copied.dropFirst(source.count)] = LocalID("made \(count) \(copied)")
            }
            return record(.copy(from: ItemPath(unchecked: source)), path)
        case .move(let path, let target):
            let moved = record(.move(to: ItemPath(unchecked: target)), path)
            for old in before.entries.keys where old == path || old.hasPrefix(path + "/") {
                items[target + old.dropFirst(path.count)] = items.removeValue(forKey: old)
            }
            return moved
        case .remove(let path):
            let removed = record(.delete(), path)
            for old in before.entries.keys where old == path || old.hasPrefix(path + "/") { items[old] = nil }
            return removed
        }
    }
}
