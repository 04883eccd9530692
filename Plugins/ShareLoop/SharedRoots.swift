import LarderSDK

/// The states of the items that others share with the account, asked for so that many shares cost few requests.
///
/// Loops are polled one after the other, in cycles. In a cycle the shares in one folder cost one listing of that folder.
/// Those that are alone in their folder, or in a large one, or that their folder's listing leaves out, take turns, so
/// that a cycle has about as many requests for them as ``mostAlone``.
struct SharedRoots {
    /// The state of a share's root.
    enum State {
        case etag(String)
        /// There is nothing at the path.
        case absent
        /// It is not the share's turn.
        case unasked
    }

    /// The number of shares from which their folder is listed.
    private static let many = 3
    /// The number of entries for each share with which a folder is too large to be listed for its shares.
    private static let largest = 100
    /// The number of shares that are asked for alone in a cycle.
    private static let mostAlone = 20
    /// The longest time for which a folder's listing counts, in nanoseconds.
    private static let lifetime: Int64 = 10_000_000_000

    private let records: Host.Records
    private let dav: Host.DAV
    private let clock: Host.Clock
    /// The number of the cycle, and the time of its beginning.
    private var cycle = (number: 0, began: Int64(0))
    /// The loops that were polled in this cycle.
    private var polled: Set<[UInt8]> = []
    /// The number of shares in each folder, by its path.
    private var folders: [[UInt8]: Int] = [:]
    /// The ETags of the shares in each listed folder, by their paths, or why the folder could not be listed.
    private var listed: [[UInt8]: Result<[[UInt8]: String], PluginError>] = [:]
    /// The folders that are too large.
    private var large: Set<[UInt8]> = []
    /// The cycle in which each share was last asked for alone.
    private var asked: [[UInt8]: Int] = [:]

    init(_ records: Host.Records, _ dav: Host.DAV, _ clock: Host.Clock) {
        (self.records, self.dav, self.clock) = (records, dav, clock)
    }

    /// Returns the state of a share's root.
    /// - Parameters:
    ///   - path: The root's path in the account's tree.
    ///   - loop: The share's loop.
    ///   - home: The address of the tree, with a closing slash.
    ///   - mayRest: Whether the share may have to wait for its turn.
    mutating func state(
        of path: String, for loop: String, in home: String, mayRest: Bool
    ) throws(PluginError) -> State {
        let loop = Array(loop.utf8)
        try enter(loop, isPoll: mayRest)
        let folder = Self.folder(of: path)
        let count = folders[folder] ?? 0
        if isListed(folder, count) {
            if listed[folder] == nil { try list(folder, count, in: home) }
            // What the listing leaves out is asked for by itself.
            if let etag = try listed[folder]?.get()[Array(path.utf8)] { return .etag(etag) }
        }
        let turns = 1 + folders.reduce(0) { $0 + countAlone(in: $1.key, of: $1.value) } / Self.mostAlone
        if mayRest, let last = asked[loop], cycle.number - last < turns { return .unasked }
        // The shares begin at different cycles, so that not all have their turn in the same one.
        asked[loop] = asked[loop] == nil ? cycle.number - asked.count % turns : cycle.number
        return try ask(path, in: home)
    }

    /// Notes that a loop is polled, or refreshed. A loop that is polled again begins a new cycle.
    private mutating func enter(_ loop: [UInt8], isPoll: Bool) throws(PluginError) {
        let now = try clock.monotonic()
        defer { polled.insert(loop) }
        let isNew = polled.isEmpty || isPoll && polled.contains(loop)
        guard isNew || now - cycle.began > Self.lifetime else { return }
        if isNew {
            cycle.number += 1
            polled = []
        }
        cycle.began = now
        listed = [:]
        folders = [:]
        var cursor = try records.all(in: "shares", .value)
        while let record = try cursor.next() {
            let share = try Share(record)
            if !share.isOwn, share.isAccepted, let path = share.path { folders[Self.folder(of: path), default: 0] += 1 }
        }
    }

    private func isListed(_ folder: [UInt8], _ count: Int) -> Bool { count >= Self.many && !large.contains(folder) }

    /// Returns the number of a folder's shares that are asked for alone, as far as is known.
    private func countAlone(in folder: [UInt8], of count: Int) -> Int {
        guard isListed(folder, count) else { return count }
        guard case .success(let etags)? = listed[folder] else { return 0 }
        return max(0, count - etags.count)
    }

    private mutating func list(_ folder: [UInt8], _ count: Int, in home: String) throws(PluginError) {
        do throws(PluginError) {
            let path = String(decoding: folder, as: UTF8.self)
            let target = Self.target(of: path, in: home)
            let isRoot = target.utf8.last == UInt8(ascii: "/")
            var answer = try dav.propfind(isRoot ? target : target + "/", depth: 1, [Self.etag])
            var etags: [[UInt8]: String] = [:]
            var entries = 0
            var wanted: [[UInt8]: [UInt8]] = [:]
            var cursor = try records.all(in: "shares", .value)
            while let record = try cursor.next() {
                guard let path = try Share(record).path else { continue }
                wanted[Array(Self.target(of: path, in: home).utf8)] = Array(path.utf8)
            }
            while let response = try answer.next() {
                entries += 1
                var href = response.href.utf8[...]
                if href.last == UInt8(ascii: "/") { href.removeLast() }
                guard response.status == 200, let path = wanted[Array(href)], let etag = response.values[0] else {
                    continue
                }
                etags[path] = etag
            }
            guard answer.status == 207 else {
                throw PluginError(.io, "the server answered \(answer.status) for the folder of shared items \(path)")
            }
            if entries / count > Self.largest { large.insert(folder) }
            listed[folder] = .success(etags)
        } catch {
            if error.status == .cancelled { throw error }
            listed[folder] = .failure(error)
        }
    }

    /// Asks for a share's root alone.
    private func ask(_ path: String, in home: String) throws(PluginError) -> State {
        var answer = try dav.propfind(Self.target(of: path, in: home), depth: 0, [Self.etag])
        if answer.status == 404 { return .absent }
        guard answer.status == 207 else {
            throw PluginError(.io, "the server answered \(answer.status) for the shared item \(path)")
        }
        guard let root = try answer.next() else {
            throw PluginError(.io, "the server's answer for the shared item \(path) is empty")
        }
        if root.status == 404 { return .absent }
        guard let etag = root.values[0] else {
            throw PluginError(.io, "the server returned no ETag for the shared \(path)")
        }
        return .etag(etag)
    }

    private static let etag = "{DAV:}getetag"

    private static func target(of path: String, in home: String) -> String {
        home
            + path.utf8.split(separator: UInt8(ascii: "/")).map { EventFeed.escaped(String(Substring($0))) }
            .joined(separator: "/")
    }

    /// Returns the path of the folder of an item, without a closing slash.
    private static func folder(of path: String) -> [UInt8] {
        Array(path.utf8[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex)])
    }
}
