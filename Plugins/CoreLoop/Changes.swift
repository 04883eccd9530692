import LarderSDK

/// The result of a source.
enum Outcome {
    /// The source found its records.
    case found(Found)
    /// The server does not offer this.
    case notOffered
    /// It is not known for now whether the server offers this.
    case unknown
    case failed(PluginError)
}

/// The records that a collection must contain.
struct Found {
    var collection: String
    var records: [Record]
    /// Whether a record that is not among `records` must be removed.
    var isAll: Bool
    /// The keys about which nothing is known. Their records stay as they are.
    var unknown: Set<[UInt8]> = []
}

/// The differences from the records.
struct Changes {
    private var put: [(record: Record, collection: String)] = []
    private var gone: [(key: String, collection: String)] = []

    var isEmpty: Bool { put.isEmpty && gone.isEmpty }

    /// Adds the differences between the found records and the known ones.
    mutating func add(_ found: Found, _ records: Host.Records) throws(PluginError) {
        var new: [[UInt8]: Record] = [:]
        for record in found.records { new[Array(record.key.utf8)] = record }
        var known = try records.all(in: found.collection)
        while let record = try known.next() {
            let key = Array(record.key.utf8)
            if let wanted = new.removeValue(forKey: key) {
                if !wanted.isSame(as: record) { put.append((wanted, found.collection)) }
            } else if found.isAll, !found.unknown.contains(key) {
                gone.append((record.key, found.collection))
            }
        }
        for record in found.records where new.removeValue(forKey: Array(record.key.utf8)) != nil {
            put.append((record, found.collection))
        }
    }

    /// Adds the differences of an outcome with records.
    /// - Throws: The error of an outcome that failed.
    mutating func add(_ outcome: Outcome, _ records: Host.Records) throws(PluginError) {
        switch outcome {
        case .found(let found): try add(found, records)
        case .notOffered, .unknown: break
        case .failed(let error): throw error
        }
    }

    /// The additions and changes only, if there are removals too. The removals then have a turn of their own.
    var newsAlone: Changes? {
        guard !put.isEmpty, !gone.isEmpty else { return nil }
        var news = self
        news.gone = []
        return news
    }

    mutating func put(_ record: Record, in collection: String) { put.append((record, collection)) }
    mutating func remove(_ key: String, from collection: String) { gone.append((key, collection)) }

    func apply(to records: Host.Records) throws(PluginError) {
        for (key, collection) in gone { try records.remove(key, from: collection) }
        for (record, collection) in put { try records.put(record, in: collection) }
    }
}

extension Record {
    fileprivate func isSame(as other: Record) -> Bool {
        version.utf8.elementsEqual(other.version.utf8) && value.utf8.elementsEqual(other.value.utf8)
    }
}

extension Digest {
    mutating func add(_ found: Found) {
        add(found.collection)
        for record in found.records.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            for text in [record.key, record.version, record.value] { add(text) }
        }
    }
}

extension Optional where Wrapped == Int64 {
    /// Tells whether a day has passed since this time in nanoseconds, the clock was set back, or there is no time.
    func isDayBefore(_ now: Int64) -> Bool {
        guard let self else { return true }
        return now < self || now.subtractingSaturated(self) >= 86_400_000_000_000
    }
}

extension String {
    /// The text, cut to a length for which a record has room.
    var clipped: String {
        guard utf8.count > 4096 else { return self }
        var end = utf8.index(startIndex, offsetBy: 4096)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
