import Model

/// The reason why a well-formed document is not a multistatus, or not one that can be read.
enum MultistatusProblem: Error, Equatable {
    /// A document with another root element, such as `html`.
    case otherDocument(String)
    /// A document that declares a type, and perhaps entities.
    case documentType(String)
    case noHref
    case tooLong
    case tooDeep
    /// A document that goes on for more than this number of bytes without another entry.
    case endless(Int)

    /// The largest length of an address, a status or a similar text, in bytes.
    static let longestText = 65_536
    /// The largest number of elements that may be open inside one another.
    static let deepest = 256

    /// The problem in words for a person, with a hint.
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
                "the answer has a document type (DOCTYPE \(PercentCoding.printable(name))), which Larder does not "
                    + "accept",
                "no WebDAV server sends a document type; check which server answers at the account's url"
            )
        case .noHref: return ("the answer has an entry without an address", nil)
        case .tooLong: return ("the answer has an entry with too much text", nil)
        case .endless(let bytes):
            return (
                "the answer goes on for more than \(WrittenQuantity.rough(bytes: Int64(bytes))) without another entry",
                "check which server answers at the account's url"
            )
        case .tooDeep: return ("the answer's elements are nested too deep", nil)
        }
    }
}

extension XMLReader.Malformed {
    /// The problem in words for a person, with a hint.
    var explanation: (text: String, hint: String?) {
        (
            "the answer is cut off or is not XML (line \(line), column \(column): \(reason))",
            "try again; if the error persists, check the server's log"
        )
    }
}
