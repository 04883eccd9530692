import FoundationEssentials
import Model
import Testing

/// Tests that the guide's page about conditions agrees with the parser.
@Suite struct ConditionPageTests {
    @Test("Q6: the page's examples are read, its counterexamples refused, and its table names every property")
    func page() throws {
        let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let page = try String(contentsOfFile: "/\(folder)/Host/Docs/conditions.md", encoding: .utf8)
        let examples = blocks(of: "cel", in: page)
        #expect(examples.count >= 8)
        for example in examples {
            #expect(throws: Never.self) { try Condition(parsing: example) }
        }
        let queries = blocks(of: "cel-query", in: page)
        #expect(queries.count >= 2)
        for example in queries {
            #expect(throws: Never.self) { try ItemCondition(parsing: example) }
            #expect(error(example)?.kind == .notInPolicy)
        }
        let refused = blocks(of: "cel-refused", in: page)
        #expect(refused.count >= 3)
        for example in refused { #expect(error(example) != nil, "\(example)") }
        for property in Condition.Property.allCases { #expect(page.contains("| `\(property.rawValue)` |")) }
    }

    /// Returns the lines of the fenced blocks of a language. Each line is an example.
    private func blocks(of language: String, in page: String) -> [String] {
        var lines: [String] = []
        var isInside = false
        for line in page.split(separator: "\n") {
            if line.hasPrefix("```") {
                isInside = line == "```\(language)"
            } else if isInside {
                lines.append(String(line))
            }
        }
        return lines
    }
}
