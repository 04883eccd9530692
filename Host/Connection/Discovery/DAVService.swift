/// A service that a server may offer beside files.
public enum DAVService: String, Sendable, Hashable, CaseIterable {
    /// Calendars (RFC 4791).
    case caldav
    /// Address books (RFC 6352).
    case carddav

    /// The well-known path of the service (RFC 6764, section 5).
    var wellKnownPath: String { "/.well-known/\(rawValue)" }

    /// Returns the name of the service's records at the name server (RFC 6764, section 3).
    func dnsName(at host: String, isTLS: Bool) -> String { "_\(rawValue)\(isTLS ? "s" : "")._tcp.\(host)" }

    private var namespace: String { "urn:ietf:params:xml:ns:\(rawValue)" }

    /// The property that names the homes (RFC 4791, section 6.2.1; RFC 6352, section 7.1.1).
    var homeSet: String {
        switch self {
        case .caldav: "{\(namespace)}calendar-home-set"
        case .carddav: "{\(namespace)}addressbook-home-set"
        }
    }

    /// The resource type of a collection in a home.
    var collection: String {
        switch self {
        case .caldav: "{\(namespace)}calendar"
        case .carddav: "{\(namespace)}addressbook"
        }
    }

    /// The value in the `DAV` field of an answer to OPTIONS where the service is offered.
    var complianceClass: String {
        switch self {
        case .caldav: "calendar-access"
        case .carddav: "addressbook"
        }
    }
}
