/// The requests for the properties of files (RFC 4918, section 9.1).
///
/// A server answers 404 for every unknown property of every file. `mod_dav` opens a database for each file to find out
/// that a property is unknown, which takes longer than everything else that it does.
enum PropertyRequest {
    /// The body of the PROPFIND for all properties of an item that are stored.
    static let body = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop>\(standard)<oc:id/><oc:size/>\
        <oc:permissions/><oc:favorite/><oc:owner-id/></d:prop></d:propfind>
        """.utf8)

    /// The body for a server that has only the properties of RFC 4918.
    static let standardBody = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <d:propfind xmlns:d="DAV:"><d:prop>\(standard)</d:prop></d:propfind>
        """.utf8)

    /// The body for all that is asked about one item before or after it is written.
    static let heldBody = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop>\(standard)<d:quota-available-bytes/>\
        <oc:id/><oc:size/><oc:permissions/><oc:favorite/><oc:owner-id/><oc:checksums/></d:prop></d:propfind>
        """.utf8)

    /// The body for the same on a server that has only the properties of RFC 4918 and RFC 4331.
    static let standardHeldBody = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <d:propfind xmlns:d="DAV:"><d:prop>\(standard)<d:quota-available-bytes/></d:prop></d:propfind>
        """.utf8)

    private static let standard =
        "<d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getcontenttype/><d:getetag/>"
}
