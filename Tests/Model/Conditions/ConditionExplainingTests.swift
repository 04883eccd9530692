import Model
import Testing

@Suite struct ConditionExplainingTests {
    private func deciding(_ text: String, _ item: Item = report) throws -> String {
        try Condition(parsing: text).deciding(for: item, now: noon).text
    }

    @Test(
        "P54: of a condition the part is told that decides it: the first that holds of any, the first that fails of all",
        arguments: [
            ("removed || favorite || size > 1", "favorite"), ("favorite && removed && size > 1", "removed"),
            ("!removed && (path == '/x' || path.startsWith('/Docs/'))", #"!removed && path.startsWith("/Docs/")"#),
            ("!removed && (path == '/x' || path.startsWith('/y/'))", #"path == "/x" || path.startsWith("/y/")"#),
            ("!(favorite && !removed)", "!(favorite && !removed)"), ("!(favorite || removed)", "!favorite"),
            ("!(removed && favorite)", "!removed"),
            ("(removed && favorite) || (size == 1 && removed)", "removed || size == 1"),
            ("true", "true"), ("removed", "removed"), ("(removed && size > 1) || (removed && size < 1)", "removed"),
            ("false || size in [1, 2]", "false || size in [1, 2]"),
        ])
    func parts(_ text: String, _ part: String) throws { #expect(try deciding(text) == part) }

    private static let week = Int64(7 * 86_400)

    /// Returns the time from `noon` to the change of the answer, in seconds and as the condition names it, and the
    /// answer from then on.
    private func change(_ text: String, _ item: Item) throws -> (after: Int64, value: Bool, isExact: Bool)? {
        try Condition(parsing: text).nextChange(for: item, after: noon).map {
            ($0.named.seconds - noon.seconds, $0.value, $0.first == $0.named)
        }
    }

    /// A file that was used an hour ago and changed two hours ago.
    private static let used: Item = {
        var item = report
        item.lastUsed = noon - .seconds(3600)
        item.lastModified = noon - .seconds(7200)
        return item
    }()

    @Test(
        "P54: when a condition changes by time alone is found, for all operators, on both sides, with sums and differences",
        arguments: [
            ("lastUsed < now - duration('168h')", week - 3600, true, false),
            ("lastUsed <= now - duration('168h')", week - 3600, true, true),
            ("now - duration('168h') > lastUsed", week - 3600, true, false),
            ("now - duration('168h') >= lastUsed", week - 3600, true, true),
            ("lastUsed + duration('168h') < now", week - 3600, true, false),
            ("now - lastUsed > duration('168h')", week - 3600, true, false),
            ("duration('168h') <= now - lastUsed", week - 3600, true, true),
            ("lastUsed > now - duration('2h')", 3600, false, true),
            ("lastUsed >= now - duration('2h')", 3600, false, false),
            ("lastUsed == now - duration('2h')", 3600, true, true),
            ("lastUsed != now - duration('2h')", 3600, false, true),
            ("now > timestamp('2026-11-21T13:00:00Z')", 3600, true, false),
            ("timestamp('2026-11-21T13:00:00Z') <= now", 3600, true, true),
            ("now in [timestamp('2026-11-21T13:00:00Z'), timestamp('2026-11-21T14:00:00Z')]", 3600, true, true),
            ("now + duration('1h') - duration('30m') > timestamp('2026-11-21T13:00:00Z')", 1800, true, false),
            ("(now - lastUsed) + (now - lastModified) > duration('5h')", 3600, true, false),
            ("!(lastUsed < now - duration('168h'))", week - 3600, false, false),
            ("!removed && (removed || lastUsed < now - duration('2h')) && favorite", 3600, true, false),
            ("lastUsed < now - duration('3h') || lastUsed < now - duration('2h')", 3600, true, false),
            ("lastUsed < now - duration('3h') && lastUsed < now - duration('2h')", 7200, true, false),
            // The terms change at the same moment, and their changes cancel each other.
            (
                """
                lastUsed > now - duration('2h') || lastUsed <= now - duration('3h') \
                || lastUsed <= now - duration('2h')
                """,
                0, true, true
            ),
        ] as [(String, Int64, Bool, Bool)])
    func changes(_ text: String, _ after: Int64, _ value: Bool, _ isExact: Bool) throws {
        let found = try change(text, Self.used)
        guard after != 0 else {
            #expect(found == nil)
            return
        }
        let change = try #require(found)
        #expect(change == (after, value, isExact))
    }

    @Test(
        "P54: what has changed already, what never changes, and what is absent give no moment",
        arguments: [
            "lastUsed < now - duration('1s')", "lastUsed < lastModified", "removed", "now == now",
            "now < now + duration('1h')",
            "removed && lastUsed < now - duration('168h')", "favorite || lastUsed < now - duration('168h')", "size > 1",
            "now > timestamp('2020-01-01T00:00:00Z')", "null == now", "now in []",
        ])
    func never(_ text: String) throws {
        #expect(try change(text, Self.used) == nil)
        #expect(try change("lastUsed < now - duration('168h')", bare) == nil)
    }

    @Test("P54: a moment between two nanoseconds is the first of which the condition comes to the other answer")
    func between() throws {
        var item = Self.used
        item.lastUsed = Timestamp(nanoseconds: noon.nanoseconds - 1)
        item.lastModified = noon
        for text in [
            "(now - lastUsed) + (now - lastModified) > duration('1s')",
            "duration('1s') - (now - lastUsed) < now - lastModified",
        ] {
            let change = try #require(try Condition(parsing: text).nextChange(for: item, after: noon))
            #expect(change.first.nanoseconds == noon.nanoseconds + 500_000_000)
        }
    }

    @Test("P54: among 10,000 policies each with a time of its own the first moment is found")
    func many() throws {
        let terms = (0..<10_000).map { "(path == '/\($0)' || lastUsed < now - duration('\(10_000 - $0)m'))" }
        let change = try #require(try change(terms.joined(separator: " && "), Self.used))
        #expect(change == (600_000 - 3600, true, false))
    }
}
