import ArgumentParser
import Core
import Model

struct CalendarCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calendar", abstract: "Show the calendars that Larder has cached.",
        subcommands: [CalendarList.self, CalendarObjects.self])
}
