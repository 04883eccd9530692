import FoundationEssentials
import Logging
public import Model

extension ConnectionError {
    /// Returns the error for a request for the account's root. `notFound` becomes `protocolViolation`, because a
    /// missing root is not a missing item.
    fileprivate func asOfRoot(_ address: ServerAddress) -> ConnectionError {
        guard kind == .notFound else { return self }
        return ConnectionError(
            .protocolViolation, "\(address) answered \(status ?? 404): there is nothing at the account's url",
            hint:
                "check the account's url: it must be a WebDAV collection, or the root of a server of the ownCloud "
                + "family",
            status: status)
    }
}

extension Connection {
    /// Returns how long a server of the ownCloud family asks clients to wait between two polls, according to its
    /// capabilities document.
    ///
    /// Asks the server until it was able to answer. The answer is kept as long as the facts about the server hold.
    /// - Returns: The wait; nil if the document names none, or the server answered with an error status.
    /// - Throws: `unreachable` if the server does not answer or `connect()` has not found the root; `authentication` if
    ///   the server rejects the credentials; and the other kinds of a request without an answer.
    public func pollWish() async throws(ConnectionError) -> Duration? {
        if let known = known?.pollWish { return known == 0 ? nil : .milliseconds(known) }
        let (found, isSure) = try await wire.capabilities(at: RootCandidates.home(of: try wire.root()), isGuess: false)
        if isSure { wire.learn(.pollWish(found?.wishMilliseconds ?? 0)) }
        return found?.pollWish
    }

    /// Finds the account's files on the server and checks that the credentials open them.
    ///
    /// Works in these steps:
    /// 1. Asks for `status.php`, without credentials. On a server of the ownCloud family the files are below
    ///    `remote.php`; on every other server the bookmark's address is the collection.
    /// 2. Asks for the root with the credentials. A wrong password costs one request.
    /// 3. Asks for the capabilities, if the root has `oc:id` and there is no status document.
    ///
    /// Only one call may be under way at a time.
    /// - Returns: The facts about the server.
    /// - Throws: The reason why the account cannot be used: `badAddress` for a url that cannot be used or is a file's;
    ///   `protocolViolation` if there is no WebDAV at the url; `certificate`, `authentication`, `forbidden` or
    ///   `redirectRefused`; `unapproved`; `maintenance`, `unreachable` or `serverError` if another attempt may succeed later.
    public func connect() async throws(ConnectionError) -> ServerFacts { try await connect { _ in .zero }.facts }

    /// Connects like ``connect()``, and may begin the root's listing.
    /// - Parameters:
    ///   - known: The facts found before. If they still hold, the root is the only thing asked for.
    ///   - depth: The depth of the request for the root, by whether the server has a status document. With `.one` the
    ///     root's listing begins.
    /// - Returns: The facts about the server, and the root's listing if it has begun.
    /// - Throws: The errors of ``connect()``.
    public func connect(
        knowing known: KnownServer? = nil, asking depth: (Bool) -> Depth
    ) async throws(ConnectionError) -> (facts: ServerFacts, listing: RootListing?) {
        do {
            return try await connectAsApproved(knowing: known, asking: depth)
        } catch {
            guard let redirect = error.redirect, let address = try? wire.bookmarkAddress(),
                redirect.target(of: address) != nil
            else { throw error }
            try wire.approvals.check(.redirect(redirect))
            throw error
        }
    }

    /// Connects as far as a person has approved what is found.
    private func connectAsApproved(
        knowing known: KnownServer?, asking depth: (Bool) -> Depth
    ) async throws(ConnectionError) -> (facts: ServerFacts, listing: RootListing?) {
        let address = try wire.bookmarkAddress()
        try wire.usableCredentials()
        if let known, let found = try await connect(knowing: known, at: address, asking: depth) { return found }
        wire.learn(.kept(nil))
        let status = try await statusDocument(of: address)
        if status?.isInMaintenance == true {
            throw ConnectionError(
                .maintenance, "\(address.origin) is in maintenance mode", hint: "wait until it is back")
        }
        if let status {
            let identity = Identity(status)
            try approve(identity.product, identity.version, of: address.origin)
        }
        let candidates = RootCandidates.all(for: address, username: wire.bookmark.username, isFamily: status != nil)
        for (index, candidate) in candidates.enumerated() {
            do {
                var found = try await facts(
                    of: candidate, status.map(Identity.init) ?? Identity(), asking: depth(status != nil))
                try await complete(&found.facts)
                return found
            } catch {
                let isElsewhere = error.kind == .notFound || error.status == 405
                guard isElsewhere, index + 1 < candidates.count else { throw error.asOfRoot(address) }
            }
        }
        throw ConnectionError(.badAddress, "there is no WebDAV collection at the account's url \(address)")
    }

