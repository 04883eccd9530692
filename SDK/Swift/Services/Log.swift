extension Host {
    /// Lines in the host's log. Nil if the service is withheld.
    public var log: Log? { table(.log, as: larder_log.self).map { Log(host: pointer, table: $0) } }

    /// Lines in the host's log. The host adds the plugin's and the account's name to each line.
    ///
    /// ```swift
    /// host.log?.info("archived 12 files")
    /// ```
    public struct Log {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_log>

        fileprivate func write(_ level: UInt32, _ message: String) {
            var loan = Loan()
            // A lost line does not fail the call.
            _ = table.pointee.write(host, level, loan.text(message))
        }

        /// Writes the reason of a decision.
        public func debug(_ message: String) { write(LARDER_LOG_DEBUG, message) }
        /// Writes an event.
        public func info(_ message: String) { write(LARDER_LOG_INFO, message) }
        /// Writes a fact that the operator may want to know.
        public func warning(_ message: String) { write(LARDER_LOG_WARNING, message) }
        /// Writes a problem that the operator must act on.
        public func error(_ message: String) { write(LARDER_LOG_ERROR, message) }
    }
}
