extension Host {
    /// Where the server keeps what is the account's; nil if withheld.
    public var discover: Discover? {
        table(.discover, as: larder_discover.self).map { Discover(host: pointer, table: $0) }
    }

    /// The account's homes on the server.
    public struct Discover {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_discover>

        /// Where a service keeps what is the account's.
        public struct Homes: Hashable, Sendable {
            /// A path from the origin's root, percent-encoded.
            public var principal: String
            /// One or more.
            public var homes: [String]
        }

        /// Where the account's files are: a path from the origin's root with a closing slash, percent-encoded.
        /// - Throws: ``Status/unsupported`` if the server keeps no files.
        public func filesHome() throws(PluginError) -> String {
            let homes = try homes("files", orElse: "the server keeps no files").homes
            guard let home = homes.first else { throw PluginError(.internal, "the host knows no home of files") }
            return home
        }

        /// The account's calendar homes. Asks the server each time.
        /// - Throws: ``Status/unsupported`` if the server does not offer CalDAV, ``Status/notFound`` if none were found
        ///   and a place that might have told cannot now, so that it is worth asking later, ``Status/io`` if the server
        ///   does not answer, and ``Status/cancelled`` if the call should end.
        public func calendarHomes() throws(PluginError) -> Homes {
            try homes("caldav", orElse: "the server offers no CalDAV")
        }

        private func homes(_ service: String, orElse absence: String) throws(PluginError) -> Homes {
            var loan = Loan()
            var found = larder_discovery()
            found.struct_size = UInt32(MemoryLayout<larder_discovery>.size)
            let status = table.pointee.find(host, loan.text(service), &found)
            if status == LARDER_UNSUPPORTED { throw PluginError(.unsupported, absence) }
            try Status.check(status, "discover.find")
            return Homes(
                principal: found.principal.ptr == nil ? "" : Text(unsafe: found.principal).copied(),
                homes: UnsafeBufferPointer(start: found.homes, count: Int(found.home_count)).map {
                    Text(unsafe: $0).copied()
                })
        }
    }
}