    /// Connects with the facts found before.
    /// - Returns: nil if these facts no longer hold.
    private func connect(
        knowing known: KnownServer, at address: ServerAddress, asking depth: (Bool) -> Depth
    ) async throws(ConnectionError) -> (facts: ServerFacts, listing: RootListing?)? {
        // Credentials go to the account's origin only, whatever the database says.
        guard known.isOf(wire.bookmark), let root = try? ServerAddress(known.root), root.origin == address.origin else {
            return nil
        }
        let identity = Identity(evidence: known.evidence, product: known.product, version: known.version)
        do {
            let found = try await facts(of: root, identity, asking: depth(known.evidence == .statusDocument))
            guard found.facts.hasFileIDs == known.hasFileIDs, found.facts.hasFiles == known.hasFiles,
                found.facts.root.hasSameBytes(as: known.root)
            else { return nil }
            wire.learn(.kept(known))
            return found
        } catch {
            switch error.kind {
            case .notFound, .protocolViolation, .redirectRefused, .badAddress, .forbidden: return nil
            default: throw error
            }
        }
    }

    /// The evidence, product and version that a server states about itself.
    private struct Identity {
        var evidence = KnownServer.Evidence.none
        var product: String?
        var version: String?

        init() {}

        init(evidence: KnownServer.Evidence, product: String?, version: String?) {
            (self.evidence, self.product, self.version) = (evidence, product, version)
        }

        init(_ status: StatusDocument) {
            self.init(
                evidence: .statusDocument, product: status.productname,
                version: status.versionstring ?? status.version)
        }
    }

    /// Asks for the capabilities if there is `oc:id` and no status document: they tell whether the server is of the
    /// ownCloud family. Then keeps the facts, unless the server was unable to answer.
    private func complete(_ facts: inout ServerFacts) async throws(ConnectionError) {
        var wish: Int64?
        if facts.evidence == .none, facts.hasFileIDs, facts.hasFiles {
            let root = try wire.root()
            var homes = [RootCandidates.home(of: root)]
            let origin = ServerAddress(origin: root.origin, path: "/")
            if homes != [origin] { homes.append(origin) }
            for home in homes {
                let (found, isSure) = try await wire.capabilities(at: home, isGuess: true)
                guard isSure else { return }
                guard let found else { continue }
                try approve(found.product, found.version, of: home.origin)
                (facts.evidence, facts.product, facts.version) = (.capabilities, found.product, found.version)
                wish = found.wishMilliseconds
                wire.learn(.root(root, hasFiles: true, isFamily: true))
                break
            }
        }
        var known = KnownServer(facts, of: wire.bookmark, at: wire.clock.now())
        (known.pollWish, known.forbiddenNames) = (wish, wire.knowledge.forbiddenNames)
        wire.learn(.kept(known))
    }

    /// Checks that an old version was approved.
    private func approve(
        _ product: String?, _ version: String?, of origin: ServerAddress.Origin
    ) throws(ConnectionError) {
        if let old = Approval.version(product, version, of: origin) { try wire.approvals.check(old) }
    }

    private func facts(
        of candidate: ServerAddress, _ identity: Identity, asking depth: Depth
    ) async throws(ConnectionError) -> (facts: ServerFacts, listing: RootListing?) {
        let listing: OpenListing
        var root: ListedItem
        let (isForeign, date): (Bool, Timestamp?)
        do throws(ConnectionError) {
            listing = try await listings.beginListing(
                .root, depth: depth, below: candidate,
                timeLimit: depth == .zero ? wire.timeLimits.greeting : wire.timeLimits.head
            )
            (root, isForeign, date) = try await listing.begin()
        } catch {
            guard depth == .one, error.mayBeOfListing else { throw error }
            // Another attempt asks for the root alone: the server may well be reachable. The scan reports a root that
            // cannot be listed.
            return try await facts(of: candidate, identity, asking: .zero)
        }
        let address = listing.root
        let hasFiles = !isForeign && root.kind == .folder
        // On some calendar servers the root and the principals are not collections.
        if root.kind == .file, !isForeign {
            guard try await keepsNoFiles(at: address) else {
                throw ConnectionError(
                    .badAddress, "the account's url \(candidate) is a file",
                    hint: "set it to the folder that holds the files")
            }
        }
        root.kind = .folder
        wire.learn(.root(address, hasFiles: hasFiles, isFamily: identity.evidence != .none))
        let facts = ServerFacts(
            root: address.description, evidence: identity.evidence, product: identity.product,
            version: identity.version, hasFileIDs: root.fileID != nil, hasFiles: hasFiles, rootItem: root, date: date)
        return (facts, depth == .zero || !hasFiles ? nil : RootListing(listing))
    }

