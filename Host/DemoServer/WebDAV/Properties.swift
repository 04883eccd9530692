/// The properties of items, as a listing has them.
package struct Properties: Sendable {
    let behavior: any FileBehavior
    /// The properties asked for, by their names without a namespace; nil for all.
    let wanted: Set<String>?

    static let all = [
        "resourcetype", "getetag", "getlastmodified", "getcontentlength", "getcontenttype", "id", "fileid", "size",
        "permissions", "checksums", "favorite", "owner-id",
    ]

    /// - Parameter request: the body of a PROPFIND. Empty, or with `allprop`: all.
    package init(request: [UInt8], behavior: any FileBehavior) {
        self.behavior = behavior
        let names = Self.elementNames(request)
        wanted = names.contains("prop") ? Set(names) : nil
    }

    package static func id(_ node: Node) -> String {
        let digits = String(node.id)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + "larderdemo"
    }

    /// A `response` element with what the item has under 200 and what it lacks of the wanted under 404.
    /// - Parameter href: the item's address, encoded, in bytes.
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

    /// Whether a property is ownCloud's and none of WebDAV's.
    package static func isOwnClouds(_ name: String) -> Bool { !name.hasPrefix("get") && name != "resourcetype" }

    /// A property's content; nil if the item has none.
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

    /// As `OC-Checksum` and `oc:checksum` have it.
    static func checksum(of content: Content) -> String { "SHA1:" + content.sha1 }

    /// The names of all elements in a document, without their prefixes. A document that is no XML has none that matter.
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
