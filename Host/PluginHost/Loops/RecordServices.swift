import CLarder
import Model

/// `larder.records/1`
let recordsTable = larder_records(
    struct_size: size(of: larder_records.self), reserved: 0,
    get: { host, collection, key, parts, out in
        serve(host, "records.get", during: .work) { context throws(ServiceError) in
            let view = try FilledStruct(out)
            let fields = try RecordFields(parts: parts)
            let collection = RecordCollection(try collection.required("the collection"))
            let key = RecordKey(try key.required("the key"))
            let found =
                if let asked = context.turnRecord(key, in: collection) { asked } else {
                    try context.storedRecords().record(key, in: collection, fields)
                }
            guard let found else { throw ServiceError(LARDER_NOT_FOUND, "no such record") }
            view.fill(with: context.lent.view(found, fields))
        }
    },
    open: { host, collection, after, parts, out in
        serve(host, "records.open", during: .work) { context throws(ServiceError) in
            let fields = try RecordFields(parts: parts)
            let collection = RecordCollection(try collection.required("the collection"))
            let after = try after.optional("the key").map { RecordKey($0) }
            let stored = try context.storedRecords()
            let slot = try context.slot(of: RecordCursorKind.self)
            out.pointee = slot.open((try stored.records(in: collection, after: after, fields), fields))
        }
    },
    close: { host, cursor in
        serve(host, "records.close", during: .work) { context throws(ServiceError) in
            try context.close(cursor)
        }
    },
    put: { host, collection, record in
        serve(host, "records.put", during: .workWriting) { context throws(ServiceError) in
            let given: larder_record
            do throws(Refusal) { given = try larder_record.copy(record) } catch {
                throw ServiceError(LARDER_INVALID_ARGUMENT, error.reason)
            }
            let (collection, key) = try context.writable(collection, given.key)
            let value = try given.value.optional("the value") ?? ""
            guard value.utf8.count <= RecordChange.largestValue else {
                throw ServiceError(LARDER_LIMIT, "a value above 1 MiB")
            }
            try checkObject(value, of: key)
            // The length is checked before the content is copied, because it may be long.
            guard given.content.len <= UInt64(RecordChange.largestTurn) else {
                throw ServiceError(LARDER_LIMIT, "a content above 16 MiB")
            }
            let record = Record(
                key: key, version: try given.version.optional("the version") ?? "", value: value,
                content: given.content.copied)
            try context.checkRecordQuota(.put(record, in: collection))
            try context.ask(.record(.put(record, in: collection)))
            context.callRecords[collection, default: [:]][key] = context.loopAsked.count - 1
        }
    },
    remove: { host, collection, key in
        serve(host, "records.remove", during: .workWriting) { context throws(ServiceError) in
            let (collection, key) = try context.writable(collection, key)
            try context.checkRecordQuota(.remove(key, from: collection))
            try context.ask(.record(.remove(key, from: collection)))
            context.callRecords[collection, default: [:]][key] = context.loopAsked.count - 1
        }
    })

/// Checks that a value is empty or a JSON object.
private func checkObject(_ value: String, of key: RecordKey) throws(ServiceError) {
    guard !value.isEmpty else { return }
    do throws(JSONValue.ParsingError) {
        if case .object = try JSONValue(parsing: value) { return }
    } catch {
        throw ServiceError(LARDER_INVALID_ARGUMENT, "the value of \(key): \(error.message) at byte \(error.offset)")
    }
    throw ServiceError(LARDER_INVALID_ARGUMENT, "the value of \(key) is not a JSON object")
}

extension InstanceContext {
    func activeTurn() throws(ServiceError) -> any LoopTurn {
        guard let turn else { throw ServiceError(LARDER_WRONG_STATE, "no turn of a loop is under way") }
        return turn
    }

    /// Returns the records that the call under way may read.
    fileprivate func storedRecords() throws(ServiceError) -> any PluginRecords {
        if let turn { return turn }
        guard let run else { throw ServiceError(LARDER_WRONG_STATE, "no run and no turn of a loop is under way") }
        return run
    }

    fileprivate func writable(
        _ collection: larder_str, _ key: larder_str
    ) throws(ServiceError) -> (RecordCollection, RecordKey) {
        guard phase != .processor else {
            throw ServiceError(LARDER_DENIED, "a processor reads records, and only event loops change them")
        }
        let collection = RecordCollection(try collection.required("the collection"))
        guard !collection.text.isEmpty else { throw ServiceError(LARDER_INVALID_ARGUMENT, "an empty collection") }
        guard key.len > 0 else { throw ServiceError(LARDER_INVALID_ARGUMENT, "an empty key") }
        guard key.len <= UInt64(RecordChange.longestKey) else { throw ServiceError(LARDER_LIMIT, "a key above 4 KiB") }
        let key = RecordKey(try key.required("the key"))
        guard try activeTurn().mayWrite(key, in: collection) else {
            throw ServiceError(LARDER_DENIED, "the collection \(collection) does not belong to this loop")
        }
        return (collection, key)
    }

    /// Records a request of a loop.
    func ask(_ asked: LoopAsk) throws(ServiceError) {
        let size =
            switch asked {
            case .record(let change): change.size
            case .value(let key, let value): key.count + (value?.count ?? 0)
            case .requestListing(let path): path.text.utf8.count
            }
        guard turnSize + size <= RecordChange.largestTurn else {
            throw ServiceError(LARDER_LIMIT, "the turn asks for more than 16 MiB; hand out several pages")
        }
        turnSize += size
        loopAsked.append(asked)
    }

    /// Returns the record as this call has changed it so far; nil if it has not. The inner value is nil if the record
    /// is removed.
    fileprivate func turnRecord(_ key: RecordKey, in collection: RecordCollection) -> Record?? {
        guard let index = callRecords[collection]?[key], case .record(let change) = loopAsked[index] else { return nil }
        guard case .put(let record, _) = change else { return .some(nil) }
        return record
    }
}

extension RecordFields {
    fileprivate init(parts: UInt32) throws(ServiceError) {
        let known: UInt32 = LARDER_RECORD_VERSION | LARDER_RECORD_VALUE | LARDER_RECORD_CONTENT
        try check(flags: parts, known: known)
        self.init(rawValue: parts)
    }
}

extension larder_record: SizedTable {
    static var tableName: String { "record" }
    static var firstSize: Int { 72 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension LentMemory {
    /// Lends a record to a plugin, with the fields that it requested.
    func view(_ record: Record, _ fields: RecordFields) -> larder_record {
        var view = larder_record()
        view.struct_size = size(of: larder_record.self)
        view.key = lend(record.key.text)
        if fields.contains(.version) { view.version = lend(record.version) }
        if fields.contains(.value) { view.value = lend(record.value) }
        if fields.contains(.content), let content = record.content { view.content = lend(content) }
        return view
    }
}
