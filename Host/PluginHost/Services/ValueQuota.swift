import CLarder
import Model

/// The room that a plugin's values take, as the calls of a run or turn leave it.
struct ValueRoom {
    /// The bytes that the values take after the calls that succeeded.
    private var kept: Int64
    /// The bytes by which the call under way changes that.
    private var growth: Int64 = 0
    /// The sizes of the values that earlier calls of the turn wrote, with their keys; 0 for those that were removed.
    fileprivate let earlier: [[UInt8]: Int64]

    fileprivate init(kept: Int64, earlier: [[UInt8]: Int64]) { (self.kept, self.earlier) = (kept, earlier) }

    /// The bytes that the values take.
    var taken: Int64 { kept + growth }

    fileprivate mutating func grow(by bytes: Int64) { growth += bytes }

    /// Notes the end of the call under way, whose changes are kept if it succeeded.
    mutating func endCall(succeeded: Bool) {
        if succeeded { kept += growth }
        growth = 0
    }
}

/// The check that a plugin's values stay within their quota.
extension InstanceContext {
    /// Checks that there is room for a change of a value.
    ///
    /// The room that is known to be taken is an upper bound: a value that takes the place of another one counts twice.
    /// When the bound leaves no room, the values are measured, once in a run or turn. From then on each change is
    /// counted, and only the value that it replaces is measured, because the database reads whole values to find one.
    /// Values that take more than the quota already may be replaced by such as are no larger.
    /// - Parameter value: The new value; nil to remove it.
    /// - Throws: `LARDER_LIMIT` if there is none; `LARDER_IO` if the stored values cannot be measured.
    func checkQuota(_ value: [UInt8]?, for key: [UInt8]) throws(ServiceError) {
        let size = Self.size(of: value, key)
        if valueRoom == nil {
            guard value != nil else { return }
            if let valueBound, valueBound + size <= valueQuota {
                self.valueBound = valueBound + size
                return
            }
            let room = try measuredRoom()
            if valueBound == nil, room.taken + size <= valueQuota {
                valueBound = room.taken + size
                return
            }
            // What the values will take is known when the run or turn has ended.
            (valueRoom, valueBound) = (room, nil)
        }
        guard let room = valueRoom else { return }
        let known =
            if let changed = callValues[key] { Self.size(of: changed, key) } else {
                try sizeBeforeCall(of: key, in: room)
            }
        let taken = room.taken + size - known
        guard size <= known || taken <= valueQuota else {
            throw ServiceError(
                LARDER_LIMIT, "its values would take \(taken) bytes, but `value-quota` is \(valueQuota)")
        }
        valueRoom?.grow(by: size - known)
    }

    /// Measures what the values take, as the run or turn will leave them.
    private func measuredRoom() throws(ServiceError) -> ValueRoom {
        var earlier: [[UInt8]: Int64] = [:]
        for case .value(let key, let value) in turn?.asked ?? [] { earlier[key] = Self.size(of: value, key) }
        var kept = try storedValueSize(of: nil)
        for (key, value) in runValues { kept += Self.size(of: value, key) - (try storedValueSize(of: key)) }
        for (key, size) in earlier { kept += size - (try storedValueSize(of: key)) }
        var room = ValueRoom(kept: kept, earlier: earlier)
        for (key, value) in callValues {
            room.grow(by: Self.size(of: value, key) - (try sizeBeforeCall(of: key, in: room)))
        }
        return room
    }

    /// Returns the bytes that a value took before the call under way, with its key; 0 if there was none.
    private func sizeBeforeCall(of key: [UInt8], in room: ValueRoom) throws(ServiceError) -> Int64 {
        if let changed = runValues[key] { return Self.size(of: changed, key) }
        if let changed = room.earlier[key] { return changed }
        return try storedValueSize(of: key)
    }

    private static func size(of value: [UInt8]?, _ key: [UInt8]) -> Int64 {
        value.map { Int64(key.count + $0.count) } ?? 0
    }

    private func storedValueSize(of key: [UInt8]?) throws(ServiceError) -> Int64 {
        if let turn { try turn.valueSize(of: key) } else { try activeRun().valueSize(of: key) }
    }
}
