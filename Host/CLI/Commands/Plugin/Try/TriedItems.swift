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

    /// The length of the longest line, in bytes.
    private static let longestLine = 16 << 20

    /// Reads a file. Blocks.
    /// - Parameters:
    ///   - file: The path.
    ///   - name: What errors call it.
    /// - Throws: `.badData` with the line and the column if it does not consist of items; the error of reading it.
    init(reading file: String, named name: String) throws(Failure) {
        self.file = name
        let input = open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw .reading(name, errno) }
        defer { close(input) }
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var line: [UInt8] = []
        var number = 1
        while true {
            let count = read(input, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EISDIR { throw Failure(.badData, "\(name) is a folder", hint: "Name a file") }
            guard count >= 0 else { throw .reading(name, errno) }
            guard count > 0 else {
                try add(line, number)
                return
            }
            var rest = piece[..<count]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line += rest[..<end]
                try add(line, number)
                line.removeAll(keepingCapacity: true)
                number += 1
                rest = rest[(end + 1)...]
            }
            line += rest
            guard line.count <= Self.longestLine else {
                throw wrong(number, "column 1", "the line is longer than 16 MiB")
            }
        }
    }

    private mutating func add(_ bytes: [UInt8], _ number: Int) throws(Failure) {
        // Some editors mark a file of UTF-8.
        let isMarked = number == 1 && bytes.starts(with: [0xef, 0xbb, 0xbf])
        guard let line = String(validating: bytes.dropFirst(isMarked ? 3 : 0), as: UTF8.self) else {
            throw wrong(number, "column 1", "it is not UTF-8")
        }
        if line.contains(where: { !$0.isWhitespace }) { try add(line, number) }
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
            kind: try members.word("type", of: kinds) ?? (path.isRoot ? .folder : .file))
        guard !path.isRoot || kind == .folder else { throw WrongMember(name: "type", what: "the root is a folder") }
        size = try members.integer("size")
        if let size, size < 0 { throw WrongMember(name: "size", what: "it is negative") }
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
            throw WrongMember(
                name: name, what: "it is no time of RFC 3339 from 1678 to 2261, such as 2026-01-31T12:00:00Z")
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
