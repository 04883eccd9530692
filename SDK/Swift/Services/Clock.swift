extension Host {
    /// The time. Nil if the service is withheld.
    public var clock: Clock? { table(.clock, as: larder_clock.self).map { Clock(host: pointer, table: $0) } }

    /// The host's clock. Use no other, so that tests can set it.
    ///
    /// ```swift
    /// let clock = try host.require(host.clock, .clock)
    /// let weekAgo = try clock.now().subtractingSaturated(7 * 86_400_000_000_000)
    /// ```
    public struct Clock {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_clock>

        /// Returns the time of day in nanoseconds since 1970 UTC. It may jump.
        /// - Throws: ``Status/wrongThread`` on another thread than that of the current call.
        public func now() throws(PluginError) -> Int64 {
            var time: Int64 = 0
            try Status.check(table.pointee.now(host, &time), "clock")
            return time
        }

        /// Returns the nanoseconds since an unspecified moment before the host started. It never goes back.
        /// - Throws: ``Status/wrongThread`` on another thread than that of the current call.
        public func monotonic() throws(PluginError) -> Int64 {
            var time: Int64 = 0
            try Status.check(table.pointee.monotonic(host, &time), "clock")
            return time
        }
    }
}
