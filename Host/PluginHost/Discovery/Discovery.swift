import Glibc
import Model

/// The libraries that the config names or that lie in plugin folders, before any of them is opened.
struct Discovery {
    /// A plugin that the config names or that comes with the host.
    struct Named {
        var settings: PluginSettings
        /// The library that is used; nil if there is none.
        var library: String?
        /// Whether the plugin came with the host. Such a plugin runs in process unless the config says otherwise.
        var isBuiltIn: Bool
        /// The further libraries for the same id. The first one is used.
        var duplicates: [String]
        /// The paths that were searched for the library.
        var searched: [String]
        /// The folders among them, or above them, that cannot be read, with the errors' codes.
        var unreadable: [Unreadable]

        var isolation: PluginSettings.Isolation { settings.isolation ?? (isBuiltIn ? .inProcess : .process) }
    }

    /// A folder that cannot be read.
    struct Unreadable: Hashable {
        var folder: String
        var code: Int32
    }

    var named: [Named]
    /// The libraries in the plugin folders that nothing names. They are not opened.
    var found: [String]

    /// Finds the libraries.
    /// - Parameters:
    ///   - builtIn: The folder of the plugins that come with the host.
    ///   - paths: The further plugin folders, in order.
    ///   - system: The folder of the system, which is the last one. Where it is that of `builtIn`, or of another host, it
    ///     has the plugins that come with a host, which are passed over.
    ///   - plugins: The config of each plugin. A plugin that comes with the host needs none.
    init(builtIn: String, paths: [String], system: String? = nil, plugins: [PluginSettings]) {
        var listings = paths.map(Self.listing)
        if let system, !paths.contains(where: { Self.isSame($0, system) }) {
            var listing = Self.listing(of: system)
            listing.files.removeAll { file in FirstParty.plugins.contains { $0.library == file } }
            listings.append(listing)
        }
        let unnamed = FirstParty.plugins.map(\.id).filter { id in !plugins.contains { $0.id == id } }
        var used: Set<String> = []
        named = (plugins + unnamed.map { FirstParty.settings(of: $0) })
            .sorted(by: FirstParty.precedes)
            .map { settings in
                // A plugin that comes with the host is never replaced by a file that happens to have its name.
                let ours = settings.library == nil ? FirstParty.plugin(settings.id) : nil
                var candidates: [(path: String, isBuiltIn: Bool)] = []
                var searched: [String] = []
                var unreadable: [Unreadable] = []
                if let library = settings.library, library.hasPrefix("/") {
                    searched.append(library)
                    candidates.append((library, false))
                } else {
                    if let ours {
                        searched.append("\(builtIn)/\(ours.library)")
                        candidates.append(("\(builtIn)/\(ours.library)", true))
                    }
                    let names = settings.library.map { [$0] } ?? Self.fileNames(for: settings.id)
                    for (folder, files, lack) in listings {
                        searched.append(folder)
                        if let lack { unreadable.append(lack) }
                        candidates += files.filter(names.contains).map { ("\(folder)/\($0)", false) }
                    }
                }
                candidates.removeAll { candidate in
                    guard access(candidate.path, F_OK) != 0 else { return false }
                    if let lack = Self.lack(of: candidate.path) { unreadable.append(lack) }
                    return true
                }
                let first = candidates.first.flatMap { ours != nil && !$0.isBuiltIn ? nil : $0 }
                let others = first == nil ? [] : candidates.dropFirst().map(\.path)
                used.formUnion(others + [first?.path].compactMap(\.self))
                return Named(
                    settings: settings, library: first?.path, isBuiltIn: first?.isBuiltIn ?? (ours != nil),
                    duplicates: others, searched: searched, unreadable: unreadable)
            }
        found = listings.flatMap { listing in listing.files.map { "\(listing.folder)/\($0)" } }.filter {
            !used.contains($0)
        }
    }

    /// Returns the names under which a library is found by its plugin's id alone. For `org.example.archive-rule` these
    /// are `org.example.archive-rule.so`, `archive-rule.so` and `ArchiveRule.so`, each with or without `lib`.
    static func fileNames(for id: PluginID) -> [String] {
        let last = id.text.split(separator: ".").last.map(String.init) ?? id.text
        return [id.text, last, FirstParty.pascal(last)].flatMap { ["\($0).so", "lib\($0).so"] }
    }

    /// Returns the first folder on the way to a path that cannot be searched, so that nobody can tell what lies there; nil
    /// if nothing lies there.
    private static func lack(of path: String) -> Unreadable? {
        for end in path.indices.dropFirst() where path[end] == "/" {
            let folder = String(path[..<end])
            guard access(folder + "/.", F_OK) != 0 else { continue }
            return errno == ENOENT ? nil : Unreadable(folder: folder, code: errno)
        }
        return nil
    }

    /// Tells whether two paths lead to one folder.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        var (a, b) = (stat(), stat())
        guard one != other, stat(one, &a) == 0, stat(other, &b) == 0 else { return one == other }
        return a.st_dev == b.st_dev && a.st_ino == b.st_ino
    }

    private static func listing(of folder: String) -> (folder: String, files: [String], unreadable: Unreadable?) {
        let (files, code) = libraries(in: folder)
        return (folder, files, code.map { Unreadable(folder: folder, code: $0) })
    }

    /// Returns the shared libraries in a folder, sorted by name, and the error's code if the folder cannot be read. Does
    /// not search folders below. A folder that does not exist has none.
    private static func libraries(in folder: String) -> (files: [String], code: Int32?) {
        guard let stream = opendir(folder) else { return ([], errno == ENOENT ? nil : errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".so"), name.utf8.first != UInt8(ascii: ".") { names.append(name) }
        }
        return (names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, nil)
    }
}
