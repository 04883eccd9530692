import Digests

/// A value in an OCS answer, which is written as JSON or as XML.
package indirect enum OCSValue: Sendable {
    case null
    case bool(Bool)
    case number(Int)
    case text(String)
    case list([OCSValue])
    case object([(name: String, value: OCSValue)])

    init(_ text: String?) { self = text.map(OCSValue.text) ?? .null }

    var json: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let value): Self.quoted(value)
        case .list(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.map { Self.quoted($0.name) + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }

    /// The content of an XML element with this value.
    var xml: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "1" : ""
        case .number(let value): "\(value)"
        case .text(let value): XMLWriter.escaped(value)
        case .list(let values): values.map { "<element>\($0.xml)</element>" }.joined()
        case .object(let fields): fields.map { "<\($0.name)>\($0.value.xml)</\($0.name)>" }.joined()
        }
    }

    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "/": result += "\\/"
            case _ where scalar.value < 0x20:
                result += "\\u00" + hexadecimal([UInt8(scalar.value)])
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
