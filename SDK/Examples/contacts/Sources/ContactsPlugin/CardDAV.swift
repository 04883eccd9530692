import LarderSDK

/// The requests about address books (RFC 6352), and what their answers mean. They go to the account's server, with its
/// credentials, which a plugin never sees.
struct CardDAV {
    let dav: Host.DAV

    /// The contacts of a book, or those that changed.
    struct Listing {
        /// The ETags by path; empty where the server names none.
        var etags: [String: String] = [:]
        /// The contacts that the server says are gone.
        var gone: Set<String> = []
        /// The token for what changes from here on. Nil: the server has none.
        var token: String?
        /// Whether ``etags`` has all contacts of the book, so that any other contact is gone.
        var isWhole = false
    }

    /// Lists the books in a home.
    func books(in home: String) throws(PluginError) -> [Record] {
        var answer = try dav.propfind(home, depth: 1, ["{DAV:}resourcetype", "{DAV:}displayname"])
        var books: [Record] = []
        var hasHome = false
        while let response = try answer.next() {
            // An error is not absence: if anything cannot be told, nothing is known to be gone.
            guard response.status == 200 else { throw failure(response.status, response.href) }
            hasHome = hasHome || response.folder == home
            let types = response.values[0]?.split(separator: "\n") ?? []
            guard types.contains("{urn:ietf:params:xml:ns:carddav}addressbook") else { continue }
            let value = JSON.object(of: ["name": .string(response.values[1] ?? response.folder)])
            books.append(Record(key: response.folder, value: value.text))
        }
        guard answer.status == 207, hasHome, try !answer.end().isTruncated else { throw failure(answer.status, home) }
        return books
    }

    /// Asks for what changed in a book since a token; with an empty token, for everything (RFC 6578).
    /// - Returns: Nil if the server refuses. It does not know the token any more, or it has no such report.
    func changes(in book: String, since token: String) throws(PluginError) -> Listing? {
        var found = Listing(token: token, isWhole: token.isEmpty)
        while let token = found.token {
            let body =
                #"<sync-collection xmlns="DAV:"><sync-token>"# + token.escapedForXML
                + "</sync-token><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>"
            var answer = try dav.report(book, body: body, ["{DAV:}getetag"])
            while let response = try answer.next() { try found.add(response, of: book) }
            let end = try answer.end()
            if [400, 403, 405, 409, 410, 412, 415, 501].contains(answer.status) { return nil }
            guard answer.status == 207, end.syncToken != token || !end.isTruncated else {
                throw failure(answer.status, book)
            }
            found.token = end.syncToken
            // A server may tell many changes in several answers.
            if !end.isTruncated { break }
        }
        return found.token == nil ? nil : found
    }

    /// Lists a book: for servers without sync-collection, and to go on with a listing.
    func listing(of book: String) throws(PluginError) -> Listing {
        var answer = try dav.propfind(book, depth: 1, ["{DAV:}getetag"])
        var found = Listing()
        while let response = try answer.next() {
            try found.add(response, of: book)
            if response.folder == book, response.status == 200 { found.isWhole = true }
        }
        guard answer.status == 207, found.isWhole, try !answer.end().isTruncated else {
            throw failure(answer.status, book)
        }
        return found
    }

    /// Fetches contacts with one request (RFC 6352, section 8.7).
    /// - Returns: The vCards by path, without those of contacts that are gone.
    func vCards(_ paths: [String], in book: String) throws(PluginError) -> [String: String] {
        let body =
            #"<C:addressbook-multiget xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">"#
            + "<prop><C:address-data/></prop>" + paths.map { "<href>\($0.escapedForXML)</href>" }.joined()
            + "</C:addressbook-multiget>"
        var answer = try dav.report(book, body: body, ["{urn:ietf:params:xml:ns:carddav}address-data"])
        var vCards: [String: String] = [:]
        var missing = Set(paths)
        while let response = try answer.next() {
            if let vCard = response.values[0] {
                vCards[response.href] = vCard
            } else if response.status != 404, response.status != 410 {
                continue
            }
            missing.remove(response.href)
        }
        guard answer.status == 207 else { throw failure(answer.status, book) }
        if let path = missing.min() { throw PluginError(.io, "the server does not give the contact \(path)") }
        return vCards
    }

    private func failure(_ status: Int, _ path: String) -> PluginError {
        PluginError(
            .io, status == 207 ? "the answer about \(path) is not whole" : "the server answered \(status) for \(path)")
    }
}

extension DAVResponse {
    /// The path as that of a folder: not every server ends it with a slash.
    fileprivate var folder: String { href.hasSuffix("/") ? href : href + "/" }
}

extension CardDAV.Listing {
    fileprivate mutating func add(_ response: DAVResponse, of book: String) throws(PluginError) {
        let path = response.href
        // The book itself, and folders in it, are no contacts.
        guard response.folder != book, !path.hasSuffix("/") else { return }
        guard path.hasPrefix(book) else { throw PluginError(.io, "the server names \(path) as a contact of \(book)") }
        if response.status == 404 || response.status == 410 {
            gone.insert(path)
            etags[path] = nil
        } else {
            etags[path] = response.values[0] ?? ""
            gone.remove(path)
        }
    }
}
