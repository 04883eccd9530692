import TestSupport
import Testing

@Suite struct BehavioursTests {
    @Test("BEHAVIOURS.md explains every id that a test names, and the tests that it lists do name it")
    func explained() throws {
        var named: [String: Set<String>] = [:]
        for path in try Files.filesBelow("\(Build.root)/Tests") where path.hasSuffix(".swift") {
            for name in try Files.text("\(Build.root)/Tests/\(path)").displayNames {
                for id in name.ids { named[id, default: []].insert(String(path.dropLast(".swift".count))) }
            }
        }
        var explained: [String: Set<String>] = [:]
        for line in try Files.text("\(Build.root)/Tests/BEHAVIOURS.md").split(separator: "\n") {
            let cells = line.split(separator: "|").map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }
            guard cells.count == 3, cells[0].isID else { continue }
            let tests = line.split(separator: "|")[2].split(separator: ",").map { $0.filter { $0 != " " } }
            explained[cells[0]] = Set(tests)
        }
        #expect(named.count > 10)
        #expect(Set(named.keys).symmetricDifference(explained.keys).sorted() == [])
        for (id, tests) in explained { #expect(tests.isSubset(of: named[id] ?? []), "\(id)") }
    }
}

extension String {
    /// The display names of the tests in a source file.
    fileprivate var displayNames: [Substring] {
        var found: [Substring] = []
        var quoted = split(separator: "\"", omittingEmptySubsequences: false)[...]
        while let before = quoted.popFirst() {
            guard before.filter({ !$0.isWhitespace }).hasSuffix("@Test("), let name = quoted.popFirst() else {
                continue
            }
            found.append(name)
        }
        return found
    }

    fileprivate var isID: Bool {
        let letters = prefix { $0.isASCII && $0.isUppercase }
        return (1...2).contains(letters.count) && letters.count < count
            && dropFirst(letters.count).allSatisfy(\.isNumber)
    }
}

extension Substring {
    /// The ids before the first colon; empty if the text before the colon contains anything else.
    fileprivate var ids: [String] {
        guard let colon = firstIndex(of: ":") else { return [] }
        let words = self[..<colon].split { $0 == " " || $0 == "," }.map(String.init)
        return words.allSatisfy(\.isID) ? words : []
    }
}
