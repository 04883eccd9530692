/// What is asked of a server about its files (RFC 4918, section 9.1).
enum PropertyRequest {
    /// The body of the PROPFIND. What a server does not know it answers with 404, property by property.
    static let body = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:resourcetype/><d:getlastmodified/>\
        <d:getcontentlength/><d:getcontenttype/><d:getetag/><oc:id/><oc:size/><oc:permissions/><oc:favorite/>\
        <oc:owner-id/></d:prop></d:propfind>
        """.utf8)
}
