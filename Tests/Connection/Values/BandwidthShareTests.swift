import Model
import TestSupport
import Testing

@testable import Connection

/// A bandwidth limit in virtual time.
struct BandwidthShareTests {
    /// Transfers that ask for one piece after the other, and the timer that grants them.
    private struct Course {
        struct Transfer {
            var size: SizeClass
            /// The bytes of its next piece.
            var piece: () -> Int
            /// The time from a grant to the next request.
            var gap: () -> Duration = { .zero }
            /// The time of its next request; nil while a request waits.
            var asks: Duration?
            var wanted = 0
            var got: Int64 = 0
        }

        var share: BandwidthShare
        var now = Duration.seconds(77)
        var transfers: [Transfer] = []
        var grants: [(at: Duration, bytes: Int)] = []
        /// By how much the timer is late.
        var lateness: () -> Duration = { .zero }

        init(limit: Int64?) { share = BandwidthShare(limit: limit) }

        mutating func add(_ size: SizeClass, piece: @escaping () -> Int) {
            transfers.append(Transfer(size: size, piece: piece, asks: now))
        }

        mutating func add(_ size: SizeClass, piece: Int) { add(size) { piece } }

        mutating func run(for time: Duration) {
            let end = now + time
            while true {
                let asks = transfers.indices.compactMap { index in transfers[index].asks.map { (index, $0) } }
                let ask = asks.min { $0.1 < $1.1 }
                let timer = share.due.map { max($0, now) + lateness() }
                guard let next = [ask?.1, timer].compactMap(\.self).min(), next <= end else { break }
                now = max(now, next)
                if let (index, time) = ask, time <= now {
                    transfers[index].wanted = transfers[index].piece()
                    transfers[index].asks = nil
                    share.ask(index, for: transfers[index].wanted, of: transfers[index].size, at: now)
                }
                for index in share.grant(at: now) {
                    grants.append((now, transfers[index].wanted))
                    transfers[index].got += Int64(transfers[index].wanted)
                    transfers[index].asks = now + transfers[index].gap()
                }
            }
            now = end
        }

        func got(_ size: SizeClass) -> Int64 {
            transfers.filter { $0.size == size }.reduce(0) { $0 + $1.got }
        }

        var total: Int64 { got(.small) + got(.large) }

        /// The most bytes by which the grants of any span of time exceed what the limit allows in it.
        func excess(over limit: Double) -> Double {
            var (most, level, last) = (0.0, 0.0, now)
            for (index, grant) in grants.enumerated() {
                if index > 0 { level = max(0, level - limit * ((grant.at - last) / .seconds(1))) }
                level += Double(grant.bytes)
                (most, last) = (max(most, level), grant.at)
            }
            return most
        }
    }

    private static let megabyte: Int64 = 1_000_000

