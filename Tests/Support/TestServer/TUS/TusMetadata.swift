import FoundationEssentials

/// The values of an `Upload-Metadata` field: what a client says of the file that it uploads.
struct TusMetadata: Sendable {
    private let values: [String: [UInt8]]

    /// Reads a field: keys, each followed by a value in base64, with commas between them; nil if the field is
    /// malformed.
    init?(_ field: String) {
        var values: [String: [UInt8]] = [:]
        for entry in field.split(separator: ",") {
            let parts = entry.split(separator: " ")
            guard let key = parts.first, parts.count <= 2,
                let value = Data(base64Encoded: parts.count == 2 ? String(parts[1]) : "")
            else { return nil }
            values[String(key)] = Array(value)
        }
        self.values = values
    }

    /// The file's name; nil if there is none that a file can have.
    var filename: [UInt8]? {
        guard let name = values["filename"], !name.isEmpty, name != [0x2e], name != [0x2e, 0x2e],
            !name.contains(0x2f), !name.contains(0)
        else { return nil }
        return name
    }

    subscript(key: String) -> String? { values[key].map { String(decoding: $0, as: UTF8.self) } }
}
