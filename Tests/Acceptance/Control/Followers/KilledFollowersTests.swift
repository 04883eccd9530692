import Glibc
import Model
import TestSupport
import Testing

/// Live queries and the change feed through the socket, while items change and hosts and clients are killed.
///
///     LARDER_TEST_ROUNDS=100 ./Tests/run --filter KilledFollowersTests
@Suite(.serialized) struct KilledFollowersTests {
    /// The number of kills of hosts is `LARDER_TEST_ROUNDS`, and that of clients at least that.
    @Test(
        "U3 U5 E2: whenever hosts and clients are killed, what a client was told comes to what a fresh list has",
        .timeLimit(.minutes(120)), arguments: Place.chosen(usually: [.testServer]))
    func killed(_ place: Place) async throws {
        var random = SeededGenerator()
        let seed: Comment = "LARDER_TEST_SEED=\(random.seed)"
        let kills = SeededGenerator.rounds(usually: 4)
        try await withTemporaryFolder { folder in
            try await place.withTree("\(folder)/data") { tree in
                let account = try Account(
                    in: folder, url: tree.url, user: tree.user, password: tree.password,
                    settings: ["poll: 1s", "walk: 1s", "removal-guard: off", "plugins: { vacuum: { after: 0s } }"])
                var disturbance = Disturbance(account, tree, random)
                try await disturbance.begin(many: 510)
                let first = try await account.larder("run", "--once")
                try #require(first.exitCode == 0, "\(first.summary)")
                let followers = try await account.followers()
                let start = ContinuousClock.now
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for follower in followers {
                        let own = random.next()
                        group.addTask {
                            try await onThread { [lock = account.lock] in
                                follower.run(own) { (try? Files.text(lock)).flatMap(Account.socket(inLock:)) }
                            }
                        }
                    }
                    var course = KilledCourse(account, tree, followers, disturbance, random)
                    do {
                        try await course.run(kills: kills, ofClients: max(8, kills))
                    } catch {
                        Issue.record("\(error) \(seed)")
                    }
                    await course.end()
                    for follower in followers { follower.stop() }
                    try await group.waitForAll()
                    print("\(place): \(course.story), \(ContinuousClock.now - start)")
                }
                for follower in followers {
                    print("  \(follower.story)")
                    #expect(follower.faults == [], seed)
                }
            }
        }
    }
}

extension Account {
    fileprivate var lock: String { "\(vault)/lock" }

    /// The socket that the text of a vault's lock names.
    fileprivate static func socket(inLock text: String) -> String? {
        let lines = text.split(separator: "\n")
        return lines.count > 1 && lines[1].hasPrefix("/") ? String(lines[1]) : nil
    }

    /// The clients: of queries of several kinds, and of the feed.
    fileprivate func followers() async throws -> [Follower] {
        let condition = "type == 'file' && size > 40"
        // A path's letters that have a meaning in a target are encoded.
        let item = "/o1/a%2541%20%C3%A9"
        let now = try await json("events")
        guard case .string(let text)? = now.last?["position"], let position = ChangePosition(text) else {
            throw SetupError("no position: \(now)")
        }
        let all = try await json("ls", "-r", "--removed", "/") + json("stat", "/")
        func isRemoved(_ item: JSONValue) -> Bool { item["removed"] == .bool(true) }
        let feed = try ReplayedFeed(all.filter { !isRemoved($0) }, removed: all.filter(isRemoved))
        return [
            Follower("query?path=/o0", ["ls", "/o0"], ReplayedList()),
            Follower(
                "query?path=/o1&sort=size&descending=1&limit=5",
                ["ls", "/o1", "--sort", "size", "--descending", "--limit", "5"], ReplayedList(limit: 5)),
            Follower(
                "query?recursive=1&sort=lastModified&where=type%20%3D%3D%20'file'%20%26%26%20size%20%3E%2040",
                ["ls", "-r", "/", "--sort", "lastModified", "--where", condition], ReplayedList()),
            Follower("query?recursive=1", ["ls", "-r", "/"], ReplayedList()),
            Follower("query?item=\(item)", ["stat", Disturbance.followed], ReplayedList(limit: 1)),
            Follower("changes", [], feed, after: position),
        ]
    }

    /// Runs a command that prints a line of JSON for each of its objects.
    fileprivate func json(_ arguments: String...) async throws -> [JSONValue] { try await json(arguments) }

    /// Returns what a command prints. An item that is not there is none.
    fileprivate func json(_ arguments: [String]) async throws -> [JSONValue] {
        let result = try await larder.run(["--json"] + arguments)
        if result.exitCode == 66 { return [] }
        guard result.exitCode == 0 else { throw SetupError("\(arguments): \(result.summary)") }
        return try result.lines.map { try JSONValue(parsing: $0) }
    }

    /// Returns what a follower should have.
    fileprivate func content(of follower: Follower) async throws -> [String] {
        guard follower.command.isEmpty else { return try await json(follower.command).map(\.text) }
        return ReplayedFeed.content(try await json("ls", "-r", "/") + json("stat", "/"))
    }

    /// The position of the newest change, without a host or with one.
    fileprivate func position() async throws -> ChangePosition {
        guard case .string(let text)? = try await json("events").last?["position"], let position = ChangePosition(text)
        else { throw SetupError("no position") }
        return position
    }
}

/// A course of changes and kills.
private struct KilledCourse {
    private let account: Account
    private let tree: OutsideTree
    private let followers: [Follower]
    private var disturbance: Disturbance
    private var random: SeededGenerator
    private var kills = 0
    private var rests = 0
    private var host: ChildProcess?

