import TestSupport
import Testing

@testable import Connection

/// A server with a number of workers, behind a way, that clients ask without a pause. Time is a value.
private struct ModelServer {
    struct Client {
        var concurrency: Concurrency
        var underWay = 0
        /// The number of requests that it still sends; nil for any number.
        var left: Int?
        var begins = Duration.zero
        var done = 0
        var refusals = 0
        var longest = Duration.zero
        /// The numbers over time.
        var limits: [Int] = []
    }

    /// The workers; nil for any number of them.
    var workers: Int?
    /// The time in which a worker answers.
    var work: Duration
    /// The time there and back.
    var way: Duration
    /// The number of requests beyond which it refuses.
    var most = Int.max
    /// How far the time of a single answer may differ, as a share.
    var jitter = 0.0
    var random = SeededGenerator(seed: 1)
    var clients: [Client]

    private var now = Duration.zero
    private var events: [(at: Duration, client: Int, took: Duration, isRefused: Bool)] = []
    private var busyUntil: [Duration] = []

    init(workers: Int? = nil, work: Duration, way: Duration, clients: Int = 1, most: Int = 64) {
        (self.workers, self.work, self.way) = (workers, work, way)
        let concurrency = Concurrency(.answerTimes(AnswerTimes()), most: most)
        self.clients = (0..<clients).map { _ in Client(concurrency: concurrency) }
        busyUntil = Array(repeating: .zero, count: workers ?? 0)
    }

    var limit: Int { clients[0].concurrency.limit }
    var total: Int { clients.reduce(0) { $0 + $1.underWay } }

    private mutating func send(_ client: Int) {
        while clients[client].begins <= now, clients[client].left != 0,
            clients[client].underWay < clients[client].concurrency.limit
        {
            clients[client].underWay += 1
            clients[client].left = clients[client].left.map { $0 - 1 }
            clients[client].concurrency.began(underWay: clients[client].underWay)
            if total > most {
                events.append((now + way, client, way, true))
                continue
            }
            let factor = 1 + jitter * Double.random(in: -1...1, using: &random)
            let arrives = now + way / 2
            var end = arrives + work * factor
            if let next = busyUntil.indices.min(by: { busyUntil[$0] < busyUntil[$1] }) {
                end = max(arrives, busyUntil[next]) + work * factor
                busyUntil[next] = end
            }
            let comes = end + way / 2
            events.append((comes, client, comes - now, false))
        }
    }

    /// Lets time pass.
    mutating func run(for time: Duration) {
        let end = now + time
        for client in clients.indices { send(client) }
        while let next = events.indices.min(by: { events[$0].at < events[$1].at }), events[next].at <= end {
            let event = events.remove(at: next)
            now = max(now, event.at)
            var client = clients[event.client]
            if event.isRefused {
                client.refusals += 1
                client.concurrency.refused(underWay: client.underWay, now: now)
            } else {
                client.done += 1
                client.longest = max(client.longest, event.took)
                client.concurrency.answered(after: event.took, underWay: client.underWay, now: now)
            }
            client.underWay -= 1
            client.concurrency.ended()
            client.limits.append(client.concurrency.limit)
            clients[event.client] = client
            for other in clients.indices { send(other) }
        }
        now = end
    }
}

struct ConcurrencyTests {
    @Test(
        "C7: behind a long way the number reaches its bound within ten times the way there and back",
        arguments: [20, 100, 300])
    func long(milliseconds: Int) {
        let way = Duration.milliseconds(milliseconds)
        var server = ModelServer(work: .milliseconds(1), way: way)
        server.run(for: (way + .milliseconds(1)) * 10)
        #expect(server.limit == 64)
        // Now and then few are under way for a moment, to measure how long answers take then.
        let before = server.clients[0].done
        server.run(for: way * 400)
        #expect(server.limit == 64 || server.limit == 4)
        #expect(server.clients[0].done - before > 400 * 64 * 8 / 10)
    }

