import Model
import TestSupport
import Testing

@Suite struct ConditionMutationTests {
    private static let samples = [
        #"type == "file" && (size > 1200 || name.endsWith(".jpg")) && !removed"#,
        #"lastUsed < now - duration("168h") || lastModified == timestamp("2026-11-21T10:12:00.5+01:00")"#,
        #"path.startsWith("/Docs/100% a_b") && size in [1, null, -9223372036854775808]"#,
        #"!(cloudStatus == "localCopy") && downloadTrigger != null && favorite == true"#,
        #"'uploading' in syncActivity && parentPath != null || owner in ["ada"] && !('moving' in syncActivity)"#,
        #"path == '\x41\101\U0001F600\'\n' || path == r'a\n' || etag.contains("\"")"#,
    ]
    private static let words = [
        "(", ")", "!", "&&", "||", "==", "!=", "<", ">=", "in", "[", "]", ",", "null", "true", "now", "removed", "size",
        "syncActivity",
        "path",
        ".startsWith(", "\"", "'", "\\", "\\u{", "r\"", "timestamp(", "duration(", "-", "+", "9223372036854775808",
        "1e9",
    ]

    @Test("Q6, Q7: a text with mistakes is a condition that its own text repeats, or an error at a place in it")
    func texts() {
        var mutator = Mutator(words: Self.words)
        var conditions = 0
        for round in 0..<SeededGenerator.rounds() {
            let text = mutator.mutate(Self.samples[round % Self.samples.count])
            do throws(ConditionError) {
                let condition = try Condition(parsing: text)
                #expect(try Condition(parsing: condition.text) == condition, "\(text) LARDER_TEST_SEED=\(mutator.seed)")
                // The evaluation ends, whatever the condition is.
                _ = condition.matches(report, now: noon) || condition.matches(bare, now: noon)
                conditions += 1
            } catch {
                #expect((0...text.utf8.count).contains(error.byteOffset), "\(text) LARDER_TEST_SEED=\(mutator.seed)")
            }
        }
        #expect(conditions > 0 && conditions < SeededGenerator.rounds())
    }
}
