import Model

/// The properties of items in a listing.
package struct Properties: Sendable {
    /// A property that the server knows, with its tag in a listing.
    private typealias Name = (name: String, tag: String)

    let behavior: any FileBehavior
    /// The known properties that are listed, in the order of the listing.
    private let names: [Name]
    /// The requested properties that the server does not know, and that an item may have from a client.
    private let foreign: [XMLName]
    /// Whether the request names its properties.
    private let isExplicit: Bool

    static let all = [
        "resourcetype", "getetag", "getlastmodified", "getcontentlength", "getcontenttype", "id", "fileid", "size",
        "permissions", "checksums", "favorite", "owner-id",
    ]
    /// The properties that only a request that names them gets.
    static let special = ["quota-used-bytes", "quota-available-bytes", "lockdiscovery", "supportedlock"]

    private static let own = Set(["id", "fileid", "size", "permissions", "checksums", "favorite", "owner-id"])
    private static let known = Set(all + special)

    /// Reads a request.
    /// - Parameters:
    ///   - request: The body of a PROPFIND. An empty body, or one with `allprop`, requests all properties.
    ///   - behavior: The server's behavior.
    package init(request: [UInt8], behavior: any FileBehavior) {
        self.behavior = behavior
        let requested = Set(Self.elementNames(request))
        isExplicit = requested.contains("prop")
        let listed = isExplicit ? (Self.all + Self.special).filter(requested.contains) : Self.all
        names = listed.map { ($0, (Self.isOwnClouds($0) ? "oc:" : "d:") + $0) }
        let structure: Set = ["?xml", "propfind", "prop"]
        if isExplicit, !requested.subtracting(Self.known).isSubset(of: structure) {
            let root = XMLElement(document: request)
            foreign = (root?.child(.dav("prop"))?.children ?? []).map(\.name).filter { !Self.isLive($0) }
        } else {
            foreign = []
        }
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
        for (name, tag) in names {
            if let value = behavior.property(name, of: node, value(name, node)) {
                found += "<\(tag)>\(value)</\(tag)>"
            } else if isExplicit {
                missing += "<\(tag)/>"
            }
        }
        if !foreign.isEmpty || !node.deadProperties.isEmpty { addDead(node, &found, &missing) }
        var text = "</d:href>"
        text += "<d:propstat><d:prop>\(found)</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>"
        if !missing.isEmpty {
            text += "<d:propstat><d:prop>\(missing)</d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>"
        }
        return Array("<d:response><d:href>".utf8) + href + Array((text + "</d:response>").utf8)
    }

    /// Tells whether a property is ownCloud's and not WebDAV's.
    package static func isOwnClouds(_ name: String) -> Bool { own.contains(name) }

    /// Tells whether the server itself gives a property its value.
    static func isLive(_ name: XMLName) -> Bool {
        switch name.namespace {
        case XMLName.davNamespace: known.contains(name.local) && !own.contains(name.local)
        case XMLName.ownCloudNamespace: own.contains(name.local)
        default: false
        }
    }

    /// Adds the properties that clients gave an item: those that the request names, or all.
    private func addDead(_ node: Node, _ found: inout String, _ missing: inout String) {
        let writer = XMLWriter.listing
        let names =
            isExplicit
            ? foreign : node.deadProperties.keys.sorted { ($0.namespace, $0.local) < ($1.namespace, $1.local) }
        for name in names {
            if let content = node.deadProperties[name] {
                found += writer.element(name, content)
            } else {
                missing += writer.element(name)
            }
        }
    }

    /// Returns a property's content; nil if the item lacks the property.
    private func value(_ name: String, _ node: Node) -> String? {
        switch name {
        case "resourcetype": node.isFolder ? "<d:collection/>" : ""
        case "getetag": behavior.etag(of: node, inHead: false)
        case "getlastmodified": Timestamp(seconds: node.modified).httpDate
        case "getcontentlength": node.isFolder ? nil : String(node.size)
        case "getcontenttype": node.isFolder ? nil : "application/octet-stream"
        case "id": Self.id(node)
        case "fileid": String(node.id)
        case "size": String(node.size)
        case "permissions": node.permissions.letters
        case "favorite": node.isFavorite ? "1" : "0"
        case "owner-id": "demo"
        case "checksums": node.isFolder ? nil : "<oc:checksum>\(node.content.checksumText)</oc:checksum>"
        case "quota-used-bytes": node.isFolder ? String(node.size) : nil
        // No limit, as ownCloud tells it.
        case "quota-available-bytes": node.isFolder ? "-3" : nil
        default: nil
        }
    }

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
