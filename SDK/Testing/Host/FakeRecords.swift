import Model
import PluginHost

/// The records on the stage.
struct FakeRecordStore {
    private var records: [RecordCollection: [RecordKey: Record]] = [:]
    /// The records of collections in the order of their keys, as far as they were asked for and did not change since.
    private var sorted: [RecordCollection: [Record]] = [:]

    subscript(key: RecordKey, collection: RecordCollection) -> Record? { records[collection]?[key] }

    /// The records of a collection, in the order of their keys.
    mutating func all(in collection: RecordCollection) -> [Record] {
        if let known = sorted[collection] { return known }
        let all = (records[collection] ?? [:]).values.sorted { $0.key < $1.key }
        sorted[collection] = all
        return all
    }

    /// The size in bytes of all records.
    var size: Int64 { records.values.reduce(0) { $1.values.reduce($0) { $0 + $1.size } } }

    mutating func put(_ record: Record, in collection: RecordCollection) {
        records[collection, default: [:]][record.key] = record
        sorted[collection] = nil
    }

    /// Removes a record.
    /// - Returns: Whether there was one.
    mutating func remove(_ key: RecordKey, from collection: RecordCollection) -> Bool {
        sorted[collection] = nil
        return records[collection]?.removeValue(forKey: key) != nil
    }

    mutating func removeAll(in collection: RecordCollection) { (records[collection], sorted[collection]) = (nil, nil) }
}

extension FakeHost {
    /// Removes a record and everything that belongs to it: its collection, and the loop that it means, with the event id
    /// and the own records of that loop.
    func removeRecord(_ key: RecordKey, from collection: RecordCollection, loops: LoopOffer?) {
        guard records.remove(key, from: collection), collection.isRoot else { return }
        records.removeAll(in: collection.of(key))
        guard loops?.collection == collection else { return }
        records.removeAll(in: RecordCollection(plugin.text).of(key))
        eventIDs[key.text] = nil
    }

    func record(_ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields) -> Record? {
        records[key, collection]?.with(fields)
    }

    func records(in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields) -> FakeRecords {
        let all = records.all(in: collection)
        // The first record behind the key, by halving.
        var (low, high) = (0, all.count)
        while let key, low < high {
            let middle = (low + high) / 2
            if key < all[middle].key { high = middle } else { low = middle + 1 }
        }
        return FakeRecords(all[low...], fields)
    }

    func valueSize(of key: [UInt8]?) -> Int64 {
        if let key { return values[key].map { Int64(key.count + $0.count) } ?? 0 }
        return values.reduce(0) { $0 + Int64($1.key.count + $1.value.count) }
    }
}

/// The records of a collection, as they were when the stream was opened.
final class FakeRecords: RecordSource {
    private var left: ArraySlice<Record>
    private let fields: RecordFields

    init(_ records: ArraySlice<Record>, _ fields: RecordFields) { (left, self.fields) = (records, fields) }

    func next() -> Record? { left.popFirst()?.with(fields) }
}

extension Record {
    /// The record with some of its parts.
    fileprivate func with(_ fields: RecordFields) -> Record {
        Record(
            key: key, version: fields.contains(.version) ? version : "", value: fields.contains(.value) ? value : "",
            content: fields.contains(.content) ? content : nil)
    }
}