    @Test("C7: before a server of six workers the number settles at about six, and no answer takes four times as long")
    func slow() {
        var server = ModelServer(workers: 6, work: .milliseconds(100), way: .zero)
        server.run(for: .seconds(20))
        #expect((6...9).contains(server.limit), "\(server.limit)")
        server.clients[0].limits = []
        server.run(for: .seconds(200))
        #expect(server.clients[0].limits.allSatisfy { (4...12).contains($0) })
        #expect(server.clients[0].longest <= .milliseconds(400), "\(server.clients[0].longest)")
        // Six at a time are all that there is.
        #expect(server.clients[0].done > 220 * 60 * 95 / 100)
    }

    @Test("answers of differing times do not mislead it", arguments: [1, 2, 3, 4, 5])
    func jitter(seed: Int) {
        var server = ModelServer(work: .milliseconds(40), way: .milliseconds(20))
        (server.jitter, server.random) = (0.8, SeededGenerator(seed: UInt64(seed)))
        server.run(for: .seconds(8))
        let many = server.clients[0].limits.suffix(2_000)
        #expect(many.reduce(0, +) / many.count > 48, "\(many.reduce(0, +) / many.count)")
    }

    @Test("a way that becomes longer, or shorter, is learned anew")
    func other() {
        var server = ModelServer(work: .milliseconds(1), way: .milliseconds(20))
        server.run(for: .seconds(1))
        server.way = .milliseconds(200)
        server.run(for: .seconds(10))
        #expect(server.limit == 64)
        server.way = .milliseconds(5)
        server.run(for: .seconds(1))
        #expect(server.limit == 64)
    }

    @Test(
        "C7: a server that refuses has half as many under way at once, and for a minute no more",
        arguments: [1, 3, 10, 40])
    func refusing(most: Int) {
        var server = ModelServer(work: .milliseconds(100), way: .milliseconds(200))
        server.most = most
        server.run(for: .seconds(8))
        #expect(server.limit <= most && server.clients[0].refusals <= 2 * 64)
        let before = server.clients[0].refusals
        server.run(for: .seconds(50))
        #expect(server.clients[0].refusals == before)
        // Later more are tried, after a minute and then after two.
        server.run(for: .seconds(150))
        #expect(server.clients[0].refusals - before <= 2 * most, "\(server.clients[0].refusals)")
        #expect(server.clients[0].done > 0)
    }

    @Test("C7: two accounts at one slow server both get on, whichever came first", arguments: [0, 1, 30])
    func two(seconds: Int) {
        var server = ModelServer(workers: 6, work: .milliseconds(100), way: .zero, clients: 2)
        server.clients[1].begins = .seconds(seconds)
        server.run(for: .seconds(seconds + 5))
        let before = server.clients.map(\.done)
        server.run(for: .seconds(120))
        let done = zip(server.clients.map(\.done), before).map { $0 - $1 }
        #expect(done[0] * 3 > done[1] && done[1] * 3 > done[0], "\(done)")
        #expect(done[0] + done[1] > 120 * 60 * 9 / 10)
    }

    @Test("C7: what the config says is never exceeded, and without a need nothing grows", arguments: [1, 2, 4, 5, 20])
    func bound(most: Int) {
        var server = ModelServer(work: .milliseconds(1), way: .milliseconds(20), most: most)
        server.run(for: .seconds(10))
        #expect(server.clients[0].limits.max() == most && server.clients[0].limits.allSatisfy { $0 >= min(4, most) })
        var quiet = Concurrency(.answerTimes(AnswerTimes()), most: 64)
        for number in 1..<1_000 {
            quiet.began(underWay: 1)
            quiet.answered(after: .milliseconds(20), underWay: 1, now: .seconds(number))
            quiet.ended()
        }
        #expect(quiet.limit == 4)
    }

