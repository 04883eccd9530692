import Core
import Model

extension ClaimReport {
    /// How long the claim is valid, for people.
    var lasts: String {
        switch claim.validity {
        case .explicit: "until it is removed"
        case .until(let time): "until \(Text.time(time))"
        case .process(let process): "while process \(process.pid) is running"
        case .all, .any, .not: "under several conditions"
        }
    }
}

extension JSONValue {
    init(_ report: ClaimReport) {
        var until: Timestamp?
        var pid: Int64?
        switch report.claim.validity {
        case .until(let time): until = time
        case .process(let process): pid = Int64(process.pid)
        case .explicit, .all, .any, .not: break
        }
        self = .object([
            "id": .string(report.claim.id.text), "path": .string(report.path.text),
            "type": .string(report.claim.kind.name),
            "until": .time(until), "pid": .integer(pid),
        ])
    }
}
