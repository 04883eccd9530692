import LarderSDK

/// What a source came to.
enum Outcome {
    /// All that there is.
    case found(Found)
    /// The server does not have this.
    case notOffered
    /// Whether the server has this does not show for now.
    case unknown
    case failed(PluginError)
}

/// What a collection is to hold.
struct Found {
    var collection: String
    var records: [Record]
    /// Whether what is not among `records` goes.
    var isAll: Bool
    /// Keys of which nothing is known, whose records stay as they are.
    var unknown: Set<[UInt8]> = []
}

/// What differs from the records.
struct Changes {
    private var put: [(record: Record, collection: String)] = []
    private var gone: [(key: String, collection: String)] = []

    var isEmpty: Bool { put.isEmpty && gone.isEmpty }

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

    /// What was found, if there is such a thing. What could not be listed fails.
    mutating func add(_ outcome: Outcome, _ records: Host.Records) throws(PluginError) {
        switch outcome {
        case .found(let found): try add(found, records)
        case .notOffered, .unknown: break
        case .failed(let error): throw error
        }
    }

    /// What comes and changes, if something else goes: that has a turn of its own then.
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
    /// Whether a day has gone by since then, in nanoseconds, or the clock was set back, or it never was.
    func isDayBefore(_ now: Int64) -> Bool {
        guard let self else { return true }
        return now < self || now.subtractingSaturated(self) >= 86_400_000_000_000
    }
}

extension String {
    /// A text that a record has room for.
    var clipped: String {
        guard utf8.count > 4096 else { return self }
        var end = utf8.index(startIndex, offsetBy: 4096)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
