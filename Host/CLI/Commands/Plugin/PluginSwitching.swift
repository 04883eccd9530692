import ArgumentParser
import Core
import Model

struct PluginEnable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Turn a plugin on, in the config.",
        discussion: """
            Changes only this value in the config. A running host applies the change at once. A library that \
            `larder plugin list` shows as `found` is opened in a separate process, to read which plugins it has, and \
            is named in the config. With --in-process the plugin runs inside the host, where it can do everything that \
            the host can do.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id or short name, or a library that was found.", completion: .plugin) var plugin:
        String

    @Flag(
        name: .customLong("in-process"),
        help: "Also write that the plugin runs inside the host, which a library that did not come with Larder needs.")
    var isInProcess = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await switchPlugin(plugin, on: true, inProcess: isInProcess, global, console)
    }
}

struct PluginDisable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Turn a plugin off, in the config.",
        discussion: "Changes only this value in the config. A running host applies the change at once.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await switchPlugin(plugin, on: false, global, console)
    }
}

/// Enables or disables a plugin in the config. If the name is that of a library that was found but is not in the
/// config, the plugins of the library are added to the config, enabled.
private func switchPlugin(
    _ name: String, on isEnabled: Bool, inProcess isInProcess: Bool = false, _ global: GlobalOptions, _ console: Console
) async throws(Failure) -> [Failure] {
    let config = try global.loadConfig()
    let id = PluginID(shortOrFull: name)
    let known = config.settings.plugins.map(\.id.shortName) + firstPartyNames
    guard !known.contains(id.shortName) else {
        if isInProcess { noteTrust(in: [id], console) }
        try apply(
            PluginSwitch(plugin: id, isEnabled: isEnabled, isInProcess: isInProcess), config, global, console)
        return await reloadHosts(of: config)
    }
    guard isEnabled, let library = try await foundLibrary(name, config, console) else {
        throw unknownPlugin(name, among: known)
    }
    let ids = try await config.hostProcess(console).plugins(inLibrary: library)
    if let id = ids.first(where: { known.contains($0.shortName) }) {
        throw Failure(
            .badData, "\(library) has the plugin \(id.shortName), which is in the config already",
            hint: "`larder plugin why \(id.shortName)` says in which library Larder searches for it")
    }
    if isInProcess { noteTrust(in: ids, console) }
    for id in ids {
        try apply(
            PluginSwitch(plugin: id, isEnabled: true, isInProcess: isInProcess, library: library), config, global,
            console)
    }
    for report in try await triedPlugins(try global.loadConfig(), console)
    where ids.contains(report.id) && report.state == .refused {
        let reason = Text.visible(report.reason ?? "")
        let name = report.id.shortName
        let hint = report.isolation == .process ? "; `larder plugin enable \(name) --in-process` writes that" : ""
        console.note("larder: \(report.id.shortName) is refused for now: \(reason)\(hint)")
    }
    return await reloadHosts(of: config)
}

/// Says what it means that plugins run inside the host.
private func noteTrust(in ids: [PluginID], _ console: Console) {
    let names = ids.map(\.shortName).joined(separator: ", ")
    console.note(
        "larder: inside the host \(names) can do everything that the host can do: read and change all files, see the "
            + "passwords in memory, and end the host")
}

/// Returns the library that `plugin list` shows as found and that has this name or path.
private func foundLibrary(_ name: String, _ config: Config, _ console: Console) async throws(Failure) -> String? {
    let path = ConfigPaths.tidied(name.hasPrefix("/") ? name : currentFolder() + "/" + name)
    return try await triedPlugins(config, console)
        .first { $0.state == .found && ($0.id.text.hasSameBytes(as: name) || $0.library.hasSameBytes(as: path)) }?
        .library
}

private func apply(
    _ change: PluginSwitch, _ config: Config, _ global: GlobalOptions, _ console: Console
) throws(Failure) {
    let (id, isEnabled) = (change.plugin, change.isEnabled)
    let file = try ConfigFile(config.file)
    let setting = config.shown.first { $0.key == "plugins.\(id.shortName).enabled" }
    let isSoByDefault = setting?.source == .builtIn && setting?.value == .bool(isEnabled)
    let text: String
    do {
        text = isSoByDefault ? file.text : try change.apply(to: file.text)
    } catch {
        throw Failure(
            .cannotCreate, "\(file.path) was not changed: \(error.reason)",
            hint: "write below `plugins:` by hand: \(change.line)")
    }
    if text != file.text {
        do {
            try file.replace(with: text)
        } catch {
            throw Failure(error.kind, error.message, hint: "write below `plugins:` by hand: \(change.line)")
        }
    }
    if case .environment(let variable)? = setting?.source {
        console.note("larder: the environment variable \(variable) is set and overrides the config")
    }
    for account in config.accounts where account.bookmark.plugins[id]?.isEnabled == !isEnabled {
        let place = config.shown.first { $0.key == account.enabledKey(of: id) }?.source.description ?? config.file
        console.note(
            "larder: for the account \(account.bookmark.name) it stays \(isEnabled ? "disabled" : "enabled"), as "
                + "`\(account.enabledKey(of: id))` says (\(place))")
    }
    let state = isEnabled ? "enabled" : "disabled"
    if global.isJSON {
        console.print(
            .object(["id": .string(id.text), "enabled": .bool(isEnabled), "changed": .bool(text != file.text)]))
    } else {
        console.print(
            text == file.text
                ? "\(id.shortName) is \(state) already" : "\(id.shortName) is \(state)")
    }
}
