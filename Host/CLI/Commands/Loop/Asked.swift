import Core
import Model

/// The result of the core loop's last poll, which tells whether the server was asked for the data of the loops.
struct Asked {
    private let result: LoopResult?

    init(_ loops: [LoopState]) { result = loops.first { $0.key.kind == .core }?.lastResult }

    /// Returns the reason why no objects of a type are known.
    /// - Parameter what: the name of the type in the plural, such as `shares`.
    func words(for what: String) -> String {
        switch result {
        case nil: "no \(what) are known yet; `larder run --once` asks the server"
        case .error: "no \(what) are known, because the last poll of the server failed; `larder loop list` says why"
        case .notOffered: "the server offers no \(what)"
        case .ok, .more, .refresh: "there are no \(what)"
        }
    }
}