    /// Tells whether an address that is not a collection is for calendars or address books, according to the server.
    private func keepsNoFiles(at root: ServerAddress) async throws(ConnectionError) -> Bool {
        let classes = try await wire.complianceClasses(of: root)
        return DAVService.allCases.contains { classes.contains($0.complianceClass) }
    }

    /// Returns the status document; nil if the server has none that can be read.
    private func statusDocument(of address: ServerAddress) async throws(ConnectionError) -> StatusDocument? {
        var question = Question(
            method: "GET", sendsCredentials: false, timeLimit: wire.timeLimits.greeting, expected: .document,
            doing: "asking for status.php")
        let place = RootCandidates.home(of: address).appending("status.php")
        try await wire.enterGate(&question, .listing)
        defer { question.turn?.end() }
        // A redirect to another origin ends the attempt here, before credentials are sent to an address that is not the
        // server's.
        var reply = try await wire.ask(question, at: place)
        guard reply.answer.status == 200 else {
            let error = await wire.error(for: &reply.answer, question, at: reply.address.origin)
            // A server that cannot answer now may be of the ownCloud family, so the address of its files is unknown.
            if error.isTransient, error.status != 423 { throw error }
            return nil
        }
        do {
            return StatusDocument(
                json: try await wire.document(of: &reply.answer, atMost: 65_536, question, at: reply.address.origin))
        } catch  where error.kind == .protocolViolation {
            // Another document of any length may be at this address.
            wire.logger.debug("\(error.message)")
            return nil
        }
    }
}

extension ConnectionError {
    /// Whether a request for the folder alone may succeed where its listing failed.
    fileprivate var mayBeOfListing: Bool {
        switch kind {
        case .unreachable, .serverError, .forbidden, .protocolViolation: retryAfter == nil
        default: false
        }
    }
}

/// The status document of a server of the ownCloud family, at `status.php`.
struct StatusDocument: Decodable, Equatable {
    var installed: Bool
    var maintenance: Bool?
    var needsDbUpgrade: Bool?
    var version: String
    var versionstring: String?
    var productname: String?

    var isInMaintenance: Bool { maintenance == true || needsDbUpgrade == true || !installed }

    /// Reads a status document.
    /// - Returns: nil if the document is another one.
    init?(json: [UInt8]) {
        do { self = try JSONDecoder().decode(StatusDocument.self, from: Data(json)) } catch { return nil }
    }
}

/// The addresses on a server at which an account's files may be.
enum RootCandidates {
    /// Returns the folder that holds `status.php` and `remote.php`.
    static func home(of address: ServerAddress) -> ServerAddress {
        let names = address.path.split(separator: "/")
        let end = names.indices.first { index in
            switch names[index] {
            case "remote.php", "index.php": true
            // The server itself writes the address of a space as https://HOST/dav/spaces/ID.
            case "dav": names.dropFirst(index + 1).first.map { $0 == "spaces" || $0 == "files" } ?? false
            default: false
            }
        }
        guard let end else { return address }
        return ServerAddress(origin: address.origin, path: "/" + names[..<end].map { $0 + "/" }.joined())
    }

    /// Tells whether the address names the server only and leaves the path of the files open.
    static func isHome(_ address: ServerAddress) -> Bool { home(of: address) == address }

    /// Returns the addresses to try, in this order, each with a closing slash.
    static func all(for address: ServerAddress, username: String?, isFamily: Bool) -> [ServerAddress] {
        guard isFamily, isHome(address) else { return [address] }
        var all = [address.appending("remote.php/webdav/")]
        if let username {
            all.insert(address.appending("remote.php/dav/files/\(PercentCoding.encoded(name: username))/"), at: 0)
        }
        return all
    }
}