    init(
        _ account: Account, _ tree: OutsideTree, _ followers: [Follower], _ disturbance: Disturbance,
        _ random: SeededGenerator
    ) {
        (self.account, self.tree, self.followers) = (account, tree, followers)
        (self.disturbance, self.random) = (disturbance, random)
    }

    private var killsOfClients: Int { followers.map(\.kills).reduce(0, +) }

    /// What has happened.
    var story: String {
        "\(kills) kills of hosts, \(killsOfClients) of clients, \(rests) rests, \(disturbance.changes) changes, "
            + "\(disturbance.commands) commands"
    }

    mutating func run(kills most: Int, ofClients clients: Int) async throws {
        while kills < most || killsOfClients < clients {
            try start()
            // Some hosts live until all is at rest, and the first one does.
            if kills == 0 || Int.random(in: 0..<4, using: &random) == 0 {
                try await disturb(Int.random(in: 4...12, using: &random))
                try await rest()
            }
            try await kill()
        }
        try start()
        try await rest()
        guard await host?.stop() == .code(0) else { throw SetupError("the host has not ended well: \(log)") }
    }

    /// Ends the host that a failure has left.
    func end() async {
        host?.send(SIGKILL)
        _ = await host?.wait()
    }

    private var log: String { String((try? Files.text("\(account.folder)/log").suffix(4_000)) ?? "") }

    private mutating func start() throws {
        host = try account.larder.start(["run"], errors: "\(account.folder)/log")
    }

    /// Checks that the followers found nothing wrong, and starts the host again if a command had the vault.
    private mutating func look() async throws {
        for follower in followers where !follower.faults.isEmpty { throw SetupError("\(follower.faults)") }
        guard let host, host.hasEnded else { return }
        guard await host.wait() == .code(75) else { throw SetupError("the host has ended by itself: \(log)") }
        try start()
    }

    /// Kills the host: after a time, also while it begins, or when a client has heard something.
    private mutating func kill() async throws {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: break
        case 1:
            try await disturb(Int.random(in: 0...3, using: &random))
            one()?.whenHeard { [host] in host?.send(SIGKILL) }
            try await disturb(Int.random(in: 1...4, using: &random))
        default: try await disturb(Int.random(in: 1...6, using: &random))
        }
        try await Task.sleep(for: .milliseconds(.random(in: 0...800, using: &random)))
        host?.send(SIGKILL)
        let status = await host?.wait()
        guard status == .signal(SIGKILL) || status == .code(75) else {
            throw SetupError("the host has ended by itself: \(log)")
        }
        if status == .signal(SIGKILL) { kills += 1 }
        // Nothing was told that is not there any more.
        let told = followers.compactMap { $0.position }.max { $0.anchor < $1.anchor }
        let kept = try await account.position()
        if let told, told.epoch != kept.epoch || told.anchor > kept.anchor {
            throw SetupError("\(told) was told, and \(kept) is kept")
        }
        for follower in followers where !follower.faults.isEmpty { throw SetupError("\(follower.faults)") }
    }

    private mutating func disturb(_ count: Int) async throws {
        for _ in 0..<count {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4: one()?.kill(after: .random(in: 1...3_000, using: &random))
            case 4: one()?.pause(for: .milliseconds(.random(in: 1...3_000, using: &random)))
            default: break
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3: try await disturbance.command()
            case 3: try await disturbance.changeFollowed()
            default: try await disturbance.change()
            }
        }
    }

    private mutating func one() -> Follower? { followers.randomElement(using: &random) }

    /// Waits until everything is in sync, and compares what the followers have with fresh lists.
    private mutating func rest() async throws {
        rests += 1
        let end = ContinuousClock.now + .seconds(200)
        var difference = "the account does not come to rest"
        while ContinuousClock.now < end {
            try await look()
            guard try await account.larder("wait", "--timeout", "60s").exitCode == 0 else { continue }
            let before = try await account.position()
            let listed = try await account.json("ls", "-r", "/").compactMap { item -> String? in
                if case .string(let path)? = item["path"] { path } else { nil }
            }
            guard try await listed == tree.paths() else { continue }
            var fresh: [[String]] = []
            for follower in followers { fresh.append(try await account.content(of: follower)) }
            guard try await account.position() == before else { continue }
            // The lists are those of one state. What the clients have becomes equal to them while it is the state.
            let isEqual = await until(atMost: .seconds(20)) {
                zip(followers, fresh).allSatisfy { $0.content == $1 || !$0.faults.isEmpty }
            }
            guard !isEqual else {
                if let ahead = followers.first(where: { $0.position?.anchor ?? 0 > before.anchor }),
                    try await account.position() == before
                {
                    throw SetupError("\(ahead.target) is at \(ahead.position as Any), the account at \(before)")
                }
                return
            }
            difference = zip(followers, fresh).compactMap { Self.difference($0, $1) }.joined(separator: "\n")
            // A change of which nobody was told would be one that was missed.
            if try await account.position() == before { break }
        }
        throw SetupError("\(difference)\n\(story)\n\(log)")
    }

    private static func difference(_ follower: Follower, _ fresh: [String]) -> String? {
        let content = follower.content
        guard content != fresh else { return nil }
        let (missing, more) = (Set(fresh).subtracting(content), Set(content).subtracting(fresh))
        return """
            \(follower.story), at \(follower.position as Any), has \(content.count), fresh are \(fresh.count)
            \(missing.sorted().prefix(5).map { "misses \($0)" }.joined(separator: "\n"))
            \(more.sorted().prefix(5).map { "has \($0)" }.joined(separator: "\n"))
            """
    }
}
