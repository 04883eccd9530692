/// What a request's target names.
enum Target {
    /// An item of the tree; `base` is the encoded path that the tree's root has in this request's answers.
    case item(TreePath, base: String)
    case status
    case capabilities(version: Int)
    case user(version: Int)
    case wellKnownCalendars
    case calendars(CalendarTarget)
    case unknown

    /// - Parameter target: as it stands in the request line: a path with an optional query.
    init(_ target: String, configuration: DemoServer.Configuration) {
        let path = target.prefix { $0 != "?" }
        switch path {
        case "/status.php": self = .status
        case "/ocs/v1.php/cloud/capabilities": self = .capabilities(version: 1)
        case "/ocs/v2.php/cloud/capabilities": self = .capabilities(version: 2)
        case "/ocs/v1.php/cloud/user": self = .user(version: 1)
        case "/ocs/v2.php/cloud/user": self = .user(version: 2)
        case CalendarService.wellKnownPath[...]: self = .wellKnownCalendars
        default:
            for base in configuration.bases {
                if let item = Self.item(path.utf8, below: base) {
                    self = .item(item, base: base)
                    return
                }
            }
            self = CalendarTarget(path).map(Target.calendars) ?? .unknown
        }
    }

    private static func item(_ path: Substring.UTF8View, below base: String) -> TreePath? {
        guard path.starts(with: base.utf8) else { return nil }
        let rest = path.dropFirst(base.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return TreePath(encoded: rest)
    }

    /// The item that a `Destination` field names: an absolute address or a path.
    static func destination(_ field: String, configuration: DemoServer.Configuration) -> TreePath? {
        var path = field[...]
        for scheme in ["http://", "https://"] where path.hasPrefix(scheme) {
            path = path.dropFirst(scheme.count)
            path = path.drop { $0 != "/" }
        }
        guard case .item(let item, _) = Target(String(path), configuration: configuration) else { return nil }
        return item
    }
}
