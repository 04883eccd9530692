/// An element's name: its namespace and what stands after the prefix.
struct XMLName: Hashable, Sendable {
    var namespace: String
    var local: String

    static let davNamespace = "DAV:"
    static let caldavNamespace = "urn:ietf:params:xml:ns:caldav"
    static let calendarServerNamespace = "http://calendarserver.org/ns/"
    static let nextcloudNamespace = "http://nextcloud.com/ns"

    static func dav(_ local: String) -> XMLName { XMLName(namespace: davNamespace, local: local) }
    static func caldav(_ local: String) -> XMLName { XMLName(namespace: caldavNamespace, local: local) }
    static func calendarServer(_ local: String) -> XMLName {
        XMLName(namespace: calendarServerNamespace, local: local)
    }
    static func nextcloud(_ local: String) -> XMLName { XMLName(namespace: nextcloudNamespace, local: local) }
}
