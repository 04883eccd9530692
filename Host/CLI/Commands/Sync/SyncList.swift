import ArgumentParser
import Core
import Model

struct SyncList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the sync records: the actions still to be done, and what each waits for.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let account = try global.loadConfig().oneAccount()
        let isJSON = global.isJSON
        // Only the host that sends them knows of uploads.
        let transfers = await RunningHost(of: account, in: nil)?.transfers(of: account.bookmark.name) ?? []
        let sent = Dictionary(
            transfers.filter { $0.direction == .upload }.map { ($0.record, $0.part) }, uniquingKeysWith: { $1 })
        try await account.withReader { reader throws(Failure) in
            try await reader.records { report in
                var report = report
                report.progress = sent[report.record.id] ?? report.progress
                console.print(isJSON ? JSONValue(report).text : RecordLine(report).text)
            }
        }
        return []
    }
}

/// A sync record's line for people.
struct RecordLine {
    let text: String

    init(_ report: SyncRecordReport) {
        let record = report.record
        var notes: [String] = []
        if let progress = report.progress {
            notes.append("\(Int(progress * 100)) % \(record.action.kind == .upload ? "uploaded" : "downloaded")")
        }
        if record.evidence.isCancelled == true {
            notes.append("being cancelled")
        } else if let wait = record.wait {
            switch wait {
            case .until, .retry: notes.append("waits \(Text.waiting(wait))")
            case .newVersion, .place, .issue: notes.append("waits for \(Text.waiting(wait))")
            }
        }
        if let lane = report.lane, lane != record.id { notes.append("behind \(lane)") }
        let columns = [
            Text.padded("\(record.id)", to: 7, atRight: true), Text.padded(record.toldState.name, to: 10),
            Text.padded(record.action.kind.rawValue, to: 19), Text.padded(record.reason.text, to: 16),
            Text.visible(record.path.text),
        ]
        text = columns.joined(separator: "  ") + (notes.isEmpty ? "" : "  (\(notes.joined(separator: ", ")))")
    }
}
