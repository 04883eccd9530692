import Model
import TestSupport
import Testing

@Suite struct ConditionCourseTests {
    /// Returns a condition's text without the values whose sums exceed 64 bits, 292 years from now. Beyond that limit
    /// the answer no longer changes.
    private static func withinReach(_ text: String) -> String {
        var text = text.replacing("2562000h", with: "9h")
        for century in ["16", "22"] {
            while let range = text.ranges(of: "timestamp('\(century)").first,
                let end = text[range.upperBound...].firstIndex(of: ")")
            {
                text.replaceSubrange(range.lowerBound...end, with: "timestamp('2026-11-21T13:00:00Z')")
            }
        }
        return text
    }

    private static func withinReach(_ item: Item) -> Item {
        func limited(_ time: Timestamp?) -> Timestamp? { time.flatMap { $0.seconds.magnitude < 1 << 32 ? $0 : nil } }
        var item = item
        item.lastUsed = limited(item.lastUsed)
        item.lastModified = limited(item.lastModified)
        return item
    }

    @Test("P54: on random conditions the deciding part comes to the same as the whole, and the next change is one")
    func random() throws {
        var random = ConditionRandom()
        let seed = random.generator.seed
        var changes = 0
        let rounds = SeededGenerator.rounds(usually: 4_000)
        for number in 0..<rounds {
            let text = Self.withinReach(random.condition(depth: 3))
            let condition = try Condition(parsing: text)
            let item = Self.withinReach(random.item(number))
            let now = random.now
            let value = condition.matches(item, now: now)
            let part = condition.deciding(for: item, now: now)
            #expect(part.matches(item, now: now) == value, "LARDER_TEST_SEED=\(seed): \(text)")
            #expect(try Condition(parsing: part.text) == part, "LARDER_TEST_SEED=\(seed): \(text)")
            // The probes are moments between now and the change, near and far, and the moments from which random times
            // are made.
            let offsets: [Int64] = [1, 3_600_000_000_000, 604_800_000_000_000, 608_400_000_000_000, 1 << 60]
            let probes = offsets.flatMap { [$0 - 1, $0, $0 + 1] }.filter { $0 > 0 }
                .map { Timestamp(nanoseconds: now.nanoseconds + $0) }
            let change = condition.nextChange(for: item, after: now)
            if let change {
                changes += 1
                #expect(change.first > now && change.value != value, "LARDER_TEST_SEED=\(seed): \(text)")
                #expect(condition.matches(item, now: change.first) == change.value, "LARDER_TEST_SEED=\(seed): \(text)")
                let before = Timestamp(nanoseconds: change.first.nanoseconds - 1)
                #expect(condition.matches(item, now: before) == value, "LARDER_TEST_SEED=\(seed): \(text)")
                #expect(change.first.nanoseconds - change.named.nanoseconds <= 1, "LARDER_TEST_SEED=\(seed): \(text)")
            }
            for probe in probes where probe < change?.first ?? Timestamp(nanoseconds: .max) {
                #expect(
                    condition.matches(item, now: probe) == value,
                    "LARDER_TEST_SEED=\(seed): \(text) at \(probe), \(item)")
            }
        }
        // About one in 90 of the conditions changes with time. Far fewer would mean that changes are not found.
        #expect(changes >= rounds / 400, "\(changes)")
    }
}
