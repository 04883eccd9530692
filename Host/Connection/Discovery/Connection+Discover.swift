import Logging
public import Model
import NIOHTTP1

extension Connection {
    /// Finds out where the server keeps the account's calendars or address books (RFC 6764, RFC 5397, RFC 4791).
    ///
    /// Asked in turn until one of them leads to a home: the account's url and its root, the path that the name server tells
    /// (SRV and TXT records), `.well-known`. Each is asked for the principal, and the principal for its homes. If none does, the
    /// account's url may itself be a home, or a calendar in it. Credentials go to the account's origin alone. A 401 at a place that
    /// is only guessed says nothing; elsewhere, away from the account's files, it is `forbidden`. A place that a proxy answers for, since
    /// nothing stands behind it now, is passed over.
    /// - Returns: nil if the server does not offer it.
    /// - Throws: what kept the server from telling; `redirectRefused` if it keeps them on another server; `notFound` if no place led
    ///   to a home and one of them was passed over: it may be another time.
    ///
    /// Asked once, as long as what is known of the server holds and the homes are there.
    public func discover(_ service: DAVService) async throws(ConnectionError) -> DAVHomes? {
        if let kept = known?.homes[service.rawValue] {
            return kept.homes.isEmpty ? nil : DAVHomes(principal: kept.principal, homes: kept.homes)
        }
        let found = try await find(service)
        changeKnown {
            $0.homes[service.rawValue] = .init(principal: found?.principal, homes: found?.homes ?? [])
        }
        return found
    }

    /// A server that has no such thing at a place where it said that homes are does not keep them there any more.
    func noteAnswer(_ status: Int, at path: String) {
        guard [403, 404, 405, 410].contains(status) else { return }
        changeKnown { known in
            known.homes = known.homes.filter { home in !home.value.homes.contains { $0.hasSameBytes(as: path) } }
        }
    }

