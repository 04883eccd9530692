/// A state machine that reads a multistatus (RFC 4918, section 13) from XML events. It keeps its position in the
/// document and accepts elements only in their proper places.
final class Multistatus<Builder: ResponseBuilder>: XMLHandler {
    /// The complete responses that have not been taken yet.
    private(set) var responses: [Builder.Response] = []
    private(set) var problem: MultistatusProblem?
    /// The sync token of the whole answer, which stands at its beginning or its end (RFC 6578, section 6.2).
    private(set) var syncToken: String?

    private enum Place {
        case outside, multistatus, syncToken, response, href, responseStatus, responseError, propstat, prop, property,
            propstatStatus, propstatError
    }

    private var place = Place.outside
    /// The number of open elements below `place`.
    private var depthBelow = 0
    private var text: [UInt8] = []
    private var builder: Builder
    private var hrefs: [String] = []
    private var status: Int?
    private var groupStatus: Int?
    private var errors: [String] = []
    /// The number of bytes in `hrefs` and `errors`.
    private var kept = 0
    /// The number of bytes since a response last ended.
    private var bytesSinceResponse = 0
    private let longestGap: Int

    /// Creates a machine at the beginning of a document.
    /// - Parameter longestGap: The largest number of bytes without the end of a response.
    init(_ builder: Builder, longestGap: Int = ListingLimits().longestGap) {
        self.builder = builder
        self.longestGap = longestGap
    }

    /// Returns the complete responses and forgets them.
    func take() -> [Builder.Response] {
        var taken: [Builder.Response] = []
        swap(&taken, &responses)
        return taken
    }

    var hasGivenUp: Bool { problem != nil }

    func start(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes) {
        guard problem == nil else { return }
        guard depthBelow == 0, place != .property else {
            depthBelow += 1
            if depthBelow > MultistatusProblem.deepest { problem = .tooDeep }
            if place == .property { builder.startElement(name, attributes, depth: depthBelow) }
            return
        }
        if place == .prop {
            place = .property
            return builder.startProperty(name)
        }
        switch (place, DAVElement(name)) {
        case (.outside, .multistatus): place = .multistatus
        case (.outside, _): problem = .otherDocument(Self.localName(name))
        case (.multistatus, .syncToken): enterText(.syncToken)
        case (.multistatus, .response):
            place = .response
            hrefs.removeAll(keepingCapacity: true)
            (status, errors, kept) = (nil, [], 0)
            builder.startResponse()
        case (.response, .href): enterText(.href)
        case (.response, .status): enterText(.responseStatus)
        case (.response, .error): place = .responseError
        case (.response, .propstat):
            place = .propstat
            groupStatus = nil
            builder.startGroup()
        case (.propstat, .prop): place = .prop
        case (.propstat, .status): enterText(.propstatStatus)
        case (.propstat, .error): place = .propstatError
        case (.responseError, _), (.propstatError, _):
            depthBelow = 1
            let error = ElementName.clark(name)
            if keep(error) { errors.append(error) }
        default: depthBelow = 1
        }
    }

    func documentType(_ name: String) {
        problem = name.lowercased() == "html" ? .otherDocument(name) : .documentType(name)
    }

    func text(_ bytes: UnsafeRawBufferPointer) {
        guard problem == nil else { return }
        if place == .property {
            builder.text(bytes, depth: depthBelow)
            if builder.isOverfull() { problem = .tooLong }
            return
        }
        guard depthBelow == 0 else { return }
        switch place {
        case .href, .responseStatus, .propstatStatus, .syncToken:
            if text.count + bytes.count > MultistatusProblem.longestText {
                problem = .tooLong
            } else {
                text.append(contentsOf: bytes)
            }
        default: return
        }
    }

    func passed(_ bytes: Int) {
        bytesSinceResponse += bytes
        if bytesSinceResponse > longestGap, problem == nil { problem = .endless(longestGap) }
    }

    func end() {
        guard problem == nil else { return }
        if depthBelow > 0 {
            if place == .property { builder.endElement(depth: depthBelow) }
            if builder.isOverfull() { problem = .tooLong }
            depthBelow -= 1
            return
        }
        switch place {
        case .outside: return
        case .multistatus: place = .outside
        case .syncToken:
            syncToken = text.withoutLayout
            place = .multistatus
        case .response:
            endResponse()
            place = .multistatus
        case .href:
            let href = text.withoutLayout
            if !href.isEmpty, keep(href) { hrefs.append(href) }
            place = .response
        case .responseStatus:
            status = Self.status(text)
            place = .response
        case .responseError: place = .response
        case .propstat:
            builder.endGroup(status: groupStatus)
            place = .response
        case .prop, .propstatError: place = .propstat
        case .propstatStatus:
            groupStatus = Self.status(text)
            place = .propstat
        case .property:
            builder.endProperty()
            if builder.isOverfull() { problem = .tooLong }
            place = .prop
        }
    }

    private func endResponse() {
        bytesSinceResponse = 0
        guard let first = hrefs.first else {
            problem = .noHref
            return
        }
        responses.append(builder.response(href: first, status: status, errors: errors))
        // Several hrefs have one status in common (section 9.6.2), and no properties.
        guard status != nil else { return }
        for href in hrefs.dropFirst() {
            responses.append(builder.response(href: href, status: status, errors: errors))
        }
    }

    private func enterText(_ place: Place) {
        self.place = place
        text.removeAll(keepingCapacity: true)
    }

    /// Counts a text that is kept until the response ends, and tells whether there is room for it.
    private func keep(_ text: String) -> Bool {
        kept += text.utf8.count
        if kept > MultistatusProblem.longestText { problem = .tooLong }
        return problem == nil
    }

    /// Returns the number in `HTTP/1.1 200 OK`, or in `200 OK` of servers that leave out the version; 0 if there is none,
    /// which does not count as a success.
    private static func status(_ line: [UInt8]) -> Int {
        var rest = line[...]
        rest = rest.drop { $0 <= 0x20 }
        if !rest.prefix(while: { $0 > 0x20 }).allSatisfy({ (0x30...0x39).contains($0) }) {
            rest = rest.drop { $0 > 0x20 }
            rest = rest.drop { $0 <= 0x20 }
        }
        rest = rest.prefix { $0 > 0x20 }
        return Int(String(decoding: rest, as: UTF8.self)) ?? 0
    }

    private static func localName(_ name: UnsafePointer<CChar>) -> String {
        let text = String(cString: name)
        return String(text.split(separator: "\n").last ?? "")
    }
}

extension [UInt8] {
    /// The text without the blanks at both ends, which are layout. The blanks of a name are percent-encoded.
    var withoutLayout: String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return String(decoding: self[first...last], as: UTF8.self)
    }
}
