import Core
import Model

/// Enables or disables the polling of a loop, and prints the loop's new state.
func setLoop(
    _ id: String, enabled: Bool, _ global: GlobalOptions, _ console: Console
) async throws(Failure) -> [Failure] {
    let loop = try await withAccount(global, console) { host throws(Failure) in
        try await host.perform(Loops.Switch(named: id, enabled: enabled))
    }
    if global.isJSON {
        console.print(JSONValue(loop))
    } else {
        let now = enabled ? "enabled: the next `larder run` polls it" : "disabled"
        console.print("loop \(Text.visible(loop.key.id.text)): \(now)")
    }
    return []
}