    @Test("S37: in no span of time more than the limit is granted, but for a burst and a piece; what waits uses it all")
    func limit() {
        var random = SeededGenerator()
        let seed = random.seed
        for _ in 0..<20 {
            let limit = Int64.random(in: 20_000...50_000_000, using: &random)
            var course = Course(limit: limit)
            let late = Int.random(in: 0...200, using: &random)
            var lateness = SeededGenerator(seed: random.next())
            course.lateness = { .milliseconds(Int.random(in: 0...late, using: &lateness)) }
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                var pieces = SeededGenerator(seed: random.next())
                course.add(Bool.random(using: &random) ? .small : .large) {
                    Int.random(in: 1...262_144, using: &pieces)
                }
            }
            course.run(for: .seconds(60))
            let allowed = Double(limit) * (BandwidthShare.burst / .seconds(1)) + 262_144
            #expect(course.excess(over: Double(limit)) <= allowed + 1, "LARDER_TEST_SEED=\(seed)")
            // The pieces that still wait have been saved for.
            #expect(Double(course.total) >= 60 * Double(limit) - 8 * 262_144, "LARDER_TEST_SEED=\(seed)")
        }
    }

    @Test("S37: while small and large files wait, each class gets half, whatever their numbers and pieces are")
    func halves() {
        for (small, large, smallPiece, largePiece) in [
            (1, 6, 4_096, 262_144), (6, 1, 262_144, 4_096), (1, 1, 900, 900),
        ] {
            var course = Course(limit: Self.megabyte / 10)
            for _ in 0..<large { course.add(.large, piece: largePiece) }
            course.run(for: .seconds(30))
            for _ in 0..<small { course.add(.small, piece: smallPiece) }
            let before = course.got(.large)
            course.run(for: .seconds(300))
            let (others, mine) = (course.got(.large) - before, course.got(.small))
            #expect(abs(others - mine) <= 2 * 262_144, "\(mine) of \(others + mine)")
            #expect(mine > 14_000_000 && others > 14_000_000)
        }
    }

    @Test("S37: a class that waits alone gets everything, and cannot make up later for what it did not want")
    func alone() {
        for (alone, late) in [(SizeClass.small, SizeClass.large), (.large, .small)] {
            var course = Course(limit: Self.megabyte)
            course.add(alone, piece: 10_000)
            course.run(for: .seconds(100))
            #expect(course.got(alone) >= 100 * Self.megabyte)
            let before = course.got(alone)
            course.add(late, piece: 10_000)
            course.run(for: .seconds(10))
            #expect(abs(course.got(late) - 5 * Self.megabyte) <= 20_000)
            #expect(abs(course.got(alone) - before - 5 * Self.megabyte) <= 20_000)
            // The newcomer goes. The other has everything again.
            course.transfers.removeLast()
            course.share.withdraw(1)
            course.run(for: .seconds(10))
            #expect(course.got(alone) - before >= 15 * Self.megabyte - 20_000)
        }
    }

    @Test("S37: files of a class take turns, and one with pauses of its own keeps its turn")
    func turns() {
        var course = Course(limit: Self.megabyte)
        for _ in 0..<3 { course.add(.large, piece: 10_000) }
        course.add(.small, piece: 10_000)
        course.transfers[3].gap = { .milliseconds(1) }
        // The burst at the beginning is for whoever comes first.
        course.run(for: .seconds(1))
        for index in course.transfers.indices { course.transfers[index].got = 0 }
        course.run(for: .seconds(60))
        let large = course.transfers[..<3].map(\.got)
        #expect((large.max() ?? 0) - (large.min() ?? 0) <= 10_000)
        #expect(abs(course.got(.small) - course.got(.large)) <= 20_000)
    }

    @Test("S37: another limit holds at once for what waits already")
    func change() {
        var course = Course(limit: 1)
        for size in SizeClass.allCases { course.add(size, piece: 100_000) }
        course.run(for: .seconds(10))
        #expect(course.total == 0)
        course.share.limit = Self.megabyte
        course.run(for: .seconds(10))
        #expect(course.total >= 10 * Self.megabyte - 200_000)
        #expect(course.total <= 10 * Self.megabyte + Self.megabyte / 4 + 100_000)
        let before = course.total
        course.share.limit = 1_000
        course.run(for: .seconds(1_000))
        #expect(abs(course.total - before - Self.megabyte) <= 200_000)
        course.share.limit = nil
        #expect(course.share.grant(at: course.now).count == 2 && course.share.isEmpty && course.share.due == nil)
    }

    @Test("S37: after hours with late timers the sum is that of the limit, and hours without transfers count nothing")
    func drift() {
        var course = Course(limit: Self.megabyte)
        var random = SeededGenerator(seed: 7)
        course.lateness = { .microseconds(Int.random(in: 0...90_000, using: &random)) }
        course.add(.large, piece: 262_144)
        course.run(for: .seconds(36_000))
        let expected = 36_000 * Self.megabyte
        #expect(abs(course.total - expected) <= 262_144 + Self.megabyte / 4, "\(course.total - expected)")
        // The bucket holds no more than a burst after that.
        course.share.withdraw(0)
        course.now += .seconds(36_000)
        let before = course.total
        course.transfers[0].asks = course.now
        course.run(for: .seconds(1))
        #expect(course.total - before <= Self.megabyte + Self.megabyte / 4)
    }

    @Test("S37: the least and the largest limits and pieces are only slow or fast")
    func absurd() {
        for limit in [Int64.min, 0, 1, .max] {
            for bytes in [1, Int.max] {
                var share = BandwidthShare(limit: limit)
                for number in 0..<4 {
                    share.ask(number, for: bytes, of: number % 2 == 0 ? .small : .large, at: .seconds(1))
                }
                var now = Duration.seconds(1)
                while let due = share.due {
                    now = max(now, due)
                    #expect(!share.grant(at: now).isEmpty)
                }
                #expect(share.isEmpty)
                share.ask(9, for: bytes, of: .small, at: now)
                #expect(share.due != nil)
            }
        }
    }

    @Test("S37: a file of a MiB is small, and one of unknown size is large")
    func classes() {
        let sizes: [Int64?] = [0, 1 << 20, (1 << 20) + 1, nil]
        #expect(sizes.map { SizeClass(of: $0) } == [.small, .small, .large, .large])
    }
}
