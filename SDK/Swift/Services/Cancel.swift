extension Host {
    /// Whether the current call should end. Nil if the service is withheld.
    public var cancel: Cancel? { table(.cancel, as: larder_cancel.self).map { Cancel(host: pointer, table: $0) } }

    /// The end of the current call: whether the host asks for it, and when the host gives the call up.
    ///
    /// ```swift
    /// for _ in 0..<1000 {
    ///     try host.cancel?.check()
    /// }
    /// ```
    public struct Cancel {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_cancel>

        /// Checks whether the call may go on. It is cheap enough for an inner loop.
        /// - Throws: ``Status/cancelled`` if the call should end.
        public func check() throws(PluginError) { try Status.check(table.pointee.check(host), "cancel") }

        /// Returns the time at which the host gives the call up, in nanoseconds on the clock of ``Clock/monotonic()``.
        /// `Int64.max`: never.
        /// - Throws: ``Status/wrongThread`` on another thread than that of the current call.
        public func deadline() throws(PluginError) -> Int64 {
            var time: Int64 = 0
            try Status.check(table.pointee.deadline(host, &time), "cancel")
            return time
        }
    }
}
