/// The properties that a request asks for (RFC 4918, section 14.18), by their names in Clark's notation.
struct AskedProperties {
    private let names: [ElementName]
    /// The table that tells which of `names` an element is.
    let table: XMLNameTable<Int>
    /// For each requested property, its position in `names`. A property that is requested twice is there once.
    let places: [Int]

    /// The number of different properties.
    var count: Int { names.count }

    /// Reads the names of properties.
    /// - Throws: The first text that is not a property's name.
    init(_ properties: [String]) throws(NotAName) {
        var names: [ElementName] = []
        var places: [ElementName: Int] = [:]
        var order: [Int] = []
        for property in properties {
            guard let name = ElementName(clark: property) else { throw NotAName(text: property) }
            if places[name] == nil {
                places[name] = names.count
                names.append(name)
            }
            order.append(places[name] ?? 0)
        }
        self.names = names
        self.places = order
        table = XMLNameTable(names.enumerated().map { ($1.expanded, $0) })
    }

    /// Returns the position of a property's values, by its name in Clark's notation; nil if the property was not
    /// requested.
    func place(of property: String) -> Int? { ElementName(clark: property).flatMap { names.firstIndex(of: $0) } }

    struct NotAName: Error, Equatable { var text: String }

    /// The body of a PROPFIND for the properties (section 14.20). Each element names its own namespace, so that no
    /// prefix is needed.
    var propfind: [UInt8] {
        let elements = names.map(\.emptyElement).joined()
        return Array(
            #"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop>\#(elements)</prop></propfind>"#.utf8)
    }
}
