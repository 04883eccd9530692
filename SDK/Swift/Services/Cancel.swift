extension Host {
    /// Whether the call under way should end; nil if withheld.
    public var cancel: Cancel? { table(.cancel, as: larder_cancel.self).map { Cancel(host: pointer, table: $0) } }

    /// The end of the call under way: whether it is asked for, and when it comes.
    public struct Cancel {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_cancel>

        /// Checks whether the call may go on. Cheap enough for an inner loop.
        /// - Throws: ``Status/cancelled`` when it should end.
        public func check() throws(PluginError) { try Status.check(table.pointee.check(host), "cancel") }

        /// When the host gives the call up, on the clock of ``Clock/monotonic()``; `Int64.max`: never.
        /// - Throws: ``Status/wrongThread`` on another thread than that of the call under way.
        public func deadline() throws(PluginError) -> Int64 {
            var time: Int64 = 0
            try Status.check(table.pointee.deadline(host, &time), "cancel")
            return time
        }
    }
}
