import ArgumentParser
import Core
import Model

struct Stat: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat", abstract: "Print all that is known of one item, without using the network.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The item's path on the server.", completion: .itemPath) var path: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let report = try await global.loadConfig().oneAccount().withKnownReader { reader throws(Failure) in
            try await reader.item(at: path)
        }
        let json = JSONValue(report)
        guard !global.isJSON, case .object(let members) = json else {
            console.print(json)
            return []
        }
        for member in members where member.value != .null && member.value != .array([]) {
            let value = if case .string(let text) = member.value { Text.visible(text) } else { member.value.text }
            console.print(Text.padded(member.name, to: 17) + value)
        }
        return []
    }
}
