import ArgumentParser
import Model

struct PluginEnable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Turn a plugin on, in the config.",
        discussion: "Only the one value is changed. A running host takes it up at its next start.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.") var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try switchPlugin(plugin, on: true, global, console)
    }
}

struct PluginDisable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Turn a plugin off, in the config.",
        discussion: "Only the one value is changed. A running host takes it up at its next start.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.") var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try switchPlugin(plugin, on: false, global, console)
    }
}

private func switchPlugin(
    _ name: String, on isEnabled: Bool, _ global: GlobalOptions, _ console: Console
) throws(Failure) -> [Failure] {
    let config = try global.loadConfig()
    let id = PluginID(shortOrFull: name)
    let known = config.settings.plugins.map(\.id.shortName) + firstPartyNames
    guard known.contains(id.shortName) else { throw unknownPlugin(name, among: known) }
    let file = try ConfigFile(config.file)
    let change = PluginSwitch(plugin: id, isEnabled: isEnabled)
    let setting = config.shown.first { $0.key == "plugins.\(id.shortName).enabled" }
    let isSoByDefault = setting?.source == .builtIn && setting?.value == .bool(isEnabled)
    let text: String
    do {
        text = isSoByDefault ? file.text : try change.apply(to: file.text)
    } catch {
        throw Failure(
            .cannotCreate, "\(file.path) is not changed: \(error.reason)",
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
        console.note("larder: \(variable) is set, and goes over what the config says")
    }
    let state = isEnabled ? "enabled" : "disabled"
    if global.isJSON {
        console.print(
            .object(["id": .text(id.text), "enabled": .bool(isEnabled), "changed": .bool(text != file.text)]))
    } else {
        console.print(
            text == file.text
                ? "\(id.shortName) is \(state) already" : "\(id.shortName) is \(state) from the host's next start on")
    }
    return []
}
