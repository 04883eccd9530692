public import Model

extension Settings {
    /// How long event loops wait between two polls: what `core-loop` is set to (`interval`). The host itself heeds it, which alone keeps
    /// the time. Whether the setting makes sense the plugin's schema says.
    public var loopInterval: Duration {
        let core = plugins.first { $0.id == PluginID(shortOrFull: "core-loop") && $0.isEnabled }
        guard let json = core?.json, let settings = try? JSONValue(parsing: json),
            case .string(let text) = settings["interval"], let milliseconds = WrittenQuantity.milliseconds(text)
        else { return .seconds(60) }
        return max(.milliseconds(milliseconds), .seconds(1))
    }
}
