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

        var isolation: PluginSettings.Isolation { settings.isolation ?? (isBuiltIn ? .inProcess : .process) }
    }

    var named: [Named]
    /// The libraries in the plugin folders that nothing names. They are not opened.
    var found: [String]

    /// Finds the libraries.
    /// - Parameters:
    ///   - builtIn: The folder of the plugins that come with the host.
    ///   - paths: The further plugin folders, in order.
    ///   - plugins: The config of each plugin. A plugin that comes with the host is enabled unless its config says
    ///     otherwise.
    init(builtIn: String, paths: [String], plugins: [PluginSettings]) {
        let listings = paths.map { (folder: $0, files: Self.libraries(in: $0)) }
        let unnamed = FirstParty.plugins.map(\.id).filter { id in !plugins.contains { $0.id == id } }
        var used: Set<String> = []
        named = (plugins + unnamed.map { PluginSettings(id: $0) })
            .sorted(by: FirstParty.precedes)
            .map { settings in
                // A plugin that comes with the host is never replaced by a file that happens to have its name.
                let ours = settings.library == nil ? FirstParty.plugin(settings.id) : nil
                var candidates: [(path: String, isBuiltIn: Bool)] = []
                var searched: [String] = []
                if let library = settings.library, library.hasPrefix("/") {
                    searched.append(library)
                    candidates.append((library, false))
                } else {
                    if let ours {
                        searched.append("\(builtIn)/\(ours.library)")
                        candidates.append(("\(builtIn)/\(ours.library)", true))
                    }
                    let names = settings.library.map { [$0] } ?? Self.fileNames(for: settings.id)
                    for (folder, files) in listings {
                        searched.append(folder)
                        candidates += files.filter(names.contains).map { ("\(folder)/\($0)", false) }
                    }
                }
                candidates.removeAll { access($0.path, F_OK) != 0 }
                let first = candidates.first.flatMap { ours != nil && !$0.isBuiltIn ? nil : $0 }
                let others = first == nil ? [] : candidates.dropFirst().map(\.path)
                used.formUnion(others + [first?.path].compactMap(\.self))
                return Named(
                    settings: settings, library: first?.path, isBuiltIn: first?.isBuiltIn ?? (ours != nil),
                    duplicates: others, searched: searched)
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

    /// Returns the shared libraries in a folder, sorted by name. Does not search folders below. A folder that does not
    /// exist has none.
    private static func libraries(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".so"), name.utf8.first != UInt8(ascii: ".") { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
