import Model

/// The content of one `response` of a listing.
struct DAVResponse: Equatable {
    var href = ""
    /// The status of the whole response; nil if each property has its own.
    var status: Int?
    /// Whether the server told at least one group of properties with its status.
    var hasProperties = false
    /// Whether the server told whether the item is a collection.
    var hasKind = false
    /// Whether the server answered the question for the item's kind with an error other than 404.
    var kindIsUnknown = false
    var isCollection = false
    var isForeign = false
    var lastModified: String?
    var length: String?
    var contentType: String?
    var etag: String?
    var id: String?
    var size: String?
    var permissions: String?
    var favorite: String?
    var ownerID: String?
    var checksums: String?
    var quotaAvailable: String?

    /// Whether the item has a property that only servers of the ownCloud family know.
    var hasFamilyProperties: Bool {
        id != nil || size != nil || permissions != nil || favorite != nil || ownerID != nil
    }

    /// Whether a server of the ownCloud family tells about something that it does not have: each of its items has an id
    /// and an ETag. Nextcloud answers so for every name that ends with `.part`.
    var isPhantom: Bool {
        guard id?.isEmpty ?? true, let etag else { return false }
        return ETag(field: etag) == nil
    }
}

/// A builder that takes the properties of a file or folder.
struct ListedResponseBuilder: ResponseBuilder {
    let mostText = MultistatusProblem.longestText

    private var current = DAVResponse()
    /// The properties of the current group. Their status may come after them.
    private var pending = DAVResponse()
    private var property = DAVElement.other
    private var text: [UInt8] = []

    var kept: Int { text.count }

    mutating func startResponse() { current = DAVResponse() }

    mutating func startGroup() { pending = DAVResponse() }

    mutating func startProperty(_ name: UnsafePointer<CChar>) {
        property = DAVElement(name)
        text.removeAll(keepingCapacity: true)
    }

    mutating func startElement(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes, depth: Int) {
        guard depth == 1, property == .resourcetype else { return }
        switch DAVElement(name) {
        case .collection: pending.isCollection = true
        case .foreign: pending.isForeign = true
        default: break
        }
    }

    mutating func text(_ bytes: UnsafeRawBufferPointer, depth: Int) {
        // The checksums stand in an element of their own.
        guard depth == 0 || property == .checksums, property != .other, property != .resourcetype else { return }
        text.append(contentsOf: bytes)
    }

    mutating func endElement(depth: Int) {}

    mutating func endProperty() {
        switch property {
        case .resourcetype: pending.hasKind = true
        case .getlastmodified: pending.lastModified = text.withoutLayout
        case .getcontentlength: pending.length = text.withoutLayout
        case .getcontenttype: pending.contentType = text.withoutLayout
        case .getetag: pending.etag = text.withoutLayout
        case .id: pending.id = text.withoutLayout
        case .size: pending.size = text.withoutLayout
        case .permissions: pending.permissions = text.withoutLayout
        case .favorite: pending.favorite = text.withoutLayout
        case .ownerID: pending.ownerID = text.withoutLayout
        case .checksums: pending.checksums = text.withoutLayout
        case .quotaAvailable: pending.quotaAvailable = text.withoutLayout
        default: break
        }
    }

    /// Takes over a group of properties if its status is a success. The status may stand before or after the
    /// properties.
    mutating func endGroup(status: Int?) {
        let status = status ?? 200
        guard (200..<300).contains(status) else {
            if pending.hasKind, status != 404 { current.kindIsUnknown = true }
            if status == 404 { current.hasProperties = true }
            return
        }
        guard current.hasProperties else {
            pending.hasProperties = true
            pending.kindIsUnknown = current.kindIsUnknown
            current = pending
            return
        }
        current.hasKind = current.hasKind || pending.hasKind
        current.isCollection = current.isCollection || pending.isCollection
        current.isForeign = current.isForeign || pending.isForeign
        current.lastModified = pending.lastModified ?? current.lastModified
        current.length = pending.length ?? current.length
        current.contentType = pending.contentType ?? current.contentType
        current.etag = pending.etag ?? current.etag
        current.id = pending.id ?? current.id
        current.size = pending.size ?? current.size
        current.permissions = pending.permissions ?? current.permissions
        current.favorite = pending.favorite ?? current.favorite
        current.ownerID = pending.ownerID ?? current.ownerID
        current.checksums = pending.checksums ?? current.checksums
        current.quotaAvailable = pending.quotaAvailable ?? current.quotaAvailable
    }

    mutating func response(href: String, status: Int?, errors: [String]) -> DAVResponse {
        current.href = href
        current.status = status
        return current
    }
}
