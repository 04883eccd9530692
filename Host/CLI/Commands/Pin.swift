import ArgumentParser
import Core
import Model

struct Pin: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep a file, or a folder and everything below it, available offline.",
        discussion:
            "Before the first listing of the server, any path is accepted. The host downloads the missing files."
    )

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server; / stands for everything.", completion: .itemPath) var path: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let outcome = try await carryOut(Pins.Add(path), global, console)
        if global.isJSON {
            console.print(JSONValue(PolicyReport(outcome.policy)))
            return []
        }
        console.print(
            "\(Text.visible(path.text)) is pinned: the running host or the next `larder run` downloads the "
                + "missing files")
        for policy in outcome.redundant {
            let target = Text.visible(policy.path?.text ?? policy.condition)
            console.print("  the policy for \(target) (\(policy.id)) is covered by this pin and has no further effect")
        }
        return []
    }
}

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
