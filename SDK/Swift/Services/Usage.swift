extension Host {
    /// The room that local copies take, and the room that is left. Nil if the service is withheld.
    public var usage: Usage? { table(.usage, as: larder_usage.self).map { Usage(host: pointer, table: $0) } }

    /// The room that the local copies take, and the room on their file system.
    ///
    /// ```swift
    /// let figures = try host.require(host.usage, .usage).figures()
    /// let isNearlyFull = figures.freeBytes < figures.totalBytes / 10
    /// ```
    public struct Usage {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_usage>

        /// Sizes and counts at one moment.
        public struct Figures: Hashable, Sendable {
            /// The total size of the local copies in bytes, including those with local changes, at the start of the
            /// run.
            public var localBytes: Int64
            /// The number of these copies.
            public var localCopies: Int64
            /// The bytes that may still be written to the copies' file system.
            public var freeBytes: Int64
            /// The size of the copies' file system in bytes.
            public var totalBytes: Int64
        }

        /// Returns the figures. They do not include the requests of the run.
        /// - Throws: ``Status/io`` if the folder of the local copies cannot be reached.
        public func figures() throws(PluginError) -> Figures {
            var figures = larder_usage_figures()
            figures.struct_size = UInt32(MemoryLayout<larder_usage_figures>.size)
            try Status.check(table.pointee.read(host, &figures), "usage.read")
            return Figures(
                localBytes: figures.local_bytes, localCopies: figures.local_copies, freeBytes: figures.free_bytes,
                totalBytes: figures.total_bytes)
        }
    }
}
