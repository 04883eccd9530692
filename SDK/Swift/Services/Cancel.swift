extension Host {
    /// Whether the call under way should end; nil if withheld.
    public var cancel: Cancel? { table(.cancel, as: larder_cancel.self).map { Cancel(host: pointer, table: $0) } }

    public struct Cancel {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_cancel>

        /// Throws ``Status/cancelled`` when the call should end. Cheap enough for an inner loop.
        public func check() throws(PluginError) { try Status.check(table.pointee.check(host), "cancel") }

        /// When the host gives the call up, on the clock of ``Clock/monotonic()``; `Int64.max`: never.
        public func deadline() throws(PluginError) -> Int64 {
            var time: Int64 = 0
            try Status.check(table.pointee.deadline(host, &time), "cancel")
            return time
        }
    }
}
