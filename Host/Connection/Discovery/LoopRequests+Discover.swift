import Logging
public import Model
import Transfer

extension LoopRequests {
    /// Finds the homes of the account's calendars or address books (RFC 6764, RFC 5397, RFC 4791).
    ///
    /// Asks these addresses in turn until one of them leads to a home: the account's url, the account's root, the path
    /// that the name server tells (SRV and TXT records), and `.well-known`. Each address is asked for the principal,
    /// and the principal for its homes. If no address leads to a home, the account's url may itself be a home or a
    /// calendar in a home.
    ///
    /// Credentials go to the account's origin only. A 401 at an address that is only guessed says nothing. A 401
    /// elsewhere, away from the account's files, throws `forbidden`. An address is passed over if a proxy answers that
    /// the server behind it cannot be reached, and one that is only guessed also if it answers with an error, with what
    /// cannot be understood or with homes on another server, or closes the connection.
    ///
    /// The result is kept. The server is asked again only when the facts about it no longer hold or the homes are gone.
    /// - Returns: The principal and the homes; nil if the server does not offer the service.
    /// - Throws: The error that kept the server from telling; `redirectRefused` if an address that is not guessed names
    ///   homes on another server;
    ///   `notFound` if no address led to a home and one of them was passed over, so that a later attempt may find a
    ///   home.
    public func discover(_ service: DAVService) async throws(ConnectionError) -> DAVHomes? {
        if let kept = wire.knowledge.kept?.homes[service.rawValue] {
            return kept.homes.isEmpty ? nil : DAVHomes(principal: kept.principal, homes: kept.homes)
        }
        let found = try await find(service)
        wire.learn(.homes(found, of: service))
        return found
    }

    /// Forgets the homes of a service if the server answers that one of them is gone.
    func noteAnswer(_ status: Int, at path: String) {
        guard [403, 404, 405, 410].contains(status) else { return }
        wire.learn(.homeIsGone(path))
    }

    private func find(_ service: DAVService) async throws(ConnectionError) -> DAVHomes? {
        let account = try wire.bookmarkAddress()
        var places = [account]
        // If the server has no files, the root is unknown.
        if let root = wire.knowledge.root, root != account { places.append(root) }
        let own = places.count
        var asked: Set<ServerAddress> = []
        var isComplete = false
        var broken: ConnectionError?
        var next = 0
        while true {
            if next == places.count {
                guard !isComplete else { break }
                isComplete = true
                if let path = await pathByName(service, of: account) { places.append(path) }
                places.append(ServerAddress(origin: account.origin, path: service.wellKnownPath))
            }
            let place = places[next]
            next += 1
            guard asked.insert(place).inserted else { continue }
            let isGuess = next > own
            do {
                if let homes = try await homes(of: service, from: place, isGuess: isGuess) { return homes }
            } catch  where error.isOfPlace || isGuess && error.isOfGuess {
                broken = broken ?? error
            } catch  where isGuess && error.isOfOther {
                wire.logger.warning(
                    "Larder does not search for calendars or address books at this address",
                    metadata: ["error": "\(error.message)"])
            }
        }
        do {
            if let homes = try await home(of: service, itself: account) { return homes }
        } catch  where error.isOfPlace {
            broken = broken ?? error
        }
        guard let broken else { return nil }
        wire.logger.debug(
            "The server does not offer calendars or address books for now", metadata: ["error": "\(broken.message)"])
        throw ConnectionError(.notFound, broken.message, hint: broken.hint, status: broken.status)
    }

    /// Returns the homes that an address names, or that the principal at this address names.
    private func homes(
        of service: DAVService, from place: ServerAddress, isGuess: Bool
    ) async throws(ConnectionError) -> DAVHomes? {
        let principal = "{DAV:}current-user-principal"
        guard let told = try await properties([principal, service.homeSet], of: place, isGuess: isGuess) else {
            return nil
        }
        if let homes = try Self.hrefs(in: told.values[1], at: told.address).nonEmpty {
            let principal = try Self.hrefs(in: told.values[0], at: told.address).first
            return DAVHomes(principal: principal ?? told.address.normalizedPath, homes: homes.map(Self.folder))
        }
        // `unauthenticated` is not an href. The server answers strangers, and treats this account as one.
        guard let path = try Self.hrefs(in: told.values[0], at: told.address).first else { return nil }
        let address = ServerAddress(origin: place.origin, path: path)
        guard let mine = try await properties([service.homeSet], of: address, isGuess: isGuess),
            let homes = try Self.hrefs(in: mine.values[0], at: mine.address).nonEmpty
        else { return nil }
        return DAVHomes(principal: path, homes: homes.map(Self.folder))
    }

