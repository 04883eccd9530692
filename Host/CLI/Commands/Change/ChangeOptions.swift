import ArgumentParser
import Core
import Model

/// The options of every command that changes something on the server.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Wait until the server has made the change (the default).") var wait = false
    @Flag(help: "Leave the change to the running host or the next run.") var queue = false

    func validate() throws {
        if wait, queue { throw ValidationError("--wait and --queue exclude each other") }
    }
}

extension LarderCommand {
    /// Has a change of the server made, and tells the outcome.
    /// - Parameters:
    ///   - shown: The path of the item that the change is about, when it is made.
    ///   - done: What to say when the change is made.
    ///   - refused: Called if the change was refused, so that nothing was changed.
    func make(
        _ change: ChangeRequest, showing shown: ItemPath, _ done: String, _ options: ChangeOptions,
        _ global: GlobalOptions, _ console: Console, refused: () async -> Void = {}
    ) async throws(Failure) -> [Failure] {
        let outcome = try await carryOut(
            ServerChange([change], waits: !options.queue), global, console, asksServer: !options.queue)
        let made = outcome.changes.first ?? .init()
        if let refusal = made.refusal {
            await refused()
            throw refusal
        }
        let failures = outcome.failures + outcome.issues.map { Failure($0) }
        let place = outcome.places.first?.path
        if global.isJSON {
            try await tell(made.record, place ?? shown, global, console)
        } else if let record = made.record, failures.isEmpty {
            console.print(
                "\(Text.visible(shown.text)): queued as record \(record), for the running host or the next run")
        } else if failures.isEmpty {
            let name = place.map { " as \(Text.visible($0.text)), beside the version that the server has" } ?? ""
            console.print("\(Text.visible(shown.text)): \(done)\(name)")
        }
        return failures
    }

    /// Prints the record of a change that is queued, or the item of one that is made.
    func tell(
        _ record: SyncRecordID?, _ path: ItemPath, _ global: GlobalOptions, _ console: Console
    ) async throws(Failure) {
        try await global.withReader { reader throws(Failure) in
            if let record {
                try await reader.records { report in
                    if report.record.id == record { console.print(JSONValue(report)) }
                }
            } else if let item = try await reader.lastItem(at: path) {
                console.print(JSONValue(item))
            }
        }
    }
}
