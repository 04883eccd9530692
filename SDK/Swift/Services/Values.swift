extension Host {
    /// A small store of the plugin's own. Nil if the service is withheld.
    public var values: Values? { table(.values, as: larder_kv.self).map { Values(host: pointer, table: $0) } }

    /// A small store of the plugin's own. The host makes writes when the call returns; reads see them before.
    ///
    /// ```swift
    /// let values = try host.require(host.values, .values)
    /// let runs = (try values.value(of: "runs")?.first ?? 0) &+ 1
    /// try values.set("runs", to: [runs])
    /// ```
    public struct Values {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_kv>

        /// Returns the value of a key, or nil if it has none.
        /// - Throws: ``Status/limit`` if the key is empty or longer than 1 KiB, ``Status/io`` if the store cannot be
        ///   read.
        public func value(of key: String) throws(PluginError) -> [UInt8]? {
            var loan = Loan()
            var value = larder_bytes()
            let status = table.pointee.get(host, loan.bytes(Array(key.utf8)), &value)
            if status == LARDER_NOT_FOUND { return nil }
            try Status.check(status, "kv.get")
            return Array(UnsafeBufferPointer(start: value.ptr, count: Int(value.len)))
        }

        /// Asks for a new value of a key, in place of its old value if it has one.
        /// - Parameters:
        ///   - key: 1 byte to 1 KiB of UTF-8.
        ///   - value: At most 1 MiB.
        /// - Throws: ``Status/limit`` if the key is empty, the key or the value is too long, or a loop's turn asks for
        ///   more than 16 MiB, and ``Status/wrongState`` in a loop's `poll` and `onError`.
        public func set(_ key: String, to value: [UInt8]) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.put(host, loan.bytes(Array(key.utf8)), loan.bytes(value)), "kv.put")
        }

        /// Asks for the removal of a key's value. A key without a value is no error.
        /// - Throws: As ``set(_:to:)``.
        public func remove(_ key: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.remove(host, loan.bytes(Array(key.utf8))), "kv.remove")
        }
    }
}
