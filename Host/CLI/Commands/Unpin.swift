import ArgumentParser
import Core
import Model

struct Unpin: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Stop keeping a pinned file or folder available offline.",
        discussion:
            "The host removes the copies that nothing else keeps, without a server. Changed files stay.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The pinned path.", completion: .itemPath) var path: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let policies = try await carryOut(Pins.Remove(path), global, console)
        if global.isJSON {
            for policy in policies { console.print(JSONValue(PolicyReport(policy))) }
        } else {
            console.print(
                "\(Text.visible(path.text)) is no longer pinned: the running host or the next `larder run` removes the "
                    + "copies that nothing else keeps"
            )
        }
        return []
    }
}
