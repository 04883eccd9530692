import Core
import Model
import Testing

@testable import larder

@Suite struct ExplanationTests {
    private static let at = Timestamp(rfc3339: "2026-11-28T10:12:30.5Z")

    private func explanation(
        _ because: String?, now: [String] = [], then: [String] = [], changes: Bool = false, cleanup: Bool = false,
        trigger: Trigger? = .itemListUpdateCompleted
    ) throws -> Explanation {
        var explanation = Explanation(plugin: PluginID("org.example.x"), kind: PolicyKind("x"))
        explanation.trigger = trigger
        explanation.cleanup = cleanup
        explanation.because = try because.map { try Condition(parsing: $0) }
        func wishes(_ names: [String]) -> [Wish] {
            names.map { Wish(plugin: explanation.plugin, call: "performCleanup", path: nil, would: $0) }
        }
        (explanation.now, explanation.then) = (wishes(now), wishes(then))
        if changes, let at = Self.at { explanation.change = .init(first: at, named: at, value: !cleanup) }
        return explanation
    }

    @Test("P54: an explanation is a sentence for people, with the day and the time of what comes later")
    func sentences() throws {
        let later = "2026-11-28 at the first scan after 10:12"
        #expect(try explanation(nil, trigger: nil).sentence == "is not called now")
        #expect(try explanation(nil).sentence == "does nothing with any item")
        #expect(try explanation("removed").sentence == "nothing: the item would have to meet removed")
        #expect(try explanation("removed", cleanup: true).sentence == "nothing, because removed")
        #expect(
            try explanation("favorite", now: ["download"], cleanup: true).sentence
                == "downloads it or keeps it, because favorite")
        #expect(
            try explanation("lastUsed < now", then: ["removeLocalCopy"], changes: true).sentence
                == "expires \(later), because of lastUsed < now")
        #expect(
            try explanation("lastUsed < now", then: ["download"], changes: true, trigger: .itemsChanged).sentence
                == """
                downloads it or keeps it 2026-11-28 at the first change of the item after 10:12, \
                because of lastUsed < now
                """
        )
        #expect(
            try explanation("lastUsed > now", now: ["removeLocalCopy"], changes: true, cleanup: true).sentence
                == "removes the copy, because lastUsed > now; this may change from \(later)")
        #expect(
            try explanation("lastUsed < now", changes: true).sentence
                == "nothing: lastUsed < now does not hold; this may change from \(later)")
        let many = try explanation((0..<1_000).map { "name == '\($0)'" }.joined(separator: " || ")).sentence
        #expect(many.count < 600 && many.hasSuffix("… (16886 characters)"), "\(many.suffix(40))")
    }

    @Test(
        "P54: what it would do now is told, or what it will, each thing once; the time is the one that the condition names"
    )
    func json() throws {
        #expect(
            JSONValue(try explanation("lastUsed < now", then: ["purge", "purge", "putValue"], changes: true)).text
                == #"{"plugin":"org.example.x","kind":"x","matches":false,"cleanup":false,"because":"lastUsed < now","#
                + #""would":"purge, putValue","when":"2026-11-28T10:12:30.5Z","policies":[],"says":null}"#)
        var talking = try explanation(nil)
        talking.says = "it \u{1b}[2J waits"
        #expect(
            JSONValue(talking).text.hasSuffix(
                #""because":null,"would":null,"when":null,"policies":[],"says":"it \u001b[2J waits"}"#))
    }
}
