import ArgumentParser
import Core
import Glibc
import Model
import Threads

extension CompletionKind {
    /// Paths of items, folder by folder.
    static let itemPath = CompletionKind.custom { words, _, typed in await Candidates(words, typed).paths() }
    /// Files of this machine, and paths of items, folder by folder.
    static let fileOrItemPath = CompletionKind.custom { words, _, typed in
        let candidates = Candidates(words, typed)
        return await candidates.files() + candidates.paths()
    }
    /// Files of this machine, folder by folder.
    static let localFile = CompletionKind.custom { words, _, typed in await Candidates(words, typed).files() }
    /// The ids of policies.
    static let policyID = CompletionKind.custom { words, _, typed in await Candidates(words, typed).policies() }
    /// The ids of issues.
    static let issueID = CompletionKind.custom { words, _, typed in await Candidates(words, typed).issues() }
    /// The names of plugins.
    static let plugin = CompletionKind.custom { words, _, typed in Candidates(words, typed).plugins() }
    /// The languages and the kinds that there are templates of plugins for.
    static var templateLanguage: CompletionKind { .list(Template.distinct(templates.map(\.language))) }
    static var templateKind: CompletionKind { .list(Template.distinct(templates.map(\.kind))) }
    private static var templates: [Template] { (try? Template.all()) ?? [] }
    /// The names of accounts.
    static let accountName = CompletionKind.custom { words, _, typed in Candidates(words, typed).accounts() }
}

/// The candidates for a word of a command line, from the config and the database. Whatever goes wrong, there are none.
struct Candidates {
    /// The highest number of candidates; a shell asks before it shows so many.
    private static let limit = 500

    private let config: Config?
    /// The shell's name.
    private let shell: String?
    private let word: TypedWord

    /// - Parameters:
    ///   - words: the words of the command line.
    ///   - typed: what was typed of the word, as it was typed.
    init(_ words: [String], _ typed: String, for shell: String? = CompletionShell.requesting?.rawValue) {
        func value(of option: String) -> String? {
            if let index = words.firstIndex(of: option), index + 1 < words.count { return words[index + 1] }
            return words.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
        }
        let request = Config.Request(file: value(of: "--config"), account: value(of: "--account"))
        config = try? Config.load(request, environment: processEnvironment())
        self.shell = shell
        word = TypedWord(typed)
    }

    /// Returns the items of one folder whose paths begin as typed. Folders end with a slash.
    func paths() async -> [String] {
        let typed = word.meaning
        let hasSlash = typed.hasPrefix("/")
        let whole = hasSlash ? typed : "/" + typed
        let cut = whole.lastIndex(of: "/") ?? whole.startIndex
        let (folder, name) = (whole[..<cut], whole[whole.index(after: cut)...])
        guard let path = try? ItemPath(typed: folder.isEmpty ? "/" : String(folder)),
            let beginning = try? Condition(parsing: "name.startsWith(\(JSONValue.string(String(name)).text))")
        else { return [] }
        return await reading { reader throws(Failure) in
            var query = ItemQuery(path: path, now: .now())
            if !name.isEmpty { query.condition = ItemCondition(beginning) }
            query.limit = Self.limit
            let found = Collector<String>()
            try await reader.items(query) { report in
                let path = report.item.path.text + (report.item.kind == .folder ? "/" : "")
                // Without the slash, a name that begins with a dash would be an option.
                found.add(hasSlash || path.hasPrefix("/-") ? path : String(path.dropFirst()))
                return true
            }
            return found.all.sorted()
        }
    }

    /// Returns the files of one folder of this machine whose paths begin as typed. Folders end with a slash.
    func files() async -> [String] {
        let typed = word.meaning
        let cut = typed.lastIndex(of: "/").map { typed.index(after: $0) } ?? typed.startIndex
        let (folder, name) = (String(typed[..<cut]), typed[cut...])
        let home = word.isBelowHome ? processEnvironment()["HOME"] : nil
        let opened = home.map { $0 + folder.dropFirst() } ?? (folder.isEmpty ? "." : folder)
        let found = await runBlocking {
            guard let stream = opendir(opened) else { return [String]() }
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
                let isFolder = stat("\(opened)/\(own)", &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
                // Without a folder, a name that begins with a dash would be an option.
                let start = folder.isEmpty && own.hasPrefix("-") ? "./" : folder
                found.append(start + own + (isFolder ? "/" : ""))
            }
            return found
        }
        return shown(found.sorted())
    }

    func policies() async -> [String] {
        await reading { reader throws(Failure) in try await reader.policyIDs().map(\.text) }
    }

    func issues() async -> [String] {
        await reading { reader throws(Failure) in try await reader.issues(limit: Self.limit).map { "\($0.id)" } }
    }

    func plugins() -> [String] {
        shown(Set((config?.settings.plugins.map(\.id.shortName) ?? []) + firstPartyNames).sorted())
    }

    func accounts() -> [String] { shown(config?.accounts.map(\.bookmark.name) ?? []) }

    private func reading(_ body: (AccountReader) async throws(Failure) -> [String]) async -> [String] {
        shown((try? await config?.oneAccount().withReader(body)) ?? [])
    }

    /// Returns the candidates as the shell takes them. Names come from a server: what a shell would carry out or take
    /// apart is escaped, and a name with control characters is left out.
    private func shown(_ candidates: [String]) -> [String] {
        let visible = candidates.filter { Text.visible($0) == $0 }
        switch shell {
        case "bash":
            // Bash does not look at the candidates; the other shells leave out what does not begin as typed.
            return visible.filter { $0.utf8.starts(with: word.meaning.utf8) }.compactMap(word.form)
        // What follows a colon is a description.
        case "zsh": return visible.map { candidate in Text.escaped(candidate) { $0 == ":" || $0 == "\\" } }
        default: return visible
        }
    }
}
