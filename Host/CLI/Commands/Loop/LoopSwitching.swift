import Core
import Model

/// Enables or disables the polling of a loop, and prints the loop's new state.
func setLoop(
    _ id: String, enabled: Bool, _ global: GlobalOptions, _ console: Console
) async throws(Failure) -> [Failure] {
    let loop = try await carryOut(Loops.Switch(named: id, enabled: enabled), global, console)
    if global.isJSON {
        console.print(JSONValue(loop))
    } else {
        let now = enabled ? "enabled: the running host or the next `larder run` polls it" : "disabled"
        console.print("loop \(Text.visible(loop.key.id.text)): \(now)")
    }
    return []
}
