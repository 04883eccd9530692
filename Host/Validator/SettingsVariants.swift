import Model
import PluginHost

/// The settings that a plugin's schema allows, as far as a check tries them.
enum SettingsVariants {
    /// Returns settings as JSON: none, and for each setting its bounds and the values that it allows.
    /// - Throws: ``Skipped`` if the plugin cannot be asked for its schema.
    static func all(of plugin: PluginCase, in site: CheckSite) throws -> [String] {
        guard let text = try RawModule(site.library).schema(of: plugin.id.text) else { return ["{}"] }
        guard let schema = try? JSONValue(parsing: text), case .object(let settings)? = schema["properties"] else {
            return ["{}"]
        }
        return ["{}"]
            + settings.flatMap { setting in
                values(setting.value).map {
                    JSONValue.object([JSONValue.Member(name: setting.name, value: $0)]).text
                }
            }
    }

    private static func values(_ schema: JSONValue) -> [JSONValue] {
        if case .array(let allowed)? = schema["enum"] { return allowed }
        let bounds = [schema["minimum"], schema["maximum"]].compactMap(\.self)
        switch schema["type"] {
        case .string("boolean"): return [.bool(false), .bool(true)]
        case .string("integer"): return bounds + (bounds.isEmpty ? [.integer(0), .integer(1)] : [])
        case .string("number"): return bounds + (bounds.isEmpty ? [.number(0.5)] : [])
        case .string("string"):
            switch schema["format"] {
            case .string("duration"):
                return bounds.isEmpty ? [.string("1s"), .string("365d")] : bounds.compactMap { written($0, "ms") }
            case .string("size"):
                return bounds.isEmpty ? [.string("1B"), .string("1TB")] : bounds.compactMap { written($0, "B") }
            default: return [.string("a"), .string("\"q\" \\ 100%"), .string("")]
            }
        case .string("array"): return [.array([]), .array([.string("a"), .string("\"q\"")])]
        default: return []
        }
    }

    private static func written(_ bound: JSONValue, _ unit: String) -> JSONValue? {
        guard case .integer(let number) = bound else { return nil }
        return .string("\(number)\(unit)")
    }
}
