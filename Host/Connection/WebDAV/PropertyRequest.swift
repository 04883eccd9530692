/// What is asked of a server about its files (RFC 4918, section 9.1).
///
/// What a server does not know it answers with 404, property by property and file by file. `mod_dav` opens a database for each
/// file to find that out, which takes it longer than all else.
enum PropertyRequest {
    /// The body of the PROPFIND for all that is kept of an item.
    static let body = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop>\(standard)<oc:id/><oc:size/>\
        <oc:permissions/><oc:favorite/><oc:owner-id/></d:prop></d:propfind>
        """.utf8)

    /// The body for a server that has only RFC 4918's properties.
    static let standardBody = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <d:propfind xmlns:d="DAV:"><d:prop>\(standard)</d:prop></d:propfind>
        """.utf8)

    private static let standard =
        "<d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getcontenttype/><d:getetag/>"
}
