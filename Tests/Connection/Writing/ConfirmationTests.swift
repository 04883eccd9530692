import DemoServer
import Logging
import Model
import TestServer
import TestSupport
import Testing
import Threads

@testable import Connection

/// The questions what the server holds after uploads into one folder.
struct ConfirmationTests {
    private typealias Number = ConfirmationQueue.Number

    private let held = HeldItem(item: ListedItem(path: .root, kind: .folder))

    /// The numbers for which a question asks; nil if it does not lead.
    private func together(_ step: ConfirmationQueue.Step) -> Set<Number>? {
        if case .ask(let together) = step { Set(together.keys) } else { nil }
    }

    @Test("S35: the first question about a folder goes out alone, and the next one asks for all that came meanwhile")
    func led() throws {
        var queue = ConfirmationQueue()
        let numbers = (0..<4).map { queue.begin(path("/d/\($0)")) }
        let other = queue.begin(path("/e/x"))
        #expect(numbers.map(queue.isReady) == [true, false, false, false] && queue.isReady(other))
        #expect(together(queue.take(numbers[0])) == [] && together(queue.take(other)) == [])
        queue.end(path("/e"))
        queue.end(path("/d"))
        #expect(numbers.map(queue.isReady) == [false, true, false, false])
        guard case .ask(let others) = queue.take(numbers[1]) else { throw SetupError("the second does not ask") }
        #expect(others == [numbers[2]: path("/d/2"), numbers[3]: path("/d/3")])
        let late = queue.begin(path("/d/late"))
        queue.answer(others, [path("/d/2"): held])
        guard case .answered(held) = queue.take(numbers[2]) else { throw SetupError("the third is not answered") }
        guard case .askAlone = queue.take(numbers[3]) else { throw SetupError("the fourth does not ask") }
        queue.end(path("/d"))
        #expect(together(queue.take(late)) == [])
        queue.end(path("/d"))
        #expect(queue.isEmpty)
    }

