extension Host {
    /// The addresses of the account's calendars, address books and files. Nil if the service is withheld.
    public var discover: Discover? {
        table(.discover, as: larder_discover.self).map { Discover(host: pointer, table: $0) }
    }

    /// The account's homes on the server.
    ///
    /// ```swift
    /// let discover = try host.require(host.discover, .discover)
    /// for home in try discover.calendarHomes().homes { host.log?.debug("calendars are in \(home)") }
    /// ```
    public struct Discover {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_discover>

        /// The homes of a service.
        public struct Homes: Hashable, Sendable {
            /// The account's principal: a percent-encoded path from the origin's root. Empty if the server names none.
            public var principal: String
            /// One or more percent-encoded paths from the origin's root.
            public var homes: [String]
        }

        /// Returns the home of the account's files: a percent-encoded path from the origin's root with a closing slash.
        /// - Throws: ``Status/unsupported`` if the server keeps no files.
        public func filesHome() throws(PluginError) -> String {
            let homes = try homes("files", orElse: "the server keeps no files").homes
            guard let home = homes.first else { throw PluginError(.internal, "the host returned no home of the files") }
            return home
        }

        /// Returns the account's calendar homes. The host asks the server, and keeps the answer for a day at most.
        /// - Throws: ``Status/unsupported`` if the server does not offer CalDAV, ``Status/notFound`` if the host found
        ///   none and a place that might know one cannot be asked now, so that it is worth asking later, ``Status/io``
        ///   if the server does not answer, and ``Status/cancelled`` if the call should end.
        public func calendarHomes() throws(PluginError) -> Homes {
            try homes("caldav", orElse: "the server offers no CalDAV")
        }

        /// Returns the account's address book homes. It needs a host of ABI 1.5.
        /// - Throws: As ``calendarHomes()``, for CardDAV, and ``Status/invalidArgument`` on a host before 1.5.
        public func addressBookHomes() throws(PluginError) -> Homes {
            try homes("carddav", orElse: "the server offers no CardDAV")
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
