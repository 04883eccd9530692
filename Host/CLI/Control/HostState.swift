import Core
import Glibc
import Model

// The JSON objects that tell how a running host is doing.

extension JSONValue {
    /// The state of a running host.
    init(_ hosting: Hosting) {
        self = .object([
            "version": .string(Product.version), "process": .integer(Int(getpid())),
            "config": .string(hosting.global.configFile),
            "accounts": .array(
                hosting.phases.sorted { $0.key < $1.key }.map { JSONValue($0.value, account: $0.key) }),
        ])
    }

    /// The state of an account of a running host.
    init(_ phase: AccountPhase, account: String) {
        self = .object([
            "account": .string(account),
            "phase": .string(phase.name),
            "status": .string(phase.status),
            "connection": .string(phase.host?.connectionState.rawValue),
            "rejected": .bool(phase.host?.isRefused ?? false),
            "paused": .bool(phase.host?.pause != nil),
            "pausedUntil": .time(phase.host?.pause?.until),
            "failure": phase.failure.map { JSONValue(error: $0)["error"] ?? .null } ?? .null,
            "activity": .string((phase.host?.busyWith ?? []).isEmpty ? "idle" : "busy"),
            "busyWith": .strings((phase.host?.busyWith ?? []).map(\.rawValue)),
            "transfers": phase.host.map { JSONValue($0.progress) } ?? .null,
        ])
    }

    init(_ progress: TransferProgress) {
        self = .object([
            "files": .integer(progress.filesDone), "filesTotal": .integer(progress.filesTotal),
            "bytes": .integer(progress.bytesDone), "bytesTotal": .integer(progress.bytesTotal),
        ])
    }
}

extension AccountPhase {
    /// The phase's name in JSON.
    var name: String {
        switch self {
        case .opening: "opening"
        case .atWork: "atWork"
        case .waiting: "waiting"
        case .closing: "closing"
        case .ended: "ended"
        }
    }

    /// The failure because of which the account waits.
    var failure: Failure? { if case .waiting(let failure) = self { failure } else { nil } }
}
