/// A builder that takes the properties of a multistatus's responses as they arrive and makes a value of each response.
protocol ResponseBuilder {
    associatedtype Response
    /// The largest amount of text that may be kept at a time, in bytes.
    var mostText: Int { get }
    /// The number of bytes of text that are kept.
    var kept: Int { get }

    /// Begins a response. Nothing of the response before it is left.
    mutating func startResponse()
    /// Begins a group of properties that have a status in common.
    mutating func startGroup()
    mutating func startProperty(_ name: UnsafePointer<CChar>)
    /// Takes the start of an element inside a property.
    /// - Parameters:
    ///   - name: The name, in the form that `XMLHandler.start` gets.
    ///   - attributes: The element's attributes.
    ///   - depth: The depth of the element; 1 directly inside the property.
    mutating func startElement(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes, depth: Int)
    /// Takes a piece of text inside a property.
    /// - Parameters:
    ///   - bytes: The bytes of the text.
    ///   - depth: The depth of the text; 0 directly inside the property.
    mutating func text(_ bytes: UnsafeRawBufferPointer, depth: Int)
    mutating func endElement(depth: Int)
    mutating func endProperty()
    /// Ends a group of properties.
    /// - Parameter status: The status of the group; nil if the server gave none.
    mutating func endGroup(status: Int?)
    /// Ends a response and returns its value.
    /// - Parameters:
    ///   - href: The address that the response is about.
    ///   - status: The status of the whole response; nil if each property has its own.
    ///   - errors: The names of the elements in its `error` elements, in Clark's notation.
    mutating func response(href: String, status: Int?, errors: [String]) -> Response
}

extension ResponseBuilder {
    /// Tells whether more text is kept than allowed. The method is mutating so that the builder is checked in place.
    /// Otherwise the builder would be copied, with everything it holds, for each piece of text.
    mutating func isOverfull() -> Bool { kept > mostText }
}
