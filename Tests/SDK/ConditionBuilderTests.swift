import LarderSDK
import TestSupport
import Testing

import enum Model.Condition
import struct Model.ItemCondition
import struct Model.Timestamp

/// Tests that the host reads the conditions that the SDK's builder writes.
@Suite struct ConditionBuilderTests {
    typealias Built = LarderSDK.Condition

    static let samples: [(Built, String)] = [
        (.size > 1_000_000 && .path.startsWith("/Photos/"), #"size > 1000000 && path.startsWith("/Photos/")"#),
        (!.removed && .type == .file, #"!removed && type == "file""#),
        ((.type == .folder || .favorite) && .size > 5, #"(type == "folder" || favorite) && size > 5"#),
        (!(.path == "/a" || .removed), #"!(path == "/a" || removed)"#), (!(.size <= 1), "!(size <= 1)"),
        (!(.name.endsWith("a")), #"!name.endsWith("a")"#), (!(!.removed), "!!removed"),
        (
            .cloudStatus == .localCopy && .lastUsed < .now - .seconds(604_800),
            #"cloudStatus == "localCopy" && lastUsed < now - duration("168h")"#
        ), (.remoteVersion == .newer, #"remoteVersion == "newer""#), (.remoteVersion == nil, "remoteVersion == null"),
        (.mimeType.isIn(["image/png", nil]), #"mimeType in ["image/png", null]"#), (.size.isIn([]), "size in []"),
        (.lastModified >= .at(0), #"lastModified >= timestamp("1970-01-01T00:00:00Z")"#),
        (
            .now - (.lastUsed - .seconds(1)) > .milliseconds(1_500),
            #"now - (lastUsed - duration("1s")) > duration("1500ms")"#
        ),
        (.removed == true && .favorite != nil, "removed == true && favorite != null"),
        (.parentPath == "/a" && .owner != nil, #"parentPath == "/a" && owner != null"#),
        (!.isInProgress(.uploading), #"!("uploading" in syncActivity)"#),
        (
            .isInProgress([.moving, .downloading]),
            #""downloading" in syncActivity && "moving" in syncActivity"#
        ), (.isInProgress([]), "true"),
        (
            .availableOffline == Coverage.none || !.claimed || .claimed == true,
            #"availableOffline == "none" || !claimed || claimed == true"#
        ), (.availableOffline.isIn([.direct, .indirect]), #"availableOffline in ["direct", "indirect"]"#),
        (.any(of: []), "false"), (.all(of: []), "true"), (.any(of: [.favorite]), "favorite"),
        (
            .downloadTrigger != "user" && .name.endsWith(".jpg"),
            #"downloadTrigger != "user" && name.endsWith(".jpg")"#
        ), (Built(text: "removed || favorite") && .removed, "(removed || favorite) && removed"),
        (.path == "/a\"b\\c\nd\te\u{1}\u{2028}", #"path == "/a\"b\\c\nd\te\u0001\u2028""#),
    ]

    @Test("SDK: conditions are written as the host writes them, and read by it", arguments: samples.indices)
    func written(_ index: Int) throws {
        let (built, text) = Self.samples[index]
        #expect(built.text == text)
        #expect(try ItemCondition(parsing: text).text == text)
    }

    @Test("SDK: ten thousand alternatives are one condition that the host reads")
    func many() throws {
        let ids = (0..<10_000).map { number -> Built in .localID == "id-\(number)" }
        let text = (!.removed && !.any(of: ids)).text
        guard case .all(let terms) = try Model.Condition(parsing: text), case .not(.any(let parts)) = terms.last else {
            Issue.record("the condition has another shape")
            return
        }
        #expect(parts.count == 10_000)
    }

    @Test("SDK: random conditions are read by the host, and mean of random items what the same says in Swift")
    func meaning() throws {
        let random = SeededGenerator()
        let seed = random.seed
        var maker = QuestionMaker(random: random)
        let now = Timestamp(nanoseconds: QuestionMaker.now)
        var met = 0
        for _ in 0..<SeededGenerator.rounds() / 4 {
            let items = (0..<10).map { maker.item($0) }
            let question = maker.question(depth: 4)
            let text = question.condition.text
            let parsed = try Model.Condition(parsing: text)
            #expect(parsed.text.utf8.elementsEqual(text.utf8), "LARDER_TEST_SEED=\(seed): \(text)")
            for item in items {
                let answer = question.holds(item)
                #expect(parsed.matches(item, now: now) == answer, "LARDER_TEST_SEED=\(seed): \(text), \(item)")
                met += answer ? 1 : 0
            }
        }
        #expect(met > 0)
    }

    @Test("SDK: times and durations are written as the host writes them, to the ends of their ranges")
    func times() throws {
        var random = SeededGenerator()
        let seed = random.seed
        let first = Int64(-9_223_372_036) * 1_000_000_000
        let known = [0, 1, -1, first, .max, .min, 951_782_400_000_000_000, -2_203_891_200_000_000_000] as [Int64]
        for number in known + (0..<1_000).map({ _ in Int64.random(in: .min ... .max, using: &random) }) {
            let built: Built = .lastUsed > .at(number)
            let text = built.text
            #expect(
                text == "lastUsed > timestamp(\"\(Timestamp(nanoseconds: max(number, first)))\")",
                "LARDER_TEST_SEED=\(seed)")
            #expect(try Model.Condition(parsing: text).text == text, "LARDER_TEST_SEED=\(seed)")
        }
        let spans: [Duration] = [
            .zero, .milliseconds(-1), .seconds(Int64.max), .seconds(Int64.min), .nanoseconds(1_999_999), .seconds(90),
            .seconds(-3_600), .seconds(9_223_372_036) + .milliseconds(854),
        ]
        let written = ["0s", "-1ms", "9223372036854ms", "-9223372036854ms", "1ms", "90s", "-1h", "9223372036854ms"]
        for (span, words) in zip(spans, written) {
            let built: Built = .now - .lastUsed > span
            let text = built.text
            #expect(text == "now - lastUsed > duration(\"\(words)\")")
            #expect(try Model.Condition(parsing: text).text == text)
        }
    }
}
