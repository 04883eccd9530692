/// The properties of items, as a listing has them.
struct Properties: Sendable {
    let manner: Manner
    /// The properties asked for, by their names without a namespace; nil for all.
    let wanted: Set<String>?
    /// Values that are told in place of an item's own.
    var told: [String: String] = [:]

    static let all = [
        "resourcetype", "getetag", "getlastmodified", "getcontentlength", "getcontenttype", "id", "fileid", "size",
        "permissions", "checksums", "favorite", "owner-id",
    ]

    /// - Parameter request: the body of a PROPFIND. Empty, or with `allprop`: all.
    init(request: [UInt8], manner: Manner) {
        self.manner = manner
        let names = Self.elementNames(request)
        wanted = names.contains("prop") ? Set(names) : nil
    }

    static func id(_ node: Node) -> String {
        let digits = String(node.id)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + "larderdemo"
    }

    /// The ETag in a listing, or in an answer's head.
    static func etag(of node: Node, manner: Manner, inHead: Bool) -> String? {
        let tag = "\(String(node.id, radix: 16))-\(String(node.version, radix: 16))"
        if node.isFolder { return manner.folderETags ? "\"\(tag)\"" : nil }
        switch manner.fileETags {
        case .strong: return "\"\(tag)\""
        case .weak: return "W/\"\(tag)\""
        case .unquoted: return inHead ? "\"\(tag)\"" : tag
        case .none: return nil
        case .onlyOnGet: return inHead ? "\"\(tag)\"" : nil
        case .ofSizeAndSecond: return "\"\(node.id)-\(node.size)-\(node.modified)\""
        }
    }

    /// A `response` element with what the item has under 200 and what it lacks of the wanted under 404.
    /// - Parameter href: the item's address, encoded, in bytes.
    func response(_ node: Node, href: [UInt8], wrongChecksum: Bool) -> [UInt8] {
        var found = ""
        var missing = ""
        for name in Self.all where wanted?.contains(name) ?? true {
            let isOwnClouds = !name.hasPrefix("get") && name != "resourcetype"
            if isOwnClouds && !manner.ownCloudProperties && wanted == nil { continue }
            let tag = (isOwnClouds ? "oc:" : "d:") + name
            if let value = told[name] ?? value(name, node, wrongChecksum: wrongChecksum),
                !isOwnClouds || manner.ownCloudProperties
            {
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

    /// A property's content; nil if the item has none.
    private func value(_ name: String, _ node: Node, wrongChecksum: Bool) -> String? {
        switch name {
        case "resourcetype": node.isFolder ? "<d:collection/>" : ""
        case "getetag": Self.etag(of: node, manner: manner, inHead: false)
        case "getlastmodified": HTTPDate.text(node.modified)
        case "getcontentlength": node.isFolder ? nil : String(node.size)
        case "getcontenttype": node.isFolder ? nil : "application/octet-stream"
        case "id": Self.id(node)
        case "fileid": String(node.id)
        case "size": String(node.size)
        case "permissions": node.isFolder ? "RDNVCK" : "RDNVW"
        case "favorite": "0"
        case "owner-id": "demo"
        case "checksums":
            node.isFolder
                ? nil : "<oc:checksum>\(Self.checksum(of: node.content, wrong: wrongChecksum))</oc:checksum>"
        default: nil
        }
    }

    /// As `OC-Checksum` and `oc:checksum` have it.
    static func checksum(of content: Content, wrong: Bool) -> String {
        "SHA1:" + (wrong ? String(content.sha1.reversed()) : content.sha1)
    }

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
