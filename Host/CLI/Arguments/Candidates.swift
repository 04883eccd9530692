import ArgumentParser
import Core
import Glibc
import Model
import Threads

extension CompletionKind {
    /// Paths of items, folder by folder.
    static let itemPath = CompletionKind.custom { words, _, typed in await Candidates(words).paths(typed) }
    /// Files of this machine, and paths of items, folder by folder.
    static let fileOrItemPath = CompletionKind.custom { words, _, typed in
        let candidates = Candidates(words)
        return await candidates.files(typed) + candidates.paths(typed)
    }
    /// The ids of policies.
    static let policyID = CompletionKind.custom { words, _, _ in await Candidates(words).policies() }
    /// The ids of issues.
    static let issueID = CompletionKind.custom { words, _, _ in await Candidates(words).issues() }
    /// The names of plugins.
    static let plugin = CompletionKind.custom { words, _, _ in Candidates(words).plugins() }
    /// The names of accounts.
    static let accountName = CompletionKind.custom { words, _, _ in Candidates(words).accounts() }
}

/// The candidates for a word of a command line, from the config and the database. Whatever goes wrong, there are none.
struct Candidates {
    /// The highest number of candidates; a shell asks before it shows so many.
    private static let limit = 500

    private let config: Config?
    /// The shell's name.
    private let shell: String?

    /// - Parameter words: the words of the command line.
    init(_ words: [String], for shell: String? = CompletionShell.requesting?.rawValue) {
        func value(of option: String) -> String? {
            if let index = words.firstIndex(of: option), index + 1 < words.count { return words[index + 1] }
            return words.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
        }
        let request = Config.Request(file: value(of: "--config"), account: value(of: "--account"))
        config = try? Config.load(request, environment: processEnvironment())
        self.shell = shell
    }

    /// Returns the items of one folder whose paths begin as typed. Folders end with a slash.
    func paths(_ typed: String) async -> [String] {
        let typed = Self.unquoted(typed)
        let hasSlash = typed.hasPrefix("/")
        let whole = hasSlash ? typed : "/" + typed
        let cut = whole.lastIndex(of: "/") ?? whole.startIndex
        let (folder, name) = (whole[..<cut], whole[whole.index(after: cut)...])
        guard let path = try? ItemPath(typed: folder.isEmpty ? "/" : String(folder)),
            let beginning = try? Condition(parsing: "name.startsWith(\(JSONValue.string(String(name)).text))")
        else { return [] }
        return await reading { reader in
            var query = ItemQuery(path: path, now: .now())
            if !name.isEmpty { query.condition = beginning }
            query.limit = Self.limit
            let found = Collector<String>()
            try await reader.items(query) { report in
                let path = report.item.path.text + (report.item.kind == .folder ? "/" : "")
                found.add(hasSlash ? path : String(path.dropFirst()))
                return true
            }
            return found.all.sorted()
        }
    }

    /// Returns the files of one folder of this machine whose paths begin as typed. Folders end with a slash.
    func files(_ typed: String) async -> [String] {
        let typed = Self.unquoted(typed)
        let cut = typed.lastIndex(of: "/").map { typed.index(after: $0) } ?? typed.startIndex
        let (folder, name) = (String(typed[..<cut]), typed[cut...])
        let found = await runBlocking {
            guard let stream = opendir(folder.isEmpty ? "." : folder) else { return [String]() }
            defer { closedir(stream) }
            var found: [String] = []
            while found.count < Self.limit, let entry = readdir(stream) {
                let own = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard let own, own != ".", own != "..", own.hasPrefix(name), !name.isEmpty || !own.hasPrefix(".") else {
                    continue
                }
                var info = stat()
                let isFolder = stat(folder + own, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
                found.append(folder + own + (isFolder ? "/" : ""))
            }
            return found
        }
        return shown(found.sorted())
    }

    func policies() async -> [String] { await reading { try await $0.policyIDs().map(\.text) } }

    func issues() async -> [String] { await reading { try await $0.issues(limit: Self.limit).map { "\($0.id)" } } }

    func plugins() -> [String] {
        shown(Set((config?.settings.plugins.map(\.id.shortName) ?? []) + firstPartyNames).sorted())
    }

    func accounts() -> [String] { shown(config?.accounts.map(\.bookmark.name) ?? []) }

    private func reading(_ body: (AccountReader) async throws -> [String]) async -> [String] {
        guard let reader = try? config?.oneAccount().reader() else { return [] }
        let found = try? await body(reader)
        try? reader.close()
        return shown(found ?? [])
    }

    /// Returns the candidates as the shell takes them. Names come from a server: what a shell would carry out or take
    /// apart is escaped, and a name with control characters is left out.
    private func shown(_ candidates: [String]) -> [String] {
        candidates.filter { Text.visible($0) == $0 }.map { Self.escaped($0, for: shell) }
    }

    /// Returns a candidate in the form in which a shell's completion leaves it unchanged.
    static func escaped(_ text: String, for shell: String?) -> String {
        // bash expands the list of words, commands included.
        let isSafe: (Unicode.Scalar) -> Bool =
            switch shell {
            case "bash":
                {
                    !$0.isASCII || $0.properties.isAlphabetic || ("0"..."9").contains($0)
                        || "/._-".unicodeScalars.contains($0)
                }
            case "zsh": { $0 != ":" && $0 != "\\" }
            default: { _ in true }
            }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if !isSafe(scalar) { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }

    /// Returns what a word means that begins as typed, without the shell's quoting.
    private static func unquoted(_ typed: String) -> String {
        var result = ""
        var isEscaped = false
        for character in typed {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                if isEscaped || character != "\"" && character != "'" { result.append(character) }
                isEscaped = false
            }
        }
        return result
    }
}
