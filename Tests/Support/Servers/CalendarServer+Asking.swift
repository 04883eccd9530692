extension CalendarServer {
    /// Makes a calendar (RFC 4791, section 5.3.1).
    /// - Parameter name: the last part of the calendar's path, in letters and digits.
    public func makeCalendar(_ name: String, displayName: String? = nil) async throws -> Calendar {
        let calendar = Calendar(path: "\(home)\(name)/")
        try await ask(
            "MKCALENDAR", calendar.path,
            xml: """
                <?xml version="1.0" encoding="utf-8"?>
                <C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>\
                <D:displayname>\(escaped(displayName ?? name))</D:displayname></D:prop></D:set></C:mkcalendar>
                """)
        return calendar
    }

    /// Makes an address book (RFC 6352, section 6.3.1).
    /// - Parameter name: the last part of the address book's path, in letters and digits.
    public func makeAddressBook(_ name: String, displayName: String? = nil) async throws -> Calendar {
        let book = Calendar(path: "\(addressBookHome)\(name)/")
        try await ask(
            "MKCOL", book.path,
            xml: """
                <?xml version="1.0" encoding="utf-8"?>
                <D:mkcol xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><D:set><D:prop>\
                <D:resourcetype><D:collection/><C:addressbook/></D:resourcetype>\
                <D:displayname>\(escaped(displayName ?? name))</D:displayname></D:prop></D:set></D:mkcol>
                """)
        return book
    }

    /// Sets a calendar's display name.
    public func rename(_ calendar: Calendar, to name: String) async throws {
        try await ask(
            "PROPPATCH", calendar.path,
            xml: """
                <?xml version="1.0" encoding="utf-8"?>
                <D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>\
                <D:displayname>\(escaped(name))</D:displayname></D:prop>\
                </D:set></D:propertyupdate>
                """)
    }

    /// Removes a calendar or an address book with its objects.
    public func remove(_ calendar: Calendar) async throws { try await ask("DELETE", calendar.path) }

    /// Writes objects by their names, such as `a.ics` or `a.vcf`, over one connection.
    public func put(_ objects: [String: String], into calendar: Calendar) async throws {
        try await withTemporaryFolder { scratch in
            var lines: [String] = []
            for (index, (name, text)) in objects.sorted(by: { $0.key < $1.key }).enumerated() {
                // Lines end with CRLF (RFC 5545, section 3.1; RFC 6350, section 3.2).
                let body = text.split(separator: "\n").map { "\($0.last == "\r" ? $0.dropLast() : $0)\r\n" }.joined()
                try Files.write(body, to: "\(scratch)/\(index)")
                if index > 0 { lines.append("next") }
                lines +=
                    common() + [
                        "url = \"\(address(calendar.path + name))\"", "upload-file = \"\(scratch)/\(index)\"",
                        "header = \"Content-Type: text/\(name.hasSuffix(".vcf") ? "vcard" : "calendar"); charset=utf-8\"",
                    ]
            }
            try await ask(lines, in: scratch)
        }
    }

    /// Writes one object by its name.
    public func put(_ name: String, _ text: String, into calendar: Calendar) async throws {
        try await put([name: text], into: calendar)
    }

    /// Removes one object by its name.
    public func remove(_ name: String, from calendar: Calendar) async throws {
        try await ask("DELETE", calendar.path + name)
    }

    /// Returns the contents that the server gives for objects, by their names, over one connection.
    public func contents(of names: [String], in calendar: Calendar) async throws -> [String: [UInt8]] {
        guard !names.isEmpty else { return [:] }
        return try await withTemporaryFolder { scratch in
            var lines: [String] = []
            for (index, name) in names.enumerated() {
                if index > 0 { lines.append("next") }
                lines += common(output: "\(scratch)/\(index)") + ["url = \"\(address(calendar.path + name))\""]
            }
            try await ask(lines, in: scratch)
            var contents: [String: [UInt8]] = [:]
            for (index, name) in names.enumerated() { contents[name] = try Files.read("\(scratch)/\(index)") }
            return contents
        }
    }

    /// Returns the requests that the server has logged so far, oldest first. Bytes and ranges are missing, since these
    /// servers do not log them.
    public func requests() async throws -> [LoggedRequest] {
        let log = try await settledLog("\(run)/server.log")
        return log.split(separator: "\n").compactMap {
            program == .radicale ? LoggedRequest(radicale: $0) : LoggedRequest(combined: $0)
        }
    }

    private func ask(_ method: String, _ path: String, xml: String? = nil) async throws {
        try await withTemporaryFolder { scratch in
            var lines = common() + ["url = \"\(address(path))\"", "request = \"\(method)\""]
            if let xml {
                try Files.write(xml, to: "\(scratch)/body")
                lines += [
                    "data-binary = \"@\(scratch)/body\"", "header = \"Content-Type: application/xml; charset=utf-8\"",
                ]
            }
            try await ask(lines, in: scratch)
        }
    }

    /// Runs curl with its options in a file: a password must not appear in the program's arguments.
    private func ask(_ lines: [String], in scratch: String) async throws {
        try Files.write(lines.joined(separator: "\n") + "\n", to: "\(scratch)/curl", mode: 0o600)
        // One call may write a thousand objects.
        try await mustRun("curl", ["--fail-early", "-K", "\(scratch)/curl"], timeout: .seconds(600))
    }

    private func common(output: String = "/dev/null") -> [String] {
        ["silent", "show-error", "fail", "user = \"\(user.name):\(user.password)\"", "header = \"Expect:\""]
            + ["output = \"\(output)\""]
    }

    private func address(_ path: String) -> String { url + path.dropFirst() }
}

/// Returns a text escaped as an XML element's content.
private func escaped(_ text: String) -> String {
    text.map { character in
        switch character {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        default: String(character)
        }
    }.joined()
}
