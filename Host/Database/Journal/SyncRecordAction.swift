import Model

/// The conversion between an action and its columns: `action`, `parameters` (JSON) and `otherPath`.
extension SyncRecord.Action {
    init?(name: String?, parameters: String?, otherPath: ItemPath?) {
        switch name.flatMap(Kind.init) {
        case .download: self = .download
        case .removeLocalCopy:
            let parameters = RemovalParameters(parameters)
            self = .removeLocalCopy(
                restoringFormerTrigger: parameters.restores, unusedSince: parameters.unusedSince)
        case .purge: self = .purge
        case .createFolder: self = .createFolder
        case .delete: self = .delete(isForced: parameters == Self.forced)
        case .move:
            guard let otherPath else { return nil }
            self = .move(to: otherPath)
        case .copy:
            guard let otherPath else { return nil }
            self = .copy(from: otherPath)
        case .setFavorite: self = .setFavorite(parameters == Self.favorite)
        case .setModificationTime:
            guard let times = parameters.flatMap(ModificationTimes.init) else { return nil }
            self = .setModificationTime(times.modified, former: times.former)
        case .upload:
            guard let upload = parameters.flatMap(Upload.init(parameters:)) else { return nil }
            self = .upload(upload)
        case nil: return nil
        }
    }

    /// The action's own parameters as JSON.
    var parameters: String? {
        switch self {
        case .download, .purge, .createFolder, .move, .copy: nil
        case .removeLocalCopy(let restores, let unusedSince):
            RemovalParameters(restores: restores, unusedSince: unusedSince).text
        case .delete(let isForced): isForced ? Self.forced : nil
        case .setFavorite(let isFavorite): isFavorite ? Self.favorite : nil
        case .setModificationTime(let modified, let former): ModificationTimes(modified: modified, former: former).text
        case .upload(let upload): upload.parameters
        }
    }

    private static let forced = #"{"force":true}"#
    private static let favorite = #"{"favorite":true}"#
}

/// The parameters of a removal: `{"restoringFormerTrigger":true,"unusedSince":1795255200000000000}`, each member only
/// if it has a value other than the default.
private struct RemovalParameters {
    var restores: Bool
    var unusedSince: Timestamp?

    init(restores: Bool, unusedSince: Timestamp?) {
        self.restores = restores
        self.unusedSince = unusedSince
    }

