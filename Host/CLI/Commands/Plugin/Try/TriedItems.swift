import Glibc
import Model

/// The items of a trial, read from lines of JSON as `larder ls --json` prints them.
///
/// Only `path` must be there. What depends on other members is not read but follows from them: `name`, `parentPath`,
/// `availableOffline`, `localPath`; and nothing has shares or claims.
struct TriedItems {
    private(set) var items: [Item] = []
    /// The lines of the paths that are not removed, and of the ids.
    private var paths: [ItemPath: Int] = [:]
    private var ids: [LocalID: Int] = [:]
    private let file: String
    /// The time at which removed items were removed.
    private let now = Timestamp.now()

    /// Reads a file. Blocks.
    /// - Parameter file: The path; `-` stands for standard input.
    /// - Throws: `.badData` with the line and the column if it does not consist of items; the error of reading it.
    init(reading file: String) throws(Failure) {
        self.file = file == "-" ? "standard input" : file
        let bytes = try Self.bytes(of: file)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badData, "\(self.file) is not UTF-8")
        }
        // A carriage return before a line feed is white space of JSON, and no part of a line's end to Swift.
        for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            let line = Substring(line)
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            try add(String(line), index + 1)
        }
    }

    private mutating func add(_ line: String, _ number: Int) throws(Failure) {
        let json: JSONValue
        do throws(JSONValue.ParsingError) { json = try JSONValue(parsing: line) } catch {
            let before = String(decoding: line.utf8.prefix(error.offset), as: UTF8.self)
            throw wrong(number, "column \(before.unicodeScalars.count + 1)", error.message)
        }
        guard case .object = json else { throw wrong(number, "column 1", "an item is an object") }
        let item: Item
        do throws(WrongMember) { item = try Item(tried: json, removed: now) } catch {
            throw wrong(number, "`\(error.name)`", error.what)
        }
        if !item.isRemoved, let other = paths.updateValue(number, forKey: item.path) {
            throw wrong(number, "`path`", "the item of line \(other) has the same path")
        }
        if let other = ids.updateValue(number, forKey: item.localID) {
            throw wrong(number, "`localID`", "the item of line \(other) has the same id")
        }
        items.append(item)
    }

    private func wrong(_ line: Int, _ place: String, _ what: String) -> Failure {
        Failure(
            .badData, "\(file), line \(line), \(place): \(what)",
            hint: "Each line is the JSON of one item, as `larder ls --json` prints it")
    }

    private static func bytes(of file: String) throws(Failure) -> [UInt8] {
        let input = file == "-" ? dup(0) : open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw .reading(file, errno) }
        defer { close(input) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(input, &piece, piece.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += piece[..<count] } else if errno != EINTR { throw .reading(file, errno) }
        }
    }
}

/// A member of an item's JSON that is missing or cannot be read.
private struct WrongMember: Error {
    var name: String
    var what: String
}

extension Item {
    /// Reads an item.
    /// - Parameter removed: The time at which it was removed, if it is.
    fileprivate init(tried json: JSONValue, removed: Timestamp) throws(WrongMember) {
        let members = ItemMembers(json: json)
        guard let text = try members.text("path") else { throw WrongMember(name: "path", what: "it is missing") }
        let path: ItemPath
        do throws(ItemPath.Problem) { path = try ItemPath(text) } catch {
            throw WrongMember(name: "path", what: error.explanation)
        }
        let kinds: [String: Kind] = ["file": .file, "folder": .folder]
        self.init(
            localID: try members.text("localID").map { LocalID($0) } ?? .random(),
            fileID: try members.text("fileID").map { FileID($0) }, path: path,
            kind: try members.word("type", of: kinds) ?? .file)
        size = try members.integer("size")
        mimeType = try members.text("mimeType")
        etag = try members.text("etag").flatMap(ETag.init(field:))
        lastModified = try members.time("lastModified")
        isFavorite = try members.flag("favorite")
        owner = try members.text("owner")
        permissions = try members.text("permissions")
        removedAt = try members.flag("removed") ? removed : nil
        let statuses = Dictionary(uniqueKeysWithValues: CloudStatus.allCases.map { ($0.name, $0) })
        cloudStatus = try members.word("cloudStatus", of: statuses) ?? .cloudOnly
        downloadTrigger = try members.text("downloadTrigger").map { DownloadTrigger($0) }
        lastUsed = try members.time("lastUsed")
        syncActivity = try members.activity("syncActivity")
        let isNewer = try members.word("remoteVersion", of: ["current": false, "newer": true]) ?? false
        guard kind == .file, cloudStatus != .cloudOnly else { return }
        let here = etag ?? ETag(opaque: "1", strength: .strong)
        if etag == nil, cloudStatus != .localOnly { etag = here }
        copy = LocalCopy(
            etag: isNewer ? ETag(opaque: here.opaque + "-before", strength: here.strength) : here,
            digest: [UInt8](repeating: 0, count: 32),
            mark: FileMark(
                inode: 0, size: size ?? 0, modified: lastModified ?? removed, changed: removed, recorded: removed))
    }
}

/// The members of an item's JSON, by their types. A member that is missing or null is nil.
private struct ItemMembers {
    let json: JSONValue

    private func value(_ name: String) -> JSONValue? {
        let value = json[name]
        return value == .null ? nil : value
    }

    func text(_ name: String) throws(WrongMember) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value else { throw WrongMember(name: name, what: "it is no string") }
        guard !text.utf8.contains(0) else { throw WrongMember(name: name, what: "it has a NUL in it") }
        return text
    }

    func integer(_ name: String) throws(WrongMember) -> Int64? {
        guard let value = value(name) else { return nil }
        guard case .integer(let number) = value else { throw WrongMember(name: name, what: "it is no integer") }
        return number
    }

    func flag(_ name: String) throws(WrongMember) -> Bool {
        guard let value = value(name) else { return false }
        guard case .bool(let flag) = value else { throw WrongMember(name: name, what: "it is neither true nor false") }
        return flag
    }

    func time(_ name: String) throws(WrongMember) -> Timestamp? {
        guard let text = try text(name) else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw WrongMember(name: name, what: "it is no time of RFC 3339, such as 2026-01-31T12:00:00Z")
        }
        return time
    }

    func word<Value>(_ name: String, of words: [String: Value]) throws(WrongMember) -> Value? {
        guard let text = try text(name) else { return nil }
        guard let value = words[text] else {
            throw WrongMember(name: name, what: "it is none of \(words.keys.sorted().joined(separator: ", "))")
        }
        return value
    }

    func activity(_ name: String) throws(WrongMember) -> SyncActivity {
        guard let value = value(name) else { return [] }
        let all = SyncActivity(rawValue: .max).names
        guard case .array(let values) = value else { throw WrongMember(name: name, what: "it is no list") }
        var activity: SyncActivity = []
        for value in values {
            guard case .string(let text) = value, let bit = all.firstIndex(of: text) else {
                throw WrongMember(name: name, what: "it has something else than \(all.joined(separator: ", "))")
            }
            activity.insert(SyncActivity(rawValue: 1 << Int64(bit)))
        }
        return activity
    }
}
