import Model
import PluginHost

/// A check of a plugin's library. Its id is stable: the id of a check that was removed is not used again.
public struct PluginCheck: Sendable {
    /// The parts of a validation.
    public enum Part: String, CaseIterable, Sendable {
        case file, loading, life, items, services, loops, threads

        /// The part as a title.
        public var title: String {
            switch self {
            case .file: "The file"
            case .loading: "Loading and describing"
            case .life: "The life of an instance"
            case .items: "Items and calls"
            case .services: "Services under stress"
            case .loops: "Event loops"
            case .threads: "Threads and time"
            }
        }
    }

    /// The id, such as `PV10`.
    public let id: String
    /// What holds for a plugin that passes, as a sentence without a full stop.
    public let claim: String
    public let part: Part
    /// Whether what is found is a warning, unless the validation is strict.
    public let isWarning: Bool
    /// Makes the check once for the library.
    let body: @Sendable (CheckSite) throws -> CheckOutcome

    init(
        _ id: String, _ part: Part, _ claim: String, warns: Bool = false,
        _ body: @escaping @Sendable (CheckSite) throws -> CheckOutcome
    ) {
        (self.id, self.part, self.claim, isWarning, self.body) = (id, part, claim, warns, body)
    }

    /// A check of each plugin of the library by itself. It passes if it passes for one and finds nothing in the others.
    static func each(
        _ id: String, _ part: Part, _ claim: String, warns: Bool = false,
        _ body: @escaping @Sendable (CheckSite, PluginCase) throws -> CheckOutcome
    ) -> PluginCheck {
        PluginCheck(id, part, claim, warns: warns) { site in
            var reasons: [String] = []
            var isPassed = false
            for plugin in try site.plugins() {
                site.note(plugin: plugin.id.text, doing: nil)
                do {
                    switch try body(site, plugin) {
                    case .passed: isPassed = true
                    case .skipped(let reason): reasons.append(reason)
                    case .found(let finding): throw finding
                    }
                } catch let skipped as Skipped {
                    reasons.append(skipped.reason)
                } catch var finding as Finding {
                    finding.plugin = finding.plugin ?? plugin.id.text
                    finding.doing = finding.doing ?? site.doing
                    return .found(finding)
                }
            }
            return isPassed ? .passed : .skipped(reasons.first ?? "the library describes no plugin")
        }
    }

    /// Returns the reason why a file is no library for this machine; nil if it is one. Blocks.
    public static func refusal(of file: String) -> String? { LibraryFile.refusal(of: file) }

    /// The ids of the checks without which the others have nothing to look at: a library that ends the process that opens,
    /// describes or starts it would have all of them find the same.
    public static let first = ["PV10", "PV11", "PV30"]

    /// The id of the check whose process ends in order, with all that a library runs then.
    public static let ofEnd = "PV38"

    /// All checks, in the order in which they are made.
    public static let all: [PluginCheck] =
        fileChecks + loadingChecks + lifeChecks + itemChecks + serviceChecks + loopChecks + threadChecks
}

/// Thrown if a check has nothing to look at.
struct Skipped: Error {
    let reason: String
}
