import Core
import Model

/// All that is known of a plugin, as `plugin info` prints it.
struct PluginText {
    var report: PluginReport
    var config: Config
    var kept: [(account: String, kept: KeptByPlugin)]

    private var key: String { report.id.shortName }
    private var isFirstParty: Bool { firstPartyNames.contains(key) }
    private var inConfig: PluginSettings? { config.settings.plugins.first { $0.id == report.id } }
    private var valueQuota: Int64 { inConfig?.valueQuota ?? PluginSettings.defaultValueQuota }
    private var recordQuota: Int64 { inConfig?.recordQuota ?? PluginSettings.defaultRecordQuota }
    private var settings: [ConfigDecoding.Setting] {
        let places = ["plugins.\(key)."] + config.accounts.map { "accounts.\($0.bookmark.name).plugins.\(key)." }
        return config.shown(with: [report]).filter { setting in places.contains { setting.key.hasPrefix($0) } }
    }

    var json: JSONValue {
        guard case .object(var members) = JSONValue(report) else { return .null }
        members += [
            .init(name: "vendor", value: .string(report.vendor.isEmpty ? nil : report.vendor)),
            .init(name: "summary", value: .string(report.summary.isEmpty ? nil : report.summary)),
            .init(name: "requires", value: .strings(report.required)),
            .init(name: "wants", value: .strings(report.wanted)),
            .init(name: "beside", value: .strings(report.neighbours)),
            .init(name: "schema", value: report.schema),
            .init(name: "settings", value: .array(settings.map { JSONValue($0) })),
            .init(
                name: "kept",
                value: .array(
                    kept.map { account, kept in
                        .object([
                            "account": .string(account), "valueBytes": .integer(kept.valueBytes),
                            "valueQuota": .integer(valueQuota), "recordBytes": .integer(kept.recordBytes),
                            "recordQuota": .integer(recordQuota), "policies": .integer(Int64(kept.policies)),
                            "mostPolicies": .integer(Int64(PluginSettings.mostPolicies)),
                        ])
                    })),
        ]
        return .object(members)
    }

    var lines: [String] {
        let rows: [(String, String)] =
            [
                ("plugin", report.id.text), ("name", report.name), ("vendor", report.vendor),
                ("summary", report.summary), ("version", report.version), ("library", report.library),
                ("beside", beside), ("state", report.state.rawValue), ("reason", report.reason ?? ""),
                ("isolation", report.isolation.rawValue), ("kinds", report.kinds.joined(separator: ", ")),
                ("abi", report.abi ?? ""), ("requires", report.required.joined(separator: ", ")),
                ("wants", report.wanted.joined(separator: ", ")),
                ("grants", report.grants.map(\.rawValue).joined(separator: ", ")),
            ] + kept.map { ("keeps", text(of: $1, in: $0)) }
        return rows.filter { !$0.1.isEmpty }.map { Text.padded($0.0, to: 11) + Text.visible($0.1) }
            + settings.map {
                let name = $0.key.hasPrefix("plugins.") ? $0.key.dropFirst("plugins.".count) : $0.key[...]
                return "\(name) = \($0.value.text)  (\($0.source))"
            }
            + example
    }

    private var beside: String {
        let names = report.neighbours.joined(separator: ", ")
        return names.isEmpty
            ? "" : "needs \(names) beside it, so it is opened where it lies: do not write over it while a host runs"
    }

    private func text(of kept: KeptByPlugin, in account: String) -> String {
        var parts = [
            "values \(ConfigScalar.writeSize(kept.valueBytes)) of \(ConfigScalar.writeSize(valueQuota))",
            "records \(ConfigScalar.writeSize(kept.recordBytes)) of \(ConfigScalar.writeSize(recordQuota))",
        ]
        if !report.kinds.isEmpty {
            parts.append("policies of its kind \(kept.policies) of \(PluginSettings.mostPolicies)")
        }
        return "in \(account): \(parts.joined(separator: ", "))"
    }

    /// The plugin's part of the config, to copy.
    private var example: [String] {
        guard case .object(let properties)? = report.schema["properties"], !properties.isEmpty else { return [] }
        var lines = ["", "plugins:", "  \(key):"]
        var indent = "    "
        if !isFirstParty {
            if let inConfig, let library = inConfig.library {
                lines.append("    library: \(JSONValue.string(library).text)")
            }
            lines += ["    isolation: \(report.isolation.rawValue)", "    settings:"]
            indent += "  "
        }
        return lines + properties.flatMap { Self.example($0.name, $0.value, indent) }
    }

    private static func example(_ name: String, _ schema: JSONValue, _ indent: String) -> [String] {
        let comment = "  # \(meaning(of: schema))"
        if case .object(let members)? = schema["properties"], !members.isEmpty {
            return ["\(indent)\(name):\(comment)"] + members.flatMap { example($0.name, $0.value, indent + "  ") }
        }
        guard let value = schema["default"] else { return ["\(indent)# \(name):\(comment)"] }
        return ["\(indent)\(name): \(value.text)\(comment)"]
    }

    /// Returns what a setting may be and what it is for.
    private static func meaning(of schema: JSONValue) -> String {
        func text(_ key: String) -> String? { if case .string(let text)? = schema[key] { text } else { nil } }
        var parts = [text("format") ?? text("type") ?? ""]
        if case .array(let allowed)? = schema["enum"] {
            parts = ["one of " + allowed.map(\.text).joined(separator: ", ")]
        }
        switch (schema["minimum"]?.text, schema["maximum"]?.text) {
        case (let least?, let most?): parts.append("\(least) to \(most)")
        case (let least?, nil): parts.append("at least \(least)")
        case (nil, let most?): parts.append("at most \(most)")
        case (nil, nil): break
        }
        let bounds = parts.filter { !$0.isEmpty }.joined(separator: ", ")
        return [bounds, text("description")].compactMap(\.self).joined(separator: ": ")
    }
}
