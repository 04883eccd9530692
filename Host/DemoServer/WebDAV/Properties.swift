/// The properties of items in a listing.
package struct Properties: Sendable {
    let behavior: any FileBehavior
    /// The names of the requested properties without a namespace; nil for all.
    let wanted: Set<String>?

    static let all = [
        "resourcetype", "getetag", "getlastmodified", "getcontentlength", "getcontenttype", "id", "fileid", "size",
        "permissions", "checksums", "favorite", "owner-id",
    ]

    /// Reads a request.
    /// - Parameters:
    ///   - request: The body of a PROPFIND. An empty body, or one with `allprop`, requests all properties.
    ///   - behavior: The server's behavior.
    package init(request: [UInt8], behavior: any FileBehavior) {
        self.behavior = behavior
        let names = Self.elementNames(request)
        wanted = names.contains("prop") ? Set(names) : nil
    }

    package static func id(_ node: Node) -> String {
        let digits = String(node.id)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + "larderdemo"
    }

    /// Returns a `response` element with the properties that the item has under 200, and the requested properties that
    /// it lacks under 404.
    /// - Parameters:
    ///   - node: The item.
    ///   - href: The item's encoded address, in bytes.
    package func response(_ node: Node, href: [UInt8]) -> [UInt8] {
        var found = ""
        var missing = ""
        for name in Self.all where wanted?.contains(name) ?? true {
            let tag = (Self.isOwnClouds(name) ? "oc:" : "d:") + name
            if let value = behavior.property(name, of: node, value(name, node)) {
                found += "<\(tag)>\(value)</\(tag)>"
            } else if wanted != nil {
                missing += "<\(tag)/>"
            }
        }
        var text = "</d:href>"
        text += "<d:propstat><d:prop>\(found)</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>"
        if !missing.isEmpty {
            text += "<d:propstat><d:prop>\(missing)</d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>"
        }
        return Array("<d:response><d:href>".utf8) + href + Array((text + "</d:response>").utf8)
    }

    /// Tells whether a property is ownCloud's and not WebDAV's.
    package static func isOwnClouds(_ name: String) -> Bool { !name.hasPrefix("get") && name != "resourcetype" }

    /// Returns a property's content; nil if the item lacks the property.
    private func value(_ name: String, _ node: Node) -> String? {
        switch name {
        case "resourcetype": node.isFolder ? "<d:collection/>" : ""
        case "getetag": behavior.etag(of: node, inHead: false)
        case "getlastmodified": HTTPDate.text(node.modified)
        case "getcontentlength": node.isFolder ? nil : String(node.size)
        case "getcontenttype": node.isFolder ? nil : "application/octet-stream"
        case "id": Self.id(node)
        case "fileid": String(node.id)
        case "size": String(node.size)
        case "permissions": node.isFolder ? "RDNVCK" : "RDNVW"
        case "favorite": "0"
        case "owner-id": "demo"
        case "checksums": node.isFolder ? nil : "<oc:checksum>\(Self.checksum(of: node.content))</oc:checksum>"
        default: nil
        }
    }

    /// Returns a checksum in the form of `OC-Checksum` and `oc:checksum`.
    static func checksum(of content: Content) -> String { "SHA1:" + content.sha1 }

    /// Returns the names of all elements in a document, without their prefixes. A document that is not XML has no names
    /// that matter.
    private static func elementNames(_ document: [UInt8]) -> [String] {
        document.split(separator: UInt8(ascii: "<")).compactMap { part in
            let name = part.prefix { byte in
                byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/") && byte != 0x20 && byte != 0x09 && byte != 0x0a
                    && byte != 0x0d
            }
            return name.split(separator: UInt8(ascii: ":")).last.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
