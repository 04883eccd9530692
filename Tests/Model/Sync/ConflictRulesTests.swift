import Model
import Testing

@Suite struct ConflictRulesTests {
    @Test(
        "S22: a pattern with a slash is compared with paths and holds below a folder, one without it with names",
        arguments: [
            ("*.md", "/a/b.md", true), ("*.md", "/a.md/b", false), ("b.md", "/a/b.md", true), ("*", "/a/b", true),
            ("/a", "/a", true), ("/a", "/a/b/c", true), ("/a", "/ab", false), ("a/b", "/a/b/c", true),
            ("/*/c", "/a/c", true), ("/*/c", "/a/b/c", false), ("/a*", "/ab/c", true), ("/a/", "/a/b", true),
            ("*.[mM]d", "/x/y.Md", true), ("50% ü.txt", "/50% ü.txt", true), ("\\*", "/*", true), ("\\*", "/a", false),
            ("[", "/[", true), ("", "/a", false),
        ])
    func patterns(_ pattern: String, _ path: String, _ matches: Bool) throws {
        let rules = ConflictRules([.init(pattern: pattern, answer: .keepBoth)])
        #expect(rules.answer(for: try ItemPath(path)) == (matches ? .keepBoth : .ask))
    }

    @Test("S22: the first rule that matches holds, and without one a person is asked")
    func order() throws {
        let rules = ConflictRules([
            .init(pattern: "/a/keep", answer: .ask), .init(pattern: "/a", answer: .local),
            .init(pattern: "*", answer: .keepBoth),
        ])
        #expect(rules.answer(for: try ItemPath("/a/keep/x")) == .ask)
        #expect(rules.answer(for: try ItemPath("/a/x")) == .local)
        #expect(rules.answer(for: try ItemPath("/b")) == .keepBoth)
        #expect(ConflictRules().answer(for: try ItemPath("/b")) == .ask)
    }
}
