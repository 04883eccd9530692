extension Host {
    /// The time; nil if withheld.
    public var clock: Clock? { table(.clock, as: larder_clock.self).map { Clock(host: pointer, table: $0) } }

    /// The host's clock.
    public struct Clock {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_clock>

        /// Nanoseconds since 1970 UTC. It may jump.
        /// - Throws: ``Status/wrongThread`` on another thread than that of the call under way.
        public func now() throws(PluginError) -> Int64 {
            var time: Int64 = 0
            try Status.check(table.pointee.now(host, &time), "clock")
            return time
        }

        /// Nanoseconds since some moment before the host started. It never goes back.
        /// - Throws: ``Status/wrongThread`` on another thread than that of the call under way.
        public func monotonic() throws(PluginError) -> Int64 {
            var time: Int64 = 0
            try Status.check(table.pointee.monotonic(host, &time), "clock")
            return time
        }
    }
}