    @Test("a request that is refused while it is the only one says nothing of their number")
    func refusedAlone() {
        var concurrency = Concurrency(.answerTimes(AnswerTimes()), most: 64)
        concurrency.refused(underWay: 1, now: .zero)
        #expect(concurrency.limit == 4)
        concurrency.refused(underWay: 2, now: .zero)
        #expect(concurrency.limit == 1)
    }

    @Test(
        "whatever a refusal has left, the number grows again when answers have another time by then",
        arguments: [20, 28, 40])
    func again(milliseconds: Int) {
        var concurrency = Concurrency(.answerTimes(AnswerTimes()), most: 64)
        func answer(after time: Int, from start: Duration, count: Int) {
            for number in 0..<count {
                let limit = concurrency.limit
                concurrency.began(underWay: limit)
                concurrency.answered(
                    after: .milliseconds(time), underWay: limit, now: start + .milliseconds(10) * number)
                concurrency.ended()
            }
        }
        answer(after: 20, from: .zero, count: 4)
        for second in [1, 2] {
            concurrency.refused(underWay: concurrency.limit, now: .seconds(second))
            for _ in 0..<4 { concurrency.ended() }
        }
        #expect(concurrency.limit == 1)
        answer(after: milliseconds, from: .seconds(3), count: 40_000)
        #expect(concurrency.limit == 64)
    }

    @Test("a refusal long after the last one leaves less for no longer than the first one did")
    func later() {
        var concurrency = Concurrency(.answerTimes(AnswerTimes()), most: 4)
        for hour in 1...8 {
            concurrency.refused(underWay: 4, now: .seconds(3_600 * hour))
            for _ in 0..<4 { concurrency.ended() }
            let minute = Duration.seconds(3_600 * hour + 61)
            for _ in 0..<200 {
                concurrency.began(underWay: concurrency.limit)
                concurrency.answered(after: .milliseconds(20), underWay: concurrency.limit, now: minute)
                concurrency.ended()
            }
            #expect(concurrency.limit == 4, "hour \(hour)")
        }
    }

    // MARK: Large files

    /// Lets large files be transferred that together reach a rate in bytes a second.
    private func transfer(
        _ concurrency: inout Concurrency, from start: Duration, for time: Duration, rate: (Int) -> Double
    ) {
        var now = start
        while now < start + time {
            now += .milliseconds(100)
            let limit = concurrency.limit
            for _ in 0..<limit {
                concurrency.transferred(Int(rate(limit) / 10 / Double(limit)), underWay: limit, now: now)
            }
        }
    }

    @Test("C7: large files: further ones are added while all together become faster")
    func large() {
        var concurrency = Concurrency(.byteRate(ByteRate()), most: 64)
        transfer(&concurrency, from: .zero, for: .seconds(60)) { Double(min($0, 20)) * 1e6 }
        #expect((19...31).contains(concurrency.limit), "\(concurrency.limit)")
        // Where the way is full with a few, it stays with these.
        var full = Concurrency(.byteRate(ByteRate()), most: 64)
        var most = 0
        for minute in 0..<10 {
            transfer(&full, from: .seconds(60 * minute), for: .seconds(60)) { _ in 1e7 }
            most = max(most, full.limit)
        }
        #expect(full.limit == 4 && most <= 6)
    }

    @Test("large files: fewer than allowed say nothing, and a refusal leaves half")
    func largeFew() {
        var concurrency = Concurrency(.byteRate(ByteRate()), most: 64)
        for tenth in 1...600 { concurrency.transferred(1 << 20, underWay: 3, now: .milliseconds(100 * tenth)) }
        #expect(concurrency.limit == 4)
        concurrency.refused(underWay: 4, now: .seconds(61))
        #expect(concurrency.limit == 2)
        // The others were under way with it.
        for underWay in [4, 3, 2] {
            concurrency.refused(underWay: underWay, now: .seconds(61))
            #expect(concurrency.limit == 2)
            concurrency.ended()
        }
        concurrency.ended()
        concurrency.refused(underWay: 2, now: .seconds(62))
        #expect(concurrency.limit == 1)
    }
}