    @Test("S35: whoever gives up at any moment keeps nobody waiting", arguments: 0..<200)
    func left(round: Int) {
        var random = SeededGenerator(seed: UInt64(round))
        var queue = ConfirmationQueue()
        var waiting: Set<Number> = []
        var leading: [Number: [Number: ItemPath]] = [:]
        var folders: [Number: ItemPath] = [:]
        for _ in 0..<200 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let path = path("/d\(Int.random(in: 0..<2, using: &random))/\(Int.random(in: 0..<9, using: &random))")
                let number = queue.begin(path)
                waiting.insert(number)
                folders[number] = path.parent
            case 2:
                guard let number = waiting.sorted().randomElement(using: &random) else { continue }
                queue.leave(number)
                waiting.remove(number)
            case 3:
                for number in waiting where queue.isReady(number) {
                    waiting.remove(number)
                    if case .ask(let others) = queue.take(number) { leading[number] = others }
                }
            default:
                guard let (number, others) = leading.sorted(by: { $0.key < $1.key }).randomElement(using: &random)
                else {
                    continue
                }
                leading[number] = nil
                queue.answer(others)
                queue.end(folders[number] ?? .root)
            }
            #expect(Set(leading.keys.compactMap { folders[$0] }).count == leading.count)
        }
        for _ in 0..<2_000 where !waiting.isEmpty || !leading.isEmpty {
            for number in waiting where queue.isReady(number) {
                waiting.remove(number)
                if case .ask(let others) = queue.take(number) { leading[number] = others }
            }
            for (number, others) in leading {
                queue.answer(others)
                queue.end(folders[number] ?? .root)
            }
            leading = [:]
        }
        #expect(waiting.isEmpty && queue.isEmpty, "round \(round)")
    }

    /// - Parameter clock: The connection's clock. No time passes on it by itself.
    private func running(
        clock: TestClock = .skipping(), _ body: (TestServer, Connection) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner = .plain
        try await TestServer.running(configuration) { server in
            let connection = Connection(
                bookmark: .at(server.folderURL, username: configuration.user),
                credentials: .basic(username: configuration.user, password: configuration.password), clock: clock.host,
                logger: Logger(label: "test"))
            try await closing(connection) {
                _ = try await connection.connect()
                try await body(server, connection)
            }
        }
    }

    @Test("S53: uploads of a batch are confirmed by one listing, unless they are few, old, or the folder is large")
    func batch() async throws {
        let clock = TestClock.skipping()
        try await running(clock: clock) { server, connection in
            _ = try await connection.writes.makeFolder(path("/d"))
            let request = UploadRequest(base: .new, size: 4)
            var uploads: [AnsweredUpload] = []
            for number in 0..<5 {
                let place = path("/d/\(number)")
                let outcome = try await connection.writes.put(place, request, from: MemorySource("mine"))
                guard case .done(let answer) = outcome else { throw SetupError("\(outcome)") }
                uploads.append(AnsweredUpload(place, request, answer, at: clock.monotonic))
            }
            server.forgetRequests()
            let all = await connection.writes.confirm(in: path("/d"), uploads, among: { 100 })
            #expect(all.count == 5 && server.requests.count == 1)
            // A folder of more than twenty entries for each of them costs more than it tells.
            #expect(await connection.writes.confirm(in: path("/d"), uploads, among: { 101 }).isEmpty)
            #expect(await connection.writes.confirm(in: path("/d"), Array(uploads.prefix(2)), among: { 5 }).isEmpty)
            // A listing that does not come to its end is no answer.
            server.add(Fault(.cutOff(afterBytes: 300), method: "PROPFIND", path: "/d/"))
            #expect(await connection.writes.confirm(in: path("/d"), uploads, among: { 5 }).isEmpty)
            server.forgetRequests()
            clock.advance(.milliseconds(600))
            #expect(await connection.writes.confirm(in: path("/d"), uploads, among: { 5 }).isEmpty)
            #expect(server.requests.isEmpty)
        }
    }

    /// Uploads ten files, and confirms them together while the first question is held.
    /// - Returns: The confirmations, and the requests for them.
    private func confirmations(
        _ server: TestServer, _ connection: Connection, entries: Int, _ fault: Fault? = nil,
        before: @escaping @Sendable () -> Void = {}
    ) async throws -> (confirmations: [ChangeConfirmation], requests: [String]) {
        let request = UploadRequest(base: .new, size: 4)
        var answers: [WriteAnswer] = []
        for number in 0..<10 {
            let outcome = try await connection.writes.put(path("/d/\(number)"), request, from: MemorySource("mine"))
            guard case .done(let answer) = outcome else { throw SetupError("\(outcome)") }
            answers.append(answer)
        }
        let done = answers
        server.forgetRequests()
        if let fault { server.add(fault) }
        let hold = server.add(Fault(.hold(), method: "PROPFIND", path: "/d/0"))
        let all = try await withThrowingTaskGroup(of: (Int, ChangeConfirmation).self) { group in
            @Sendable func confirm(_ number: Int) async throws -> (Int, ChangeConfirmation) {
                (
                    number,
                    try await connection.writes.confirm(
                        path("/d/\(number)"), request, answer: done[number], among: { entries }
                    ).0
                )
            }
            group.addTask { try await confirm(0) }
            await server.untilHeld(hold)
            for number in 1..<10 { group.addTask { try await confirm(number) } }
            await until { connection.writes.confirmations.waiting == 9 }
            before()
            server.remove(hold)
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return (
            (0..<10).compactMap { all[$0] },
            server.requests.filter { $0.method == "PROPFIND" }.map(\.path).sorted()
        )
    }

    @Test("S35: what was uploaded into a folder meanwhile is confirmed by one listing; of a large folder, one by one")
    func together() async throws {
        try await running { server, connection in
            server.tree.makeFolder("/d")
            let (confirmations, requests) = try await confirmations(server, connection, entries: 180)
            #expect(confirmations == Array(repeating: .made, count: 10) && requests == ["/d", "/d/0"])
        }
        try await running { server, connection in
            server.tree.makeFolder("/d")
            let (confirmations, requests) = try await confirmations(server, connection, entries: 181)
            #expect(confirmations == Array(repeating: .made, count: 10))
            #expect(requests == (0..<10).map { "/d/\($0)" })
        }
    }

    @Test(
        "S35: a listing that breaks off, or does not show a name, confirms and denies nothing",
        arguments: [true, false])
    func incomplete(isCutOff: Bool) async throws {
        try await running { server, connection in
            server.tree.makeFolder("/d")
            let fault = Fault(isCutOff ? .cutOff(afterBytes: 900) : .status(500), method: "PROPFIND", path: "/d")
            let (confirmations, requests) = try await confirmations(server, connection, entries: 10, fault)
            #expect(confirmations == Array(repeating: .made, count: 10))
            #expect(Set(requests) == Set(["/d"] + (0..<10).map { "/d/\($0)" }))
        }
    }

    @Test("S35: what has waited for long is asked for one by one, while the server's clock still proves something")
    func late() async throws {
        let clock = TestClock.skipping()
        try await running(clock: clock) { server, connection in
            server.tree.makeFolder("/d")
            let (confirmations, requests) = try await confirmations(server, connection, entries: 10) {
                clock.advance(ConfirmationQueue.longestWait)
            }
            #expect(confirmations == Array(repeating: .made, count: 10))
            #expect(requests == (0..<10).map { "/d/\($0)" })
        }
    }

    @Test("S35: what somebody else has put in the place of an upload meanwhile is not taken for it")
    func foreign() async throws {
        try await running { server, connection in
            server.tree.makeFolder("/d")
            let (confirmations, _) = try await confirmations(server, connection, entries: 10) {
                server.tree.put("/d/3", "of somebody else")
                server.tree.remove("/d/4")
            }
            let others = confirmations.indices.filter { confirmations[$0] != .made }
            #expect(others == [3, 4] && confirmations[3] == .foreign && confirmations[4] == .undone)
        }
    }
}
