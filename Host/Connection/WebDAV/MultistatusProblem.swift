/// Why a well-formed document is no multistatus, or none that can be read.
enum MultistatusProblem: Error, Equatable {
    /// The root element is another one, `html` for instance.
    case otherDocument(String)
    /// It declares a type, and perhaps entities.
    case documentType(String)
    case noHref
    case tooLong
    case tooDeep

    /// The longest address, status and the like, in bytes.
    static let longestText = 65_536
    /// How many elements may be open in one another.
    static let deepest = 256

    /// For people.
    var explanation: (text: String, hint: String?) {
        switch self {
        case .otherDocument(let name):
            let what =
                name.lowercased() == "html"
                ? "a web page" : "a document of another kind (\(PercentCoding.printable(name)))"
            return (
                "the answer is \(what) instead of a listing",
                "check the account's url; a login page or a proxy may be in between"
            )
        case .documentType(let name):
            return (
                "the answer has a document type (DOCTYPE \(PercentCoding.printable(name))), which is not taken",
                "no WebDAV server sends one; look at what answers at the account's url"
            )
        case .noHref: return ("the answer has an entry without an address", nil)
        case .tooLong: return ("the answer has an entry with more text than is taken", nil)
        case .tooDeep: return ("the answer's elements are nested too deep", nil)
        }
    }
}

extension XMLReader.Malformed {
    /// For people.
    var explanation: (text: String, hint: String?) {
        (
            "the answer is cut off or is no XML (line \(line), column \(column): \(reason))",
            "try again; if it stays so, look into the server's log"
        )
    }
}
