/// The properties that a request asks for (RFC 4918, section 14.18), by their names in Clark's notation.
struct AskedProperties {
    private let names: [ElementName]
    /// Which of `names` an element is.
    let table: XMLNameTable<Int>
    /// For each property that was asked for its place in `names`; one that is asked for twice is there once.
    let places: [Int]

    /// How many there are that differ.
    var count: Int { names.count }

    /// - Throws: the name that is none.
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

    /// Where the values of a property are, by its name in Clark's notation; nil: nobody asked for it.
    func place(of property: String) -> Int? { ElementName(clark: property).flatMap { names.firstIndex(of: $0) } }

    struct NotAName: Error, Equatable { var text: String }

    /// The body of a PROPFIND that asks for them (section 14.20). Each brings its namespace along, so that no prefix is needed.
    var propfind: [UInt8] {
        let elements = names.map(\.emptyElement).joined()
        return Array(
            #"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop>\#(elements)</prop></propfind>"#.utf8)
    }
}
