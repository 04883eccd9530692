import CLarder
import Database
import Model
import PluginHost

/// The reads of a plugin's calls during a run.
extension ProcessorRun {
    func items(_ query: PluginQuery) throws(ServiceError) -> any ItemSource {
        let parsed: ParsedCondition
        do throws(ConditionError) { parsed = try processor.parse(query.condition) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "the condition: \(error)")
        }
        do throws(Failure) {
            let order = CursorSource.column(of: query.sort).map {
                ItemSelection.Order.column($0, isDescending: query.isDescending)
            }
            return try open(
                try parsed.matcher(facts), fields: query.fields, in: nil, order: order ?? .any, limit: query.limit)
        } catch {
            throw ServiceError(LARDER_IO, error.message)
        }
    }

    func usage() throws(ServiceError) -> PluginUsage {
        do throws(Failure) {
            guard let session else { throw Failure(.internal, "A run has ended") }
            let here = try policiesOwner.localUsage(in: session)
            // A copy whose removal is requested counts as gone, whoever requested it and in whichever process.
            let going = try session.goingUsage()
            let room = try FileSystemSpace(ofFolder: policiesOwner.files)
            return PluginUsage(
                localBytes: here.localBytes - going.localBytes, localCopies: here.localCopies - going.localCopies,
                freeBytes: min(room.free &+ going.localBytes, room.total), totalBytes: room.total)
        } catch {
            throw ServiceError(LARDER_IO, error.message)
        }
    }

    func hasItem(_ localID: LocalID) throws(ServiceError) -> Bool {
        if current?.isAt(localID) == true { return true }
        do throws(Failure) {
            guard let session else { return false }
            return try session.items([], localID: localID).next()
        } catch {
            throw ServiceError(LARDER_IO, error.message)
        }
    }

    func check(condition: String) throws(ServiceError) {
        do throws(ConditionError) { _ = try Condition(parsing: condition) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "the condition: \(error)")
        }
    }

    func record(
        _ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields
    ) throws(ServiceError) -> Record? {
        try reading { session throws(Failure) in try session.record(key, in: collection, fields) }
    }

    func records(
        in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields
    ) throws(ServiceError) -> any RecordSource {
        SessionRecords(
            try reading { session throws(Failure) in try session.records(in: collection, after: key, fields) })
    }

    private func reading<Value>(_ body: (ReadSession) throws(Failure) -> Value) throws(ServiceError) -> Value {
        do throws(Failure) {
            guard let session else { throw Failure(.internal, "A run has ended") }
            return try body(session)
        } catch {
            throw ServiceError(LARDER_IO, error.message)
        }
    }

    func value(for key: [UInt8]) throws(ServiceError) -> [UInt8]? {
        do { return try policiesOwner.database.readBlocking { try $0.plugins.value(of: calls.plugin, key: key) } } catch
        {
            throw ServiceError(LARDER_IO, "\(error)")
        }
    }

    func valueSize(of key: [UInt8]?) throws(ServiceError) -> Int64 {
        do {
            return try policiesOwner.database.readBlocking { try $0.plugins.valueSize(of: calls.plugin, key: key) }
        } catch {
            throw ServiceError(LARDER_IO, "\(error)")
        }
    }

    /// Returns the path of an item; nil if it cannot be found out.
    func path(of item: LocalID) -> ItemPath? {
        if let current, current.isAt(item) { return ItemPath(unchecked: current.path) }
        do throws(Failure) {
            let cursor = try session?.items(CursorSource.columns(for: 0), localID: item)
            guard let cursor, try cursor.next(), let bytes = cursor.text(.path) else { return nil }
            return ItemPath(unchecked: String(decoding: bytes, as: UTF8.self))
        } catch {
            calls.logError("The path of the item \(item) cannot be read: \(error.message)")
            return nil
        }
    }
}

/// The records of a collection in the state that a run sees.
private final class SessionRecords: RecordSource {
    private let cursor: RecordCursor

    init(_ cursor: RecordCursor) { self.cursor = cursor }

    func next() throws(ServiceError) -> Record? {
        do throws(Failure) { return try cursor.next() } catch { throw ServiceError(LARDER_IO, error.message) }
    }
}
