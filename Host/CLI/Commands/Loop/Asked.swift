import Core
import Model

/// Whether the server was asked for what the core loop finds.
struct Asked {
    private let result: LoopResult?

    init(_ loops: [LoopState]) { result = loops.first { $0.key.kind == .core }?.lastResult }

    /// Why nothing is known.
    func words(for what: String) -> String {
        switch result {
        case nil: "no \(what) are known yet; `larder run --once` asks the server"
        case .error: "no \(what) are known, because the last poll of the server failed; `larder loop list` says why"
        case .notOffered: "the server offers no \(what)"
        case .ok, .more, .refresh: "there are no \(what)"
        }
    }
}
