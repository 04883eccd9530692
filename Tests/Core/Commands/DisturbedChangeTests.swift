import DemoServer
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

/// Each change of the server, with each way in which a server does it by halves or in which others write meanwhile.
@Suite struct DisturbedChangeTests {
    /// A change, and what it leaves on a server that has `/a/one`, `/a/sub/two` and `/b/three`.
    enum Change: CaseIterable, Sendable {
        case makeFolder, put, replace, moveFile, moveFolder, copyFile, copyFolder, removeFile, removeFolder

        static let folder = "(folder)"
        static let mine = "what the person uploads"
        static let start = [
            "/a": folder, "/a/one": "one", "/a/sub": folder, "/a/sub/two": "two", "/b": folder, "/b/three": "three",
        ]

        var method: String {
            switch self {
            case .makeFolder: "MKCOL"
            case .put, .replace: "PUT"
            case .moveFile, .moveFolder: "MOVE"
            case .copyFile, .copyFolder: "COPY"
            case .removeFile, .removeFolder: "DELETE"
            }
        }

        /// The place at which the change makes something; of a deletion, a place in what goes.
        var place: String {
            switch self {
            case .makeFolder: "/a/new/theirs"
            case .put: "/a/mine"
            case .replace, .removeFile: "/a/one"
            case .moveFile, .copyFile: "/b/one"
            case .moveFolder, .copyFolder: "/b/a/one"
            case .removeFolder: "/a/sub/new"
            }
        }

        /// Returns the request below a folder.
        func request(
            in folder: String, _ put: (ItemPath, _ replaces: Bool) throws -> ChangeRequest
        ) rethrows -> ChangeRequest {
            func path(_ text: String) -> ItemPath { ItemPath(unchecked: folder + text) }
            return switch self {
            case .makeFolder: .createFolder(path("/a/new"))
            case .put: try put(path("/a/mine"), false)
            case .replace: try put(path("/a/one"), true)
            case .moveFile: .move(path("/a/one"), to: path("/b/one"))
            case .moveFolder: .move(path("/a"), to: path("/b/a"))
            case .copyFile: .copy(path("/a/one"), to: path("/b/one"))
            case .copyFolder: .copy(path("/a"), to: path("/b/a"))
            case .removeFile: .delete(path("/a/one"))
            case .removeFolder: .delete(path("/a"))
            }
        }

        var end: [String: String] {
            var all = Self.start
            func move(_ from: String, _ to: String, stays: Bool) {
                for (path, text) in all where path == from || path.hasPrefix(from + "/") {
                    all[to + path.dropFirst(from.count)] = text
                    if !stays { all[path] = nil }
                }
            }
            switch self {
            case .makeFolder: all["/a/new"] = Self.folder
            case .put: all["/a/mine"] = Self.mine
            case .replace: all["/a/one"] = Self.mine
            case .moveFile: move("/a/one", "/b/one", stays: false)
            case .moveFolder: move("/a", "/b/a", stays: false)
            case .copyFile: move("/a/one", "/b/one", stays: true)
            case .copyFolder: move("/a", "/b/a", stays: true)
            case .removeFile: all["/a/one"] = nil
            case .removeFolder: all = all.filter { !($0.key + "/").hasPrefix("/a/") }
            }
            return all
        }

        /// The original contents that may be gone from the server in the end: those that the change removes, and those
        /// that others have replaced themselves.
        func losses(_ disturbance: Disturbance) -> Set<String> {
            switch (self, disturbance) {
            case (.replace, _), (.removeFile, _): ["one"]
            case (.removeFolder, _): ["one", "two"]
            case (.moveFile, .othersAfter), (.moveFile, .othersBetweenAfterPart): ["one"]
            case (.moveFolder, .othersAfter), (.moveFolder, .othersBetweenAfterPart): ["one"]
            default: []
            }
        }
    }

    /// A way in which a change is disturbed.
    enum Disturbance: CaseIterable, Sendable {
        case nothingThenLost, partThenLost, allThenLost, partThen504, allThen504, failures, page, created,
            partThenCreated
        /// Others write at the place just before the request, just after it, or between two tries.
        case othersBefore, othersAfter, othersBetween, othersBetweenAfterPart

        static let theirs = "of somebody else, who may be at the same place"

        func faults(_ place: String) -> [Fault.Kind] {
            let write: @Sendable (Tree) -> Void = { $0.put(place, Self.theirs) }
            return switch self {
            case .nothingThenLost: [.part(0, .hangup)]
            case .partThenLost: [.part(1, .hangup)]
            case .allThenLost: [.lostAnswer(executed: true)]
            case .partThen504: [.part(1, .status(504))]
            case .allThen504: [.statusAfterwards(504)]
            case .failures: [.part(1, .failures)]
            case .page: [.page]
            case .created: [.status(201)]
            case .partThenCreated: [.part(1, .status(201))]
            case .othersBefore: [.othersBefore(write)]
            case .othersAfter: [.othersAfter(write), .lostAnswer(executed: true)]
            case .othersBetween: [.part(0, .hangup), .othersAfter(write)]
            case .othersBetweenAfterPart: [.part(1, .hangup), .othersAfter(write)]
            }
        }

