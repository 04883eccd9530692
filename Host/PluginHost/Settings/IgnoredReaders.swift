public import Model

extension Settings {
    /// The programs whose reading of copies is no use of them: what `download-expiration` is set to (`ignore-readers`). The host
    /// itself heeds it, which alone sees who reads. Whether the setting makes sense the plugin's schema says.
    public var ignoredReaders: [String] {
        let expiration = plugins.first { $0.id == PluginID(shortOrFull: "download-expiration") && $0.isEnabled }
        guard let json = expiration?.json, let settings = try? JSONValue(parsing: json),
            case .array(let names) = settings["ignore-readers"]
        else { return [] }
        return names.compactMap { if case .string(let name) = $0, !name.isEmpty { name } else { nil } }
    }
}
