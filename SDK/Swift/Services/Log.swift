extension Host {
    /// Lines in the host's log; nil if withheld.
    public var log: Log? { table(.log, as: larder_log.self).map { Log(host: pointer, table: $0) } }

    /// Lines in the host's log, each with the plugin's and the account's name.
    public struct Log {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_log>

        fileprivate func write(_ level: UInt32, _ message: String) {
            var loan = Loan()
            // A line that is lost is no reason to fail the call.
            _ = table.pointee.write(host, level, loan.text(message))
        }

        /// Why something happened.
        public func debug(_ message: String) { write(LARDER_LOG_DEBUG, message) }
        /// What happened.
        public func info(_ message: String) { write(LARDER_LOG_INFO, message) }
        /// What the operator may want to know.
        public func warning(_ message: String) { write(LARDER_LOG_WARNING, message) }
        /// What the operator must do something about.
        public func error(_ message: String) { write(LARDER_LOG_ERROR, message) }
    }
}
