/// What one `response` of a multistatus says.
struct DAVResponse: Equatable {
    var href = ""
    /// The status of the whole response; nil where each property has its own.
    var status: Int?
    /// Whether the server told at least one group of properties with its status.
    var hasProperties = false
    /// Whether the server told whether this is a collection.
    var hasKind = false
    /// Whether it answered that very question with an error other than "there is none".
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
}

/// Reads a multistatus (RFC 4918, section 13) from XML events: a state machine that knows where in the document it is and
/// takes elements only where they belong.
final class Multistatus: XMLHandler {
    /// Why a well-formed document is no multistatus.
    enum Problem: Error, Equatable {
        /// The root element is another one, `html` for instance.
        case otherDocument(String)
        case noHref
        case tooLong
    }

    /// Finished responses that nobody has taken yet.
    private(set) var responses: [DAVResponse] = []
    private(set) var problem: Problem?

    /// The longest text of one element that is kept, in bytes.
    private static let longestText = 65_536

    private enum Place {
        case outside, multistatus, response, href, responseStatus, propstat, prop, property, propstatStatus
    }

    private var place = Place.outside
    /// Elements open below the place, none of which means anything but a kind.
    private var depthBelow = 0
    private var property = DAVElement.other
    private var text: [UInt8] = []
    private var current = DAVResponse()
    /// Properties whose status comes after them.
    private var pending = DAVResponse()
    private var pendingStatus: Int?

    /// Hands out what is finished.
    func take() -> [DAVResponse] {
        defer { responses.removeAll(keepingCapacity: true) }
        return responses
    }

    func start(_ name: UnsafePointer<CChar>) {
        guard problem == nil else { return }
        let element = DAVElement(name)
        guard depthBelow == 0 else {
            depthBelow += 1
            return
        }
        switch (place, element) {
        case (.outside, .multistatus): place = .multistatus
        case (.outside, _): problem = .otherDocument(Self.localName(name))
        case (.multistatus, .response):
            place = .response
            current = DAVResponse()
        case (.response, .href): enterText(.href)
        case (.response, .status): enterText(.responseStatus)
        case (.response, .propstat):
            place = .propstat
            pending = DAVResponse()
            pendingStatus = nil
        case (.propstat, .prop): place = .prop
        case (.propstat, .status): enterText(.propstatStatus)
        case (.prop, _):
            property = element
            enterText(.property)
        default:
            if place == .property, property == .resourcetype {
                if element == .collection { pending.isCollection = true }
                if element == .foreign { pending.isForeign = true }
            }
            depthBelow = 1
        }
    }

    func text(_ bytes: UnsafeRawBufferPointer) {
        guard depthBelow == 0, problem == nil else { return }
        switch place {
        case .property where property == .other || property == .resourcetype: return
        case .href, .responseStatus, .property, .propstatStatus:
            if text.count + bytes.count > Self.longestText {
                problem = .tooLong
            } else {
                text.append(contentsOf: bytes)
            }
        default: return
        }
    }

    func end() {
        guard problem == nil else { return }
        if depthBelow > 0 {
            depthBelow -= 1
            return
        }
        switch place {
        case .outside: return
        case .multistatus: place = .outside
        case .response:
            if current.href.isEmpty { problem = .noHref } else { responses.append(current) }
            place = .multistatus
        case .href:
            // A response with several hrefs tells one status of all (section 9.6.2): never of the items of a listing.
            if current.href.isEmpty { current.href = trimmedText() }
            place = .response
        case .responseStatus:
            current.status = Self.status(trimmedText())
            place = .response
        case .propstat:
            merge()
            place = .response
        case .prop: place = .propstat
        case .propstatStatus:
            pendingStatus = Self.status(trimmedText())
            place = .propstat
        case .property:
            endProperty()
            place = .prop
        }
    }

    private func enterText(_ place: Place) {
        self.place = place
        text.removeAll(keepingCapacity: true)
    }

    private func endProperty() {
        switch property {
        case .resourcetype: pending.hasKind = true
        case .getlastmodified: pending.lastModified = trimmedText()
        case .getcontentlength: pending.length = trimmedText()
        case .getcontenttype: pending.contentType = trimmedText()
        case .getetag: pending.etag = trimmedText()
        case .id: pending.id = trimmedText()
        case .size: pending.size = trimmedText()
        case .permissions: pending.permissions = trimmedText()
        case .favorite: pending.favorite = trimmedText()
        case .ownerID: pending.ownerID = trimmedText()
        default: break
        }
    }

    /// Takes a group of properties over if its status, which may stand before or after them, is a success.
    private func merge() {
        let status = pendingStatus ?? 200
        guard (200..<300).contains(status) else {
            if pending.hasKind, status != 404 { current.kindIsUnknown = true }
            if status == 404 { current.hasProperties = true }
            return
        }
        current.hasProperties = true
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
    }

    /// Blanks at both ends are layout; those of a name are percent-encoded.
    private func trimmedText() -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
        var kept = text[...]
        while let first = kept.first, isBlank(first) { kept.removeFirst() }
        while let last = kept.last, isBlank(last) { kept.removeLast() }
        return String(decoding: kept, as: UTF8.self)
    }

    /// The number in `HTTP/1.1 200 OK`; 0, which is no success, if there is none.
    private static func status(_ line: String) -> Int {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let number = Int(words[1]) else { return 0 }
        return number
    }

    private static func localName(_ name: UnsafePointer<CChar>) -> String {
        let text = String(cString: name)
        return String(text.split(separator: "\n").last ?? "")
    }
}
