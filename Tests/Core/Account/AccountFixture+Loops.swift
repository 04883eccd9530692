import Database
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport

@testable import Core

/// The test plugins in C with event loops, and the settings that name them.
struct Loopers {
    /// The plugin's only loop.
    static let loop = LoopKey(kind: LoopKind("looper"), id: LoopID("looper"))

    private let folder: String
    private(set) var plugins: [PluginSettings] = []

    init(in folder: String) { self.folder = folder }

    /// Adds the plugin `org.example.NAME` with loops of the kind NAME.
    /// - Parameters:
    ///   - mode: the behavior of the loops, see `looper.c`.
    ///   - target: the target that the loops request or have checked.
    ///   - collection: the collection whose records each have a loop; nil gives the plugin a single loop.
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
    /// Runs `body` with an account with test loops. The account scans when the test says so, and polls when the test
    /// advances the time.
    static func looping(
        mode: String = "", pages: Int = 1, target: String = "/asked", follower: Bool = false,
        // Longer than the waits of a run, shorter than the time limit of a loop's call.
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

    /// The number of times that the plugin sent a request to the server, or tried to.
    var asked: Int { log.messages.count { $0.hasPrefix("info: http ") } }

    /// The number of completed turns. A tick during a turn is dropped, so tests advance the time between turns.
    var turns: Int {
        log.messages.count { $0 == "debug: loop turn" || $0.hasPrefix("warning: The loop ") }
    }

    func loop(_ key: LoopKey = Loopers.loop) async throws -> LoopState? {
        try await host.database.read { try $0.loops.loop(key) }
    }

    /// Waits until a condition holds. The time limit of the suite ends the wait if the condition never holds.
    func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await HostClock.system.sleep(.milliseconds(5)) }
    }
}
