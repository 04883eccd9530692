/// The resource that a path of the calendar service names.
package enum CalendarTarget: Equatable, Sendable {
    /// The root, to which `/.well-known/caldav` redirects.
    case root
    /// The user.
    case principal(String)
    case home(String)
    case calendar(home: String, id: String)
    case object(home: String, id: String, name: String)

    package static let rootPath = "/remote.php/dav/"

    /// Reads a path; nil if the path names no resource of the calendar service.
    /// - Parameter path: The percent-encoded path, without a query.
    package init?(_ path: Substring) {
        var names: [String] = []
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            guard let name = TreePath.decoded(part) else { return nil }
            names.append(String(decoding: name, as: UTF8.self))
        }
        guard names.count >= 2, names[0] == "remote.php", names[1] == "dav" else { return nil }
        switch (names.count, names.count > 2 ? names[2] : "") {
        case (2, _): self = .root
        case (5, "principals") where names[3] == "users": self = .principal(names[4])
        case (4, "calendars"): self = .home(names[3])
        case (5, "calendars"): self = .calendar(home: names[3], id: names[4])
        case (6, "calendars"): self = .object(home: names[3], id: names[4], name: names[5])
        default: return nil
        }
    }

    /// The percent-encoded path, with a closing slash except for objects.
    package var path: String {
        switch self {
        case .root: Self.rootPath
        case .principal(let user): "\(Self.rootPath)principals/users/\(Self.encoded(user))/"
        case .home(let home): "\(Self.rootPath)calendars/\(Self.encoded(home))/"
        case .calendar(let home, let id): Self.path(home: home, id: id, object: nil)
        case .object(let home, let id, let name): Self.path(home: home, id: id, object: name)
        }
    }

    package static func path(home: String, id: String, object: String?) -> String {
        let calendar = "\(rootPath)calendars/\(encoded(home))/\(encoded(id))/"
        return object.map { calendar + encoded($0) } ?? calendar
    }

    private static func encoded(_ name: String) -> String { TreePath.encoded(Array(name.utf8)) }
}
