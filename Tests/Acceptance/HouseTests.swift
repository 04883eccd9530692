import TestSupport
import Testing

/// The modules of the program: what the sources import must agree with the architecture page.
@Suite("The house") struct HouseTests {
    private struct Room {
        var name: String
        var imports: Set<String>
    }

    /// Returns the modules in the rows of the page's table that name folders of the host.
    private func rooms() throws -> [Room] {
        let page = try Files.text("\(Build.root)/Host/Docs/architecture.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `Host/") }
        return rows.flatMap { row -> [Room] in
            let cells = row.split(separator: "|").map { $0.drop { $0 == " " } }
            let names = cells[0].split(separator: "`").filter { $0.hasPrefix("Host/") }.map { String($0.dropFirst(5)) }
            let imports = cells[cells.count - 1].split { !$0.isLetter }.map(String.init)
            return names.map { Room(name: $0, imports: Set(imports)) }
        }
    }

    private func sources(of room: String) throws -> [(path: String, lines: [Substring])] {
        try Files.filesBelow("\(Build.root)/Host/\(room)").filter { $0.hasSuffix(".swift") }.map { name in
            let path = "Host/\(room)/\(name)"
            return (path, try Files.text("\(Build.root)/\(path)").split(separator: "\n"))
        }
    }

    /// Returns the lines without comments, because comments may name what code may not use.
    private func code(_ lines: [Substring]) -> [Substring] {
        lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
    }

    private func imports(in lines: [Substring]) -> Set<String> {
        Set(
            lines.compactMap { line in
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place <= 1, words.count == place + 2 else {
                    return nil
                }
                return String(words[place + 1])
            })
    }

    @Test("Each room imports of ours what the page says, no more, and each folder of the host has its row")
    func rows() throws {
        let rooms = try rooms()
        let names = Set(rooms.map(\.name))
        let folders = try Set(Files.names(in: "\(Build.root)/Host")).subtracting(["Docs", "Service", "demo", "install"])
        #expect(names == folders)
        // The command's module is named after the command.
        let ours = names.union(["CLarder", "LarderSDK", "FakeHost", "LarderFakeHost"])
        for room in rooms {
            var used: Set<String> = []
            for (_, lines) in try sources(of: room.name) { used.formUnion(imports(in: lines).intersection(ours)) }
            #expect(used == room.imports, "Host/\(room.name)")
        }
    }

    @Test("A target imports no module that the package does not give it, which may build on one machine only")
    func dependencies() throws {
        let package = try Files.text("\(Build.root)/Package.swift")
        let products = package.matches(of: /let (\w+): Target\.Dependency = \.product\(name: "(\w+)"/)
        let named = Dictionary(uniqueKeysWithValues: products.map { (String($0.1), String($0.2)) })
        let targets = package.matches(of: /(host|tests)\(\s*"(\w+)"(?:,\s*\[([^\]]*)\])?\)/)
        let ours = Set(targets.filter { $0.1 == "host" }.map { String($0.2) })
            .union(["CLarder", "CLinux", "CExpat", "CCurl", "LarderSDK", "LarderFakeHost", "DemoServer", "TestServer"])
            .union(["TreeFixture", "larder"])
        let known = ours.union(named.values)
        #expect(targets.count > 30 && known.count > 30)
        for target in targets {
            let list = (target.3 ?? "").split { !$0.isLetter && !$0.isNumber }.map(String.init)
            let given = Set(list.map { named[$0] ?? $0 })
            let folder = target.1 == "host" ? "Host/\(target.2)" : "Tests/\(target.2)"
            for name in try Files.filesBelow("\(Build.root)/\(folder)") where name.hasSuffix(".swift") {
                let lines = try Files.text("\(Build.root)/\(folder)/\(name)").split(separator: "\n")
                let missing = imports(in: lines).intersection(known).subtracting(given)
                #expect(missing.isEmpty, "\(folder)/\(name)")
            }
        }
    }

    @Test("Only the database's room imports GRDB and holds SQL; project storage has a database of its own")
    func sql() throws {
        let words = ["import GRDB", "RawStatement", "SELECT ", "INSERT ", "DELETE FROM", "UPDATE items", "PRAGMA "]
        for room in try rooms() where !["Database", "Warehouse"].contains(room.name) {
            for (path, lines) in try sources(of: room.name) {
                for line in code(lines) where words.contains(where: { line.contains($0) }) {
                    Issue.record("\(path): \(line)")
                }
            }
        }
    }

    @Test("Only the room for threads makes threads, queues and semaphores, and keeps tasks waiting in arrays")
    func threads() throws {
        let words = [
            "pthread_create", "pthread_attr_t", "DispatchQueue", "DispatchSemaphore", "sem_init", "NIOThreadPool",
            "MultiThreadedEventLoopGroup", "Thread.detachNewThread", "[CheckedContinuation",
        ]
        for room in try rooms() where room.name != "Threads" {
            for (path, lines) in try sources(of: room.name) {
                for line in code(lines) where words.contains(where: { line.contains($0) }) {
                    Issue.record("\(path): \(line)")
                }
            }
        }
    }

    /// Returns the words in the first column of the glossary's second table.
    private func retiredWords() throws -> [String] {
        let page = try Files.text("\(Build.root)/Host/Docs/glossary.md")
        let rows = page.split(separator: "\n").drop { $0 != "| Not | But |" }.dropFirst(2)
        return rows.prefix { $0.hasPrefix("|") }.map { String($0.split(separator: "|")[0]).filter(\.isLetter) }
    }

    /// Returns the words of a name in camel case, in lower case.
    private func words(of name: Substring) -> [String] {
        name.reduce(into: [""]) { words, letter in
            if letter.isUppercase, words.last?.last?.isLowercase == true { words.append("") }
            words[words.count - 1] += letter.lowercased()
        }
    }

    @Test("Each link of a page leads to a page, or to a heading of one")
    func links() throws {
        let docs = "Host/Docs"
        let pages = try ["README.md"] + Files.filesBelow("\(Build.root)/\(docs)").map { "\(docs)/\($0)" }
        var headings: [String: Set<String>] = [:]
        for page in pages where page.hasSuffix(".md") {
            let lines = try Files.text("\(Build.root)/\(page)").split(separator: "\n").filter { $0.hasPrefix("#") }
            headings[page] = Set(lines.map { Self.anchor($0.drop { $0 == "#" || $0 == " " }) })
        }
        for page in headings.keys.sorted() {
            for match in try Files.text("\(Build.root)/\(page)").matches(of: #/\]\(([^)\s]+)\)/#)
            where !match.output.1.contains("://") {
                let parts = match.output.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let target = parts[0].isEmpty ? page : Self.path(of: parts[0], from: page)
                #expect(Files.exists("\(Build.root)/\(target)"), "\(page): \(match.output.1)")
                guard parts.count == 2, let known = headings[target] else { continue }
                #expect(known.contains(String(parts[1])), "\(page): \(match.output.1)")
            }
        }
    }

    /// The name by which links name a heading.
    private static func anchor(_ heading: Substring) -> String {
        String(
            heading.lowercased().compactMap { character in
                character == " "
                    ? "-" : character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
            })
    }

    /// The path of a link's target from the root of the package.
    private static func path(of link: Substring, from page: String) -> String {
        var folders = page.split(separator: "/").dropLast()
        for part in link.split(separator: "/") {
            if part == ".." { folders = folders.dropLast() } else if part != "." { folders.append(part) }
        }
        return folders.joined(separator: "/")
    }

    @Test("No name that the program's code declares has a word that the glossary retired")
    func glossary() throws {
        let retired = Set(try retiredWords().flatMap { [$0, $0 + "s", $0 + "d", $0 + "ed", $0 + "ing"] })
        #expect(retired.contains("bell") && retired.contains("looks") && retired.contains("settled"))
        let keywords: Set<Substring> = [
            "actor", "case", "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
        ]
        // The name is part of the plugin interface.
        let known = ["SDK/Swift/Services/Actions.swift: look"]
        for folder in ["Host", "SDK", "Plugins"] {
            for name in try Files.filesBelow("\(Build.root)/\(folder)") where name.hasSuffix(".swift") {
                for line in code(try Files.text("\(Build.root)/\(folder)/\(name)").split(separator: "\n")) {
                    let parts = line.split { !$0.isLetter }
                    for (keyword, declared) in zip(parts, parts.dropFirst()) where keywords.contains(keyword) {
                        guard !retired.isDisjoint(with: words(of: declared)) else { continue }
                        let found = "\(folder)/\(name): \(declared)"
                        if !known.contains(found) { Issue.record("\(found)") }
                    }
                }
            }
        }
    }

    @Test("Only the command line names commands; elsewhere a text says what can be done, and no command")
    func commands() throws {
        for room in try rooms() where room.name != "CLI" {
            for (path, lines) in try sources(of: room.name) {
                for line in code(lines) where line.contains(/larder [a-z]/) { Issue.record("\(path): \(line)") }
            }
        }
    }
}
