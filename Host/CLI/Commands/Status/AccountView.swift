import Core
import Model

/// What is known of an account that somebody watches, at one moment.
struct AccountView: Equatable, Sendable {
    /// The state of the account; nil if it cannot be read.
    var status: AccountStatus?
    var busyWith: [String] = []
    var progress: TransferProgress?
    var transfers: [TransferUnderWay] = []
    var issues: [Issue] = []
    /// What the running host does with an account that is not at work.
    var phase: String?
    /// Why the state cannot be read, or the host cannot be asked.
    var problem: String?
}

extension AccountView {
    /// The number of files and of loops that are shown.
    private static let mostShown = 8

    /// The view for people, without the lines that tell of the rest of many.
    /// - Parameters:
    ///   - plugins: what is known of the plugins.
    ///   - width: the number of columns, to which the line of progress is cut.
    func lines(account: String, _ rates: TransferRates, plugins: [PluginReport], width: Int) -> [String] {
        var lines =
            status.map { StatusText($0, phase: phase, busyWith: busyWith, plugins: plugins).lines }
            ?? ["\(account):" + (phase.map { " \(Text.visible($0))" } ?? "")]
        if let problem { lines.append("  problem    \(Text.visible(problem))") }
        if let line = rates.line(width: width - 13) { lines.append("  transfers  \(line)") }
        let files = rates.files
        lines += files.prefix(Self.mostShown).map { "             \(Self.line($0))" }
        if files.count > Self.mostShown { lines.append("             \(files.count - Self.mostShown) more under way") }
        lines += loops
        lines += issues.map { "  waits      issue \($0.id): \(Text.shortened($0.message, to: 200))" }
        return lines
    }

    private var loops: [String] {
        let polled = status?.loops.filter { $0.isEnabled && $0.nextPoll != nil } ?? []
        let lines = polled.prefix(Self.mostShown).map { loop in
            "  loop       \(Text.visible(loop.key.description)): next poll at \(Text.time(loop.nextPoll))"
        }
        guard polled.count > Self.mostShown else { return lines }
        return lines + ["  loop       \(Text.count(polled.count - Self.mostShown, "more loop"))"]
    }

    private static func line(_ file: TransferRates.File) -> String {
        let transfer = file.transfer
        var parts = [Text.visible(transfer.path.text)]
        let isSent = transfer.direction == .upload
        parts.append(
            Text.bytes(transfer.bytes) + (transfer.size.map { " of \(Text.bytes($0))" } ?? "")
                + (isSent ? " sent" : ""))
        if let rate = file.rate { parts.append("\(Text.bytes(Int64(nearest: rate)))/s") }
        if let left = file.left { parts.append("\(Text.rough(left)) left") }
        return parts.joined(separator: " · ")
    }

    /// The view as JSON: the object that `status --json` prints, and what is being transferred.
    func json(_ rates: TransferRates, plugins: [PluginReport]) -> JSONValue? {
        guard let status, case .object(var members) = JSONValue(status, busyWith: busyWith, plugins: plugins) else {
            return nil
        }
        members.append(.init(name: "running", value: .bool(status.isRunning)))
        members.append(.init(name: "transfers", value: progress.map { Self.json($0, rates) } ?? .null))
        return .object(members)
    }

    private static func json(_ progress: TransferProgress, _ rates: TransferRates) -> JSONValue {
        .object([
            "files": .integer(progress.filesDone), "filesTotal": .integer(progress.filesTotal),
            "bytes": .integer(progress.bytesDone), "bytesTotal": .integer(progress.bytesTotal),
            "bytesPerSecond": .integer(rates.total.rate.map { Int64(nearest: $0) }),
            "secondsLeft": .integer(rates.total.left?.components.seconds),
            "underWay": .array(
                rates.files.map { file in
                    .object([
                        "path": .string(file.transfer.path.text),
                        "direction": .string(file.transfer.direction.rawValue), "bytes": .integer(file.transfer.bytes),
                        "size": .integer(file.transfer.size),
                        "bytesPerSecond": .integer(file.rate.map { Int64(nearest: $0) }),
                        "secondsLeft": .integer(file.left?.components.seconds),
                    ])
                }),
        ])
    }
}
