/// A property of items that conditions are about.
public struct ItemProperty<Value>: Sendable {
    fileprivate let name: String

    fileprivate func compared(_ sign: String, _ literal: String) -> Condition {
        Condition(term: "\(name) \(sign) \(literal)")
    }
}

extension ItemProperty where Value == String {
    public static var path: Self { Self(name: "path") }
    public static var name: Self { Self(name: "name") }
    public static var mimeType: Self { Self(name: "mimeType") }
    public static var etag: Self { Self(name: "etag") }
    public static var fileID: Self { Self(name: "fileID") }
    public static var localID: Self { Self(name: "localID") }
    public static var downloadTrigger: Self { Self(name: "downloadTrigger") }

    public static func == (property: Self, text: String) -> Condition { property.compared("==", quoted(text)) }
    public static func != (property: Self, text: String) -> Condition { property.compared("!=", quoted(text)) }

    public func starts(with prefix: String) -> Condition { Condition(term: "\(name).startsWith(\(quoted(prefix)))") }
    public func ends(with suffix: String) -> Condition { Condition(term: "\(name).endsWith(\(quoted(suffix)))") }
    public func contains(_ part: String) -> Condition { Condition(term: "\(name).contains(\(quoted(part)))") }
}

extension ItemProperty where Value == Int64 {
    /// In bytes.
    public static var size: Self { Self(name: "size") }

    public static func == (property: Self, number: Int64) -> Condition { property.compared("==", "\(number)") }
    public static func != (property: Self, number: Int64) -> Condition { property.compared("!=", "\(number)") }
    public static func < (property: Self, number: Int64) -> Condition { property.compared("<", "\(number)") }
    public static func <= (property: Self, number: Int64) -> Condition { property.compared("<=", "\(number)") }
    public static func > (property: Self, number: Int64) -> Condition { property.compared(">", "\(number)") }
    public static func >= (property: Self, number: Int64) -> Condition { property.compared(">=", "\(number)") }
}

extension ItemProperty where Value == ItemType {
    public static var type: Self { Self(name: "type") }

    public static func == (property: Self, type: ItemType) -> Condition {
        property.compared("==", type == .file ? "\"file\"" : "\"folder\"")
    }
}

extension ItemProperty where Value == CloudStatus {
    public static var cloudStatus: Self { Self(name: "cloudStatus") }

    public static func == (property: Self, status: CloudStatus) -> Condition {
        property.compared("==", quoted("\(status)"))
    }
}

extension ItemProperty where Value == RemoteVersion {
    public static var remoteVersion: Self { Self(name: "remoteVersion") }

    public static func == (property: Self, version: RemoteVersion) -> Condition {
        property.compared("==", quoted("\(version)"))
    }
}

extension Condition {
    /// No longer on the server.
    public static var removed: Condition { Condition(term: "removed") }
    /// Marked as such on the server.
    public static var favorite: Condition { Condition(term: "favorite") }
}

/// A literal of the condition language.
private func quoted(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": literal += "\\\""
        case "\\": literal += "\\\\"
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case "\t": literal += "\\t"
        case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
            let digits = String(scalar.value, radix: 16)
            literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: literal.unicodeScalars.append(scalar)
        }
    }
    return literal + "\""
}
