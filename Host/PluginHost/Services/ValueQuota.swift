import CLarder
import Model

/// The check that a plugin's values stay within their quota.
extension InstanceContext {
    /// Checks that there is room for a value.
    ///
    /// The room that is known to be taken is an upper bound: a value that takes the place of another one counts twice.
    /// Only when the bound leaves no room, the values are measured.
    /// - Throws: `LARDER_LIMIT` if there is none; `LARDER_IO` if the stored values cannot be measured.
    func checkQuota(_ value: [UInt8], for key: [UInt8]) throws(ServiceError) {
        let growth = Int64(key.count + value.count)
        if isFull {
            // What is measured at each further value would be the same.
            let size: Int64
            if let changed = callValues[key] ?? runValues[key] {
                size = changed.map { Int64(key.count + $0.count) } ?? 0
            } else {
                size = try storedValueSize(of: key)
            }
            guard growth <= size else { throw lackOfRoom(growth) }
            return
        }
        if let bound = valueBound, bound + growth <= valueQuota {
            valueBound = bound + growth
            return
        }
        let taken = try takenByValues(besides: key)
        guard taken + growth <= valueQuota else {
            isFull = true
            throw lackOfRoom(growth)
        }
        valueBound = taken + growth
    }

    private func lackOfRoom(_ growth: Int64) -> ServiceError {
        ServiceError(
            LARDER_LIMIT,
            "its values would take \(growth) bytes more than there is room for: `value-quota` is \(valueQuota)")
    }

    /// Returns the bytes that the values take, as the run or turn will leave them, without the value of a key.
    private func takenByValues(besides key: [UInt8]) throws(ServiceError) -> Int64 {
        var taken = try storedValueSize(of: nil)
        var changed = runValues.merging(callValues) { _, new in new }
        changed[key] = .some(nil)
        for (key, value) in changed {
            taken += value.map { Int64(key.count + $0.count) } ?? 0
            taken -= try storedValueSize(of: key)
        }
        return taken
    }

    private func storedValueSize(of key: [UInt8]?) throws(ServiceError) -> Int64 {
        if let turn { try turn.valueSize(of: key) } else { try activeRun().valueSize(of: key) }
    }
}
