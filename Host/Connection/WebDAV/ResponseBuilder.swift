/// Takes the properties of a multistatus's responses as they come and makes what is wanted of each response.
protocol ResponseBuilder {
    associatedtype Response
    /// How much text may be kept at a time, in bytes.
    var mostText: Int { get }
    /// Bytes of text that are kept.
    var kept: Int { get }

    /// A response begins; nothing of the one before is left.
    mutating func startResponse()
    /// Properties with a status in common follow.
    mutating func startGroup()
    mutating func startProperty(_ name: UnsafePointer<CChar>)
    /// An element in a property.
    /// - Parameter depth: 1 in the property itself.
    mutating func startElement(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes, depth: Int)
    /// - Parameter depth: 0 in the property itself.
    mutating func text(_ bytes: UnsafeRawBufferPointer, depth: Int)
    mutating func endElement(depth: Int)
    mutating func endProperty()
    /// - Parameter status: nil: the server gave none.
    mutating func endGroup(status: Int?)
    /// - Parameters:
    ///   - status: of the whole response; nil where each property has its own.
    ///   - errors: what was in its `error` elements, in Clark's notation.
    mutating func response(href: String, status: Int?, errors: [String]) -> Response
}

extension ResponseBuilder {
    /// Whether more text is kept than may be. Mutating, for the builder is then looked at where it is, and not copied with all that it
    /// holds for each piece of text.
    mutating func isOverfull() -> Bool { kept > mostText }
}