    private func find(_ service: DAVService) async throws(ConnectionError) -> DAVHomes? {
        let account = try bookmarkAddress()
        var places = [account]
        // It is not known if the server has no files.
        if let root = foundRoot(), root != account { places.append(root) }
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
            do {
                if let homes = try await homes(of: service, from: place, isGuess: next > own) { return homes }
            } catch  where error.isOfPlace {
                broken = broken ?? error
            }
        }
        do {
            if let homes = try await home(of: service, itself: account) { return homes }
        } catch  where error.isOfPlace {
            broken = broken ?? error
        }
        guard let broken else { return nil }
        logger.debug("not offered for now", metadata: ["error": "\(broken.message)"])
        throw ConnectionError(.notFound, broken.message, hint: broken.hint, status: broken.status)
    }

    /// What a place, and the principal that it names, tell of homes.
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
        // `unauthenticated` is no href: the server answers strangers, and us as one.
        guard let path = try Self.hrefs(in: told.values[0], at: told.address).first else { return nil }
        let address = ServerAddress(origin: place.origin, path: path)
        guard let mine = try await properties([service.homeSet], of: address, isGuess: isGuess),
            let homes = try Self.hrefs(in: mine.values[0], at: mine.address).nonEmpty
        else { return nil }
        return DAVHomes(principal: path, homes: homes.map(Self.folder))
    }

    /// The account's url, if it is a home or a collection of a server that has no principals.
    private func home(
        of service: DAVService, itself account: ServerAddress
    ) async throws(ConnectionError) -> DAVHomes? {
        guard try await complianceClasses(of: account).contains(service.complianceClass) else { return nil }
        let kind = "{DAV:}resourcetype"
        let asked = try Self.asked([kind])
        let question = Self.propfind(asked, at: account, depth: .one, timeLimit: timeLimits.head)
        let (answer, address) = try await multistatus(question, asked, at: account)
        try await check(answer, question, at: address)
        while let response = try await answer.next() {
            let kinds = response.values[0]?.split(separator: "\n") ?? []
            guard kinds.contains(where: { $0 == service.collection }) else { continue }
            // That there is one is all there is to know.
            await answer.close()
            return DAVHomes(principal: nil, homes: [Self.folder(address.normalizedPath)])
        }
        return nil
    }

    /// What a place says that it can do, in lower case (RFC 4918, section 10.1); nothing if it does not say.
    /// - Throws: what kept it from telling.
    func complianceClasses(of place: ServerAddress) async throws(ConnectionError) -> Set<String> {
        let question = Question(method: "OPTIONS", timeLimit: timeLimits.greeting, doing: "OPTIONS \(place.path)")
        var reply = try await openly(question, at: place)
        guard (200..<300).contains(reply.answer.status) else {
            let error = await error(for: &reply.answer, question, at: place.origin)
            if error.isTransient { throw error }
            return []
        }
        return Set(reply.answer.headers[canonicalForm: "DAV"].map { $0.lowercased() })
    }

    /// The values of properties of one thing.
    /// - Returns: nil if there is nothing that could have properties.
    private func properties(
        _ names: [String], of place: ServerAddress, isGuess: Bool
    ) async throws(ConnectionError) -> (values: [String?], address: ServerAddress)? {
        let asked = try Self.asked(names)
        var question = Self.propfind(asked, at: place, depth: .zero, timeLimit: timeLimits.greeting)
        question.isGuess = isGuess || !concernsAccount(place)
        let (answer, address): (MultistatusAnswer, ServerAddress)
        do {
            (answer, address) = try await multistatus(question, asked, at: place)
        } catch  where isGuess && error.kind == .redirectRefused {
            // A login page, mostly.
            logger.warning(
                "no calendars or address books are looked for there", metadata: ["error": "\(error.message)"])
            return nil
        }
        // A 401 at a place that is no guess says that there is something.
        if answer.status == 401, !isGuess { throw Self.refused(question, at: address) }
        do { try await check(answer, question, at: address) } catch  where !error.isTransient { return nil }
        var values: [String?]?
        while let response = try await answer.next() {
            if values == nil, (response.status ?? 200) < 300 { values = response.values }
        }
        return values.map { ($0, address) }
    }

    /// - Throws: if the answer is no multistatus.
    private func check(
        _ answer: MultistatusAnswer, _ question: Question, at address: ServerAddress
    ) async throws(ConnectionError) {
        guard answer.status != 207 else { return }
        throw ConnectionError(
            status: answer.status, headers: [:], document: [], doing: question.doing, at: address.origin,
            now: clock.now())
    }

    private static func refused(_ question: Question, at address: ServerAddress) -> ConnectionError {
        var error = ConnectionError(
            .forbidden, "\(address.origin) does not let the account in while \(question.doing)",
            hint: "check on the server what the account may do; its files are not concerned")
        error.status = 401
        return error
    }

    private static func asked(_ names: [String]) throws(ConnectionError) -> AskedProperties {
        do { return try AskedProperties(names) } catch {
            throw ConnectionError(.badRequest, "\(PercentCoding.printable(error.text)) is no property's name")
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

    /// The paths of a property's hrefs.
    /// - Throws: if they are on another host. Scheme and port are what a proxy in between makes of them.
    private static func hrefs(in value: String?, at address: ServerAddress) throws(ConnectionError) -> [String] {
        let marker = "{DAV:}href "
        var paths: [String] = []
        for line in value?.split(separator: "\n") ?? [] where line.hasPrefix(marker) {
            let href = String(line.dropFirst(marker.count))
            if let target = try? ServerAddress(href), target.origin.host != address.origin.host {
                throw ConnectionError(
                    .redirectRefused,
                    "\(address.origin) names \(target.withoutQuery), another server: nothing was sent there",
                    hint: "if that is the right one, set the account's url to it")
            }
            paths.append(address.normalizedPath(of: href))
        }
        return paths
    }

    private static func folder(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }
}

extension ConnectionError {
    /// Whether it tells of one place, not of the server: what a proxy should have handed the request to is not there.
    fileprivate var isOfPlace: Bool { kind == .serverError && (status == 502 || status == 504) }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