    /// Reads what ``text`` wrote.
    init(_ text: String?) {
        let members = (text ?? "").dropFirst().dropLast().split(separator: ",")
        restores = members.contains(#""restoringFormerTrigger":true"#)
        unusedSince = members.lazy.compactMap { member in
            let prefix = #""unusedSince":"#
            return member.hasPrefix(prefix) ? Int64(member.dropFirst(prefix.count)) : nil
        }.first.map(Timestamp.init(nanoseconds:))
    }

    var text: String? {
        var members: [String] = []
        if restores { members.append(#""restoringFormerTrigger":true"#) }
        if let unusedSince { members.append(#""unusedSince":\#(unusedSince.nanoseconds)"#) }
        return members.isEmpty ? nil : "{\(members.joined(separator: ","))}"
    }
}

/// The parameters of a change of a modification time: `{"modified":1795255200000000000,"former":1795255100000000000}`,
/// the former time only if it was known.
private struct ModificationTimes {
    var modified: Timestamp
    var former: Timestamp?

    init(modified: Timestamp, former: Timestamp?) { (self.modified, self.former) = (modified, former) }

    /// Reads what ``text`` wrote.
    init?(_ text: String) {
        let json: JSONValue
        do throws(JSONValue.ParsingError) { json = try JSONValue(parsing: text) } catch { return nil }
        guard case .integer(let modified) = json["modified"] else { return nil }
        self.modified = Timestamp(nanoseconds: modified)
        if case .integer(let former) = json["former"] { self.former = Timestamp(nanoseconds: former) }
    }

    var text: String {
        var members: [JSONValue.Member] = [.init(name: "modified", value: .integer(modified.nanoseconds))]
        if let former { members.append(.init(name: "former", value: .integer(former.nanoseconds))) }
        return JSONValue.object(members).text
    }
}

/// The parameters of an upload, each member only if it has a value. Digests are hexadecimal text.
extension Upload {
    fileprivate init?(parameters: String) {
        let json: JSONValue
        do throws(JSONValue.ParsingError) { json = try JSONValue(parsing: parameters) } catch { return nil }
        guard case .string(let snapshot) = json["snapshot"], case .integer(let size) = json["size"],
            let digest = json["sha256"]?.bytes, let sha1 = json["sha1"]?.bytes
        else { return nil }
        let mark = json["mark"].flatMap(FileMark.init)
        self.init(
            snapshot: snapshot, size: size, digest: digest, sha1: sha1, mark: mark, modified: nil,
            isNew: json["new"] == .bool(true))
        followsNothing = json["followsNothing"] == .bool(true)
        if case .integer(let modified) = json["modified"] { self.modified = Timestamp(nanoseconds: modified) }
        base = json.base
        if case .string(let source) = json["source"] { self.source = source }
        if let begun = json["begun"], case .string(let address) = begun["address"],
            case .string(let path) = begun["path"]
        {
            self.begun = ResumableUpload(address: address, path: ItemPath(unchecked: path), base: begun.base)
        }
    }

    fileprivate var parameters: String {
        var members: [JSONValue.Member] = [
            .init(name: "snapshot", value: .string(snapshot)), .init(name: "size", value: .integer(size)),
            .init(name: "sha256", value: JSONValue(bytes: digest)), .init(name: "sha1", value: JSONValue(bytes: sha1)),
        ]
        if let mark { members.append(.init(name: "mark", value: mark.json)) }
        if isNew { members.append(.init(name: "new", value: .bool(true))) }
        if followsNothing { members.append(.init(name: "followsNothing", value: .bool(true))) }
        if let modified { members.append(.init(name: "modified", value: .integer(modified.nanoseconds))) }
        members += Self.members(base: base)
        if let source { members.append(.init(name: "source", value: .string(source))) }
        if let begun {
            let facts: [JSONValue.Member] = [
                .init(name: "address", value: .string(begun.address)),
                .init(name: "path", value: .string(begun.path.text)),
            ]
            members.append(.init(name: "begun", value: .object(facts + Self.members(base: begun.base))))
        }
        return JSONValue.object(members).text
    }

    private static func members(base: ETag?) -> [JSONValue.Member] {
        guard let base else { return [] }
        return [
            .init(name: "base", value: .string(base.opaque)),
            .init(name: "baseStrength", value: .integer(Int64(base.strength.rawValue))),
        ]
    }
}

/// A mark as JSON: `[inode,size,modified,changed,recorded]`, the times in nanoseconds.
extension FileMark {
    fileprivate init?(_ json: JSONValue) {
        guard case .array(let values) = json, values.count == 5 else { return nil }
        let numbers = values.compactMap { value -> Int64? in
            if case .integer(let number) = value { number } else { nil }
        }
        guard numbers.count == 5 else { return nil }
        self.init(
            inode: UInt64(bitPattern: numbers[0]), size: numbers[1], modified: Timestamp(nanoseconds: numbers[2]),
            changed: Timestamp(nanoseconds: numbers[3]), recorded: Timestamp(nanoseconds: numbers[4]))
    }

    fileprivate var json: JSONValue {
        .array(
            [Int64(bitPattern: inode), size, modified.nanoseconds, changed.nanoseconds, recorded.nanoseconds].map {
                .integer($0)
            })
    }
}

extension JSONValue {
    /// Creates a text of hexadecimal digits, which is read many times faster than an array of numbers.
    fileprivate init(bytes: [UInt8]) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }
        let text = String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (place, byte) in bytes.enumerated() {
                text[2 * place] = digit(byte >> 4)
                text[2 * place + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
        self = .string(text)
    }

    /// The version in the members `base` and `baseStrength`.
    fileprivate var base: ETag? {
        guard case .string(let base) = self["base"], case .integer(let strength) = self["baseStrength"] else {
            return nil
        }
        return ETag(base, strength: strength)
    }

    /// The bytes of a text of hexadecimal digits, or of an array of numbers, as earlier records have them.
    fileprivate var bytes: [UInt8]? {
        if case .string(let text) = self { return [UInt8](hexadecimal: text) }
        guard case .array(let values) = self else { return nil }
        let bytes = values.compactMap { value -> UInt8? in
            if case .integer(let byte) = value { UInt8(exactly: byte) } else { nil }
        }
        return bytes.count == values.count ? bytes : nil
    }
}

extension [UInt8] {
    /// Reads hexadecimal digits, two for each byte; nil if the text is none.
    fileprivate init?(hexadecimal text: String) {
        var digits = text
        let bytes = digits.withUTF8 { digits -> [UInt8]? in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(digits.count / 2)
            var high: UInt8?
            for digit in digits {
                let value: UInt8
                switch digit {
                case 0x30...0x39: value = digit - 0x30
                case 0x61...0x66: value = digit - 0x61 + 10
                default: return nil
                }
                if let first = high { bytes.append(first << 4 | value) }
                high = high == nil ? value : nil
            }
            return high == nil ? bytes : nil
        }
        guard let bytes else { return nil }
        self = bytes
    }
}