        /// Whether others write between the server's last answer and a request of which the server heeds no condition.
        /// This round trip is the one that the page about writing names.
        func isInWindow(_ change: Change, _ kind: Kind) -> Bool {
            guard self == .othersBefore else { return false }
            return switch change {
            case .put, .replace, .removeFile: kind == .behindProxy
            case .removeFolder: true
            default: false
            }
        }

        var hasOthers: Bool {
            switch self {
            case .othersBefore, .othersAfter, .othersBetween, .othersBetweenAfterPart: true
            default: false
            }
        }
    }

    enum Kind: CaseIterable, Sendable {
        case family, nextcloud, plain, behindProxy

        var manner: Manner {
            switch self {
            case .family: Manner()
            case .nextcloud: .nextcloud
            case .plain: .plain
            case .behindProxy: .behindApache
            }
        }
    }

    /// Returns what the server has below a folder.
    private func content(_ server: TestServer, in folder: String) -> [String: String] {
        var all: [String: String] = [:]
        for path in server.tree.paths where path.hasPrefix(folder + "/") {
            let bytes = server.tree.bytes(of: path)
            let name = String((path.hasSuffix("/") ? path.dropLast() : path[...]).dropFirst(folder.count))
            all[name] = bytes.map { String(decoding: $0, as: UTF8.self) } ?? Change.folder
        }
        all[""] = nil
        return all
    }

    @Test(
        "S49 S50 S35: a change of which a server does a part, or during which others write, loses nothing of anybody",
        arguments: Change.allCases, Kind.allCases)
    func table(_ change: Change, _ kind: Kind) async throws {
        try await AccountFixture.running(kind.manner) { fixture in
            // Each disturbance has a folder of its own.
            let disturbances = Disturbance.allCases.filter { !$0.isInWindow(change, kind) }
            for disturbance in disturbances {
                for (path, text) in Change.start where text != Change.folder {
                    fixture.server.tree.put("/\(disturbance)\(path)", text, modified: 1_600_000_000)
                }
            }
            try await fixture.runWell()
            for disturbance in disturbances {
                try await disturbed(change, disturbance, fixture, "\(change), \(disturbance), \(kind)")
            }
        }
    }

    private func disturbed(
        _ change: Change, _ disturbance: Disturbance, _ fixture: AccountFixture, _ note: Comment
    ) async throws {
        let folder = "/\(disturbance)"
        for kind in disturbance.faults(folder + change.place) {
            fixture.server.add(Fault(kind, method: change.method, path: folder, below: true, times: 1))
        }
        var locks: [any Sendable] = []
        let request = try change.request(in: folder) { path, replaces in
            let mine = fixture.bookmark.vault + "/../mine"
            try Files.write(Change.mine, to: mine)
            let (snapshot, taken) = try Snapshots.take(of: mine, to: path, for: fixture.bookmark, withSHA1: true)
            locks.append(taken)
            return .put(snapshot, path, replaces: replaces)
        }
        func isHere(_ path: String) -> Bool { path.hasPrefix(folder + "/") }
        var record = try await fixture.host.perform(ServerChange([request], waits: true)).changes.first?.record
        withExtendedLifetime(locks) {}
        var issues: [Model.Issue] = []
        for _ in 0..<16 {
            issues = try await fixture.issues().filter { isHere($0.subject) }
            guard let id = record, issues.isEmpty else { break }
            fixture.clock.advance(.seconds(60))
            _ = try await fixture.host.perform(ServerChange([], after: [id], waits: true))
            record = try await fixture.records().first { $0.id == id }?.id
        }
        let there = content(fixture.server, in: folder)
        let contents = Set(there.values)
        // Nothing of anybody is lost.
        if disturbance.hasOthers { #expect(contents.contains(Disturbance.theirs), note) }
        for text in Set(["one", "two", "three"]).subtracting(change.losses(disturbance)) {
            #expect(contents.contains(text), note)
        }
        if change.method == "PUT", record != nil {
            let kept = try Files.names(in: "\(fixture.bookmark.vault)/outgoing")
            #expect(contents.contains(Change.mine) || !kept.isEmpty, note)
        }
        // What counts as done is done, and what is not done is named.
        if record == nil {
            for (path, text) in change.end where path != change.place || !disturbance.hasOthers {
                #expect(there[path] == text, "\(note) \(path)")
            }
            if !disturbance.hasOthers { #expect(there == change.end, note) }
        } else {
            #expect(!issues.isEmpty, note)
            #expect(issues.allSatisfy { $0.choices.contains { $0.impact == .nonDestructive } }, note)
        }
    }
}
