extension Host {
    /// How much room the local copies take, and how much there is; nil if withheld.
    public var usage: Usage? { table(.usage, as: larder_usage.self).map { Usage(host: pointer, table: $0) } }

    /// The room that the local copies take, and that of their file system.
    public struct Usage {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_usage>

        /// Sizes and counts at one moment.
        public struct Figures: Hashable, Sendable {
            /// What the local copies hold, in bytes, those with changes included, at the start of the run.
            public var localBytes: Int64
            /// How many these are.
            public var localCopies: Int64
            /// What may still be written to their file system, in bytes.
            public var freeBytes: Int64
            /// How large their file system is, in bytes.
            public var totalBytes: Int64
        }

        /// Reads the figures. What the run asked for is not in them yet.
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
