/// The resource that a request's target names.
package enum Target: Sendable {
    /// An item of the tree; `base` is the encoded path of the tree's root in this request's answers.
    case item(TreePath, base: String)
    case status
    /// A service below `/ocs`.
    case ocs(version: Int, path: String)
    case wellKnownCalendars
    case calendars(CalendarTarget)
    case unknown

    /// Splits a target, as it stands in the request line, into its path and its query, the part after `?`.
    static func parts(of target: String) -> (path: Substring, query: Substring?) {
        let path = target.prefix { $0 != "?" }
        return (path, path.endIndex == target.endIndex ? nil : target[path.endIndex...].dropFirst())
    }

    /// Reads a target.
    /// - Parameters:
    ///   - path: The percent-encoded path.
    ///   - bases: The encoded paths of the tree's root.
    package init(_ path: Substring, bases: [String]) {
        switch path {
        case "/status.php": self = .status
        case CalendarService.wellKnownPath[...]: self = .wellKnownCalendars
        default:
            for base in bases {
                if let item = Self.item(path.utf8, below: base) {
                    self = .item(item, base: base)
                    return
                }
            }
            if let (version, path) = OCSRequest.place(of: path) {
                self = .ocs(version: version, path: path)
            } else {
                self = CalendarTarget(path).map(Target.calendars) ?? .unknown
            }
        }
    }

    private static func item(_ path: Substring.UTF8View, below base: String) -> TreePath? {
        guard path.starts(with: base.utf8) else { return nil }
        let rest = path.dropFirst(base.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return TreePath(encoded: rest)
    }
}
