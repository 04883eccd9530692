import Database
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport

@testable import Core

/// Test plugins in C with event loops, as an account's settings name them.
struct Loopers {
    /// The plugin's one loop.
    static let loop = LoopKey(kind: LoopKind("looper"), id: LoopID("looper"))

    private let folder: String
    private(set) var plugins: [PluginSettings] = []

    init(in folder: String) { self.folder = folder }

    /// Adds the plugin `org.example.NAME` with loops of the kind NAME.
    /// - Parameters:
    ///   - mode: what it does, see `looper.c`.
    ///   - target: what it asks for or looks at.
    ///   - collection: for whose records it has loops; nil: it has one.
    mutating func add(
        _ name: String = "looper", mode: String = "", pages: Int = 1, target: String = "", collection: String? = nil
    ) async throws {
        var defines = ["OWN=\"org.example.\(name)\"", "KIND=\"\(name)\""]
        if let collection { defines.append("COLLECTION=\"\(collection)\"") }
        try await CompiledPlugin.build("looper", to: "\(folder)/\(name).so", defines: defines)
        plugins.append(
            PluginSettings(
                id: PluginID("org.example.\(name)"), library: "\(folder)/\(name).so", isolation: .inProcess,
                json: #"{"mode": "\#(mode)", "pages": "\#(pages)", "target": "\#(target)"}"#))
    }
}

extension AccountFixture {
    /// An account with test loops, which scans when it is told to, and polls when the time is put forward.
    static func looping(
        mode: String = "", pages: Int = 1, target: String = "/asked", follower: Bool = false,
        // Longer than what a run waits for, shorter than what a loop's call may take.
        patience: Duration = .seconds(5),
        isolation: isolated (any Actor)? = #isolation, _ body: (AccountFixture) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var loopers = Loopers(in: folder)
            try await loopers.add(mode: mode, pages: pages, target: target)
            if follower { try await loopers.add("follower", collection: "org.example.looper") }
            let settings = Settings(poll: TestClock.poll, walk: TestClock.poll, plugins: loopers.plugins)
            try await running(settings: settings, clock: .account(patience: patience), body)
        }
    }

    /// How often the plugin asked the server, or tried to.
    var asked: Int { log.messages.count { $0.hasPrefix("info: http ") } }

    /// How many turns have come to their end. A tick in the middle of one is dropped, so time is put forward between them.
    var turns: Int {
        log.messages.count { $0 == "debug: loop turn" || $0.hasPrefix("warning: The loop ") }
    }

    func loop(_ key: LoopKey = Loopers.loop) async throws -> LoopState? {
        try await host.database.read { try $0.loops.loop(key) }
    }

    /// Returns when something has come about, which the time limit of the suite makes sure of.
    func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await HostClock.system.sleep(.milliseconds(5)) }
    }
}
