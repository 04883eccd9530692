/// An element's name: its namespace, and its local name after the prefix.
package struct XMLName: Hashable, Sendable {
    package var namespace: String
    package var local: String

    package init(namespace: String, local: String) { (self.namespace, self.local) = (namespace, local) }

    package static let davNamespace = "DAV:"
    package static let caldavNamespace = "urn:ietf:params:xml:ns:caldav"
    package static let calendarServerNamespace = "http://calendarserver.org/ns/"

    package static let ownCloudNamespace = "http://owncloud.org/ns"
    package static let sabreNamespace = "http://sabredav.org/ns"

    package static func dav(_ local: String) -> XMLName { XMLName(namespace: davNamespace, local: local) }
    package static func caldav(_ local: String) -> XMLName { XMLName(namespace: caldavNamespace, local: local) }
    package static func calendarServer(_ local: String) -> XMLName {
        XMLName(namespace: calendarServerNamespace, local: local)
    }
    static func ownCloud(_ local: String) -> XMLName { XMLName(namespace: ownCloudNamespace, local: local) }
    static func sabre(_ local: String) -> XMLName { XMLName(namespace: sabreNamespace, local: local) }
}
