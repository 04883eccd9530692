import Model

/// The text of one property, composed as its elements arrive.
///
/// It is the property's character data. If the property contains elements, it has a line for each element that contains
/// no further element: the element's name in Clark's notation, then a space and its text or, without a text, its
/// attribute `name`. Blanks at both ends of a text are layout, unless the property holds a document.
struct PropertyText {
    private let isDocument: Bool
    private var characters: [UInt8] = []
    private var lines: [UInt8] = []
    private var hasElements = false
    /// The element that was opened last, until another element is opened in it.
    private var innermost: (name: String, attribute: String?)?
    private var innermostText: [UInt8] = []

    /// The number of bytes that are kept.
    var count: Int { characters.count + lines.count + innermostText.count }

    init(isDocument: Bool) { self.isDocument = isDocument }

    mutating func start(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes) {
        hasElements = true
        characters = []
        innermost = (ElementName.clark(name), attributes["name"])
        innermostText.removeAll(keepingCapacity: true)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer, depth: Int) {
        if depth > 0 {
            if innermost != nil { innermostText.append(contentsOf: bytes) }
        } else if !hasElements {
            characters.append(contentsOf: bytes)
        }
    }

    mutating func end() {
        guard let element = innermost.take() else { return }
        if !lines.isEmpty { lines.append(UInt8(ascii: "\n")) }
        lines.append(contentsOf: element.name.utf8)
        var text = innermostText.withoutLayout
        if text.isEmpty { text = element.attribute ?? "" }
        guard !text.isEmpty else { return }
        lines.append(UInt8(ascii: " "))
        // Line breaks in the text become spaces, so that each element keeps to one line.
        lines.append(contentsOf: text.utf8.map { $0 == 0x0a || $0 == 0x0d ? UInt8(ascii: " ") : $0 })
        innermostText = []
    }

    var text: String {
        if hasElements { return String(decoding: lines, as: UTF8.self) }
        return isDocument ? String(decoding: characters, as: UTF8.self) : characters.withoutLayout
    }
}

/// A builder that takes the requested properties, each as text.
struct TextResponseBuilder: ResponseBuilder {
    let mostText: Int

    private let asked: AskedProperties
    private let documents: Set<Int>
    private var values: [String?]
    /// The properties of the current group. Their status may come after them.
    private var pending: [(place: Int, text: String)] = []
    private var property: (place: Int, text: PropertyText)?
    private var keptInValues = 0

    init(_ asked: AskedProperties, mostText: Int) {
        self.asked = asked
        self.mostText = mostText
        documents = Set(
            ["{urn:ietf:params:xml:ns:caldav}calendar-data", "{urn:ietf:params:xml:ns:carddav}address-data"]
                .compactMap { asked.place(of: $0) })
        values = []
    }

    var kept: Int { keptInValues + (property?.text.count ?? 0) }

    mutating func startResponse() {
        values = Array(repeating: nil, count: asked.count)
        keptInValues = 0
    }

    mutating func startGroup() { pending.removeAll(keepingCapacity: true) }

    mutating func startProperty(_ name: UnsafePointer<CChar>) {
        property = asked.table[name].map { ($0, PropertyText(isDocument: documents.contains($0))) }
    }

    mutating func startElement(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes, depth: Int) {
        property?.text.start(name, attributes)
    }

    mutating func text(_ bytes: UnsafeRawBufferPointer, depth: Int) { property?.text.append(bytes, depth: depth) }

    mutating func endElement(depth: Int) { property?.text.end() }

    mutating func endProperty() {
        guard let property = property.take() else { return }
        let text = property.text.text
        keptInValues += max(text.utf8.count, 16)
        pending.append((property.place, text))
    }

    mutating func endGroup(status: Int?) {
        guard (200..<300).contains(status ?? 200) else { return }
        for (place, text) in pending { values[place] = text }
    }

    mutating func response(href: String, status: Int?, errors: [String]) -> MultistatusResponse {
        MultistatusResponse(href: href, status: status, values: asked.places.map { values[$0] }, errors: errors)
    }
}
