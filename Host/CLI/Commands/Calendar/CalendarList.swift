import ArgumentParser
import Core
import Model

struct CalendarList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the known calendars, without using the network.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let read = try await global.withReader { reader throws(Failure) in
            (calendars: try await reader.calendars(), loops: try await reader.loops())
        }
        let calendars = read?.calendars ?? []
        if global.isJSON {
            for calendar in calendars { console.print(JSONValue(calendar)) }
            return []
        }
        if calendars.isEmpty { console.note(Asked(read?.loops ?? []).words(for: "calendars")) }
        var table = Table(["name", "objects", "id"], numbers: [1])
        for calendar in calendars {
            table.add([calendar.name ?? "-", "\(calendar.objects)", calendar.key.text])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}