    /// Returns the account's url as a home, if it is a home or a collection of a server that has no principals.
    private func home(
        of service: DAVService, itself account: ServerAddress
    ) async throws(ConnectionError) -> DAVHomes? {
        guard try await wire.complianceClasses(of: account).contains(service.complianceClass) else { return nil }
        let kind = "{DAV:}resourcetype"
        let asked = try Self.asked([kind])
        let question = Self.propfind(asked, at: account, depth: .one, timeLimit: wire.timeLimits.head)
        let (answer, address) = try await wire.multistatus(question, asked, at: account)
        try await check(answer, question, at: address)
        while let response = try await answer.next() {
            let kinds = response.values[0]?.split(separator: "\n") ?? []
            guard kinds.contains(where: { $0 == service.collection }) else { continue }
            // One collection is enough to know that the url is a home.
            await answer.close()
            return DAVHomes(principal: nil, homes: [Self.folder(address.normalizedPath)])
        }
        return nil
    }

    /// Returns the values of the properties of one resource.
    /// - Returns: The values and the address that answered; nil if there is nothing there that could have properties.
    private func properties(
        _ names: [String], of place: ServerAddress, isGuess: Bool
    ) async throws(ConnectionError) -> (values: [String?], address: ServerAddress)? {
        let asked = try Self.asked(names)
        var question = Self.propfind(asked, at: place, depth: .zero, timeLimit: wire.timeLimits.greeting)
        question.isGuess = isGuess || !wire.knowledge.concernsAccount(place)
        let (answer, address) = try await wire.multistatus(question, asked, at: place)
        // A 401 at an address that is not a guess says that there is something at this address.
        if answer.status == 401, !isGuess { throw Self.refused(question, at: address) }
        do { try await check(answer, question, at: address) } catch  where !error.isTransient { return nil }
        var values: [String?]?
        while let response = try await answer.next() {
            if values == nil, (response.status ?? 200) < 300 { values = response.values }
        }
        return values.map { ($0, address) }
    }

    /// Throws an error if the answer is not a multistatus.
    private func check(
        _ answer: MultistatusAnswer, _ question: Question, at address: ServerAddress
    ) async throws(ConnectionError) {
        guard answer.status != 207 else { return }
        throw ConnectionError(
            status: answer.status, headers: [:], document: [], doing: question.doing, at: address.origin,
            now: wire.clock.now())
    }

    private static func refused(_ question: Question, at address: ServerAddress) -> ConnectionError {
        var error = ConnectionError(
            .forbidden, "\(address.origin) denies the account access while \(question.doing)",
            hint: "check the account's permissions on the server; access to its files is not affected")
        error.status = 401
        return error
    }

    private static func asked(_ names: [String]) throws(ConnectionError) -> AskedProperties {
        do { return try AskedProperties(names) } catch {
            throw ConnectionError(.badRequest, "\(PercentCoding.printable(error.text)) is not a property name")
        }
    }

    private static func propfind(
        _ asked: AskedProperties, at place: ServerAddress, depth: Depth, timeLimit: Duration
    ) -> Question {
        Question(
            method: "PROPFIND",
            headers: ["Depth": depth.rawValue, "Content-Type": "application/xml; charset=utf-8"],
            body: asked.propfind, timeLimit: timeLimit, doing: "PROPFIND \(place.path)")
    }

    /// Returns the paths of a property's hrefs.
    /// - Throws: `redirectRefused` if an href is on another host. Scheme and port are not compared: a proxy in between
    ///   may change them.
    private static func hrefs(in value: String?, at address: ServerAddress) throws(ConnectionError) -> [String] {
        let marker = "{DAV:}href "
        var paths: [String] = []
        for line in value?.split(separator: "\n") ?? [] where line.hasPrefix(marker) {
            let href = String(line.dropFirst(marker.count))
            if let target = try? ServerAddress(href), target.origin.host != address.origin.host {
                throw ConnectionError(
                    .redirectRefused,
                    "\(address.origin) refers to \(target.withoutQuery) on another server: nothing was sent there",
                    hint: "if that is the right server, set the account's url to it")
            }
            paths.append(address.normalizedPath(of: href))
        }
        return paths
    }

    private static func folder(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }
}

extension ConnectionError {
    /// Whether the error concerns one address and not the server: the service to which a proxy should have passed the
    /// request is not there.
    fileprivate var isOfPlace: Bool { kind == .serverError && (status == 502 || status == 504) }

    /// Whether the error says nothing of the server if nobody said that there is something at the address. An answer
    /// that asks to wait concerns the whole account.
    fileprivate var isOfGuess: Bool { kind == .serverError && status != 429 && status != 503 || isClosed }

    /// Whether something else than the service is at an address that is only guessed, such as a login page, or a
    /// redirect to one.
    fileprivate var isOfOther: Bool { kind == .redirectRefused || kind == .protocolViolation }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
