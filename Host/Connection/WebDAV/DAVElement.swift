/// The elements of a multistatus that have a meaning here.
enum DAVElement: UInt8 {
    case multistatus, response, href, status, propstat, prop, error, syncToken
    case resourcetype, getlastmodified, getcontentlength, getcontenttype, getetag
    case id, size, permissions, favorite, ownerID, checksums, quotaAvailable
    case collection
    /// A collection that is a calendar, an inbox or outbox of one, an address book or a principal (RFC 4791, 6352,
    /// 3744), and not a folder of files.
    case foreign
    case other

    private static let named: [(String, DAVElement)] = [
        ("DAV:\nmultistatus", .multistatus), ("DAV:\nresponse", .response), ("DAV:\nhref", .href),
        ("DAV:\nstatus", .status), ("DAV:\npropstat", .propstat), ("DAV:\nprop", .prop),
        ("DAV:\nerror", .error), ("DAV:\nsync-token", .syncToken),
        ("DAV:\nresourcetype", .resourcetype), ("DAV:\ngetlastmodified", .getlastmodified),
        ("DAV:\ngetcontentlength", .getcontentlength), ("DAV:\ngetcontenttype", .getcontenttype),
        ("DAV:\ngetetag", .getetag), ("DAV:\ncollection", .collection), ("DAV:\nprincipal", .foreign),
        ("http://owncloud.org/ns\nid", .id), ("http://owncloud.org/ns\nsize", .size),
        ("http://owncloud.org/ns\npermissions", .permissions), ("http://owncloud.org/ns\nfavorite", .favorite),
        ("http://owncloud.org/ns\nowner-id", .ownerID), ("http://owncloud.org/ns\nchecksums", .checksums),
        ("DAV:\nquota-available-bytes", .quotaAvailable),
        ("urn:ietf:params:xml:ns:caldav\ncalendar", .foreign),
        ("urn:ietf:params:xml:ns:caldav\nschedule-inbox", .foreign),
        ("urn:ietf:params:xml:ns:caldav\nschedule-outbox", .foreign),
        ("urn:ietf:params:xml:ns:carddav\naddressbook", .foreign),
    ]

    private static let table = XMLNameTable(named)

    /// Creates the element with a name.
    /// - Parameter name: The name, in the form that `XMLHandler.start` gets.
    init(_ name: UnsafePointer<CChar>) { self = Self.table[name] ?? .other }
}
