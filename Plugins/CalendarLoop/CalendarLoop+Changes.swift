import LarderSDK

extension CalendarLoop {
    /// Returns the changes since a token.
    mutating func delta(
        of loop: String, _ calendar: Calendar, since token: String, wasStalled: Bool
    ) throws(PluginError) -> EventPage<Content> {
        guard case .changes(let delta) = try exchange(loop).changes(since: token) else {
            return EventPage(eventID: token, refresh: .everything, content: Content())
        }
        if delta.isEmpty, !delta.isTruncated, try isStalling(loop, calendar, delta.token) {
            if wasStalled {
                let text = "the server does not report the changes of the calendar \(loop): all of it is listed"
                // Some servers give a calendar another token each time.
                if named.insert(loop).inserted { log?.warning(text) } else { log?.debug(text) }
                return EventPage(eventID: token, refresh: .everything, content: Content())
            }
            return page(.stalled(delta.token))
        }
        let objects = Self.objects(of: loop)
        var content = Content()
        // Changes that the server repeats need nothing.
        for href in delta.gone where try records.record(href, in: objects, []) != nil { content.gone.append(href) }
        var changed: [Member] = []
        for member in delta.present {
            let known = try records.record(member.href, in: objects, .version)
            if !isCurrent(known, member) { changed.append(member) }
        }
        var fetching = Fetching(exchange(loop))
        let next = try fetch(changed, by: &fetching, of: loop, into: &content, then: .synced(delta.token), page: 0)
        return page(next.position, more: next.more || delta.isTruncated, content)
    }

    /// Tells whether a delta without changes ends at another token than the calendar's. That means nothing if it was so
    /// right after the calendar was listed.
    private func isStalling(_ loop: String, _ calendar: Calendar, _ token: String) throws(PluginError) -> Bool {
        guard let listed = calendar.syncToken, !listed.utf8.elementsEqual(token.utf8) else { return false }
        return try Memory(of: loop, in: values).mismatch != listed
    }

    /// Polls a calendar without sync-tokens.
    /// - Parameters:
    ///   - digest: The digest of the listing of the last poll.
    ///   - hasNews: Whether the calendar's ctag shows that something has changed since then.
    mutating func list(
        _ loop: String, _ calendar: Calendar, _ digest: String, hasNews: Bool
    ) throws(PluginError) -> EventPage<Content> {
        let members = try exchange(loop).listing()
        let position = Position.listed(digest: members.digest, ctag: calendar.ctag ?? "")
        let isHidden = hasNews && members.contains { $0.etag == nil }
        if members.digest == digest, !isHidden { return page(position) }
        var fetching = Fetching(exchange(loop))
        let (content, next) = try differences(loop, members, by: &fetching, then: position, page: 0)
        return page(next.position, more: next.more, content)
    }

    /// Compares the listing with the records, in as many pages as it takes.
    mutating func compare(_ loop: String, page number: Int, then: Position) throws(PluginError) -> EventPage<Content> {
        let members = try exchange(loop).listing()
        doubted.remove(loop)
        var then = then
        if case .listed(_, let ctag) = then {
            // Once a day the loop asks for a token, in case the server supports them by now.
            let calendar = try Calendar(loop, records)
            let isDue = try Memory(of: loop, in: values).isComparisonDue(at: clock.now() / 1_000_000_000)
            if calendar.supportsSync, number == 1, isDue {
                return EventPage(eventID: then.eventID, refresh: .everything, content: Content())
            }
            then = .listed(digest: members.digest, ctag: ctag)
        }
        var fetching = Fetching(exchange(loop))
        var (content, next) = try differences(loop, members, by: &fetching, then: then, page: number)
        content.isComparison = next.position == then
        return page(next.position, more: next.more, content)
    }

    /// Fetches the objects that the page before had no room for.
    mutating func goOn(
        _ loop: String, with backlog: Backlog, page number: Int, then: Position
    ) throws(PluginError) -> EventPage<Content> {
        var fetching = Fetching(exchange(loop))
        var content = Content()
        var next = try fetch(
            backlog.members, isAll: backlog.isAll, by: &fetching, of: loop, into: &content, then: then, page: number)
        if !next.more, !backlog.isAll { next = (.comparing(page: number + 1, then: then), true) }
        content.isComparison = next.position == then
        return page(next.position, more: next.more, content)
    }

    /// Returns all members and the token that belongs to them. Nil: the server does not support this.
    ///
    /// If no object is known, the same request asks for the contents, which takes a server as long as the listing
    /// alone. Members whose contents came are not returned.
    func everything(
        of loop: String, into fetching: inout Fetching
    ) throws(PluginError) -> ([Member], token: String)? {
        let exchange = exchange(loop)
        var first: Exchange.Delta?
        var known = try records.all(in: Self.objects(of: loop), [])
        if try known.next() == nil {
            let clock = clock
            let end = try clock.monotonic() + 30_000_000_000
            first = try exchange.everything { () throws(PluginError) in
                try clock.monotonic() > end
            } keep: { response throws(PluginError) in
                try fetching.take(response)
            }
            if first == nil { fetching = Fetching(exchange) }
        }
        var etags: [String: String?] = [:]
        var token = ""
        for _ in 0..<1000 {
            let delta: Exchange.Delta
            if let part = first.take() {
                delta = part
            } else {
                guard case .changes(let part) = try exchange.changes(since: token) else {
                    fetching = Fetching(exchange)
                    return nil
                }
                delta = part
                // Contents of an earlier part may be outdated by now.
                fetching.forget(Set(part.present.map(\.href) + part.gone))
            }
            for member in delta.present { etags.updateValue(member.etag, forKey: member.href) }
            for href in delta.gone { etags.removeValue(forKey: href) }
            token = delta.token
            guard delta.isTruncated else {
                let members = etags.map { Member(href: $0.key, etag: $0.value) }
                return (members.sorted { $0.href.utf8.lexicographicallyPrecedes($1.href.utf8) }, token)
            }
        }
        throw exchange.failure("a report in more than a thousand parts")
    }

    /// Compares all members, in the order of their hrefs' bytes, with the records, and fetches the objects that differ.
    /// - Parameter page: The page of a comparison. 0: this is not a comparison.
    mutating func differences(
        _ loop: String, _ members: [Member], by fetching: inout Fetching, then: Position, page: Int
    ) throws(PluginError) -> (Content, (position: Position, more: Bool)) {
        var content = Content()
        var changed: [Member] = []
        var rest = members[...]
        var known = try records.all(in: Self.objects(of: loop), .version)
        while let record = try known.next() {
            while let member = rest.first, member.href.utf8.lexicographicallyPrecedes(record.key.utf8) {
                changed.append(member)
                rest = rest.dropFirst()
            }
            if let member = rest.first, member.href.utf8.elementsEqual(record.key.utf8) {
                // An object without an ETag came with an earlier page of this comparison, or is fetched with the first.
                let isFetched = member.etag == nil && record.version.isEmpty && page > 1
                if !isFetched, !isCurrent(record, member) { changed.append(member) }
                rest = rest.dropFirst()
            } else {
                content.gone.append(record.key)
            }
        }
        changed += rest
        let next = try fetch(changed, by: &fetching, of: loop, into: &content, then: then, page: page)
        return (content, next)
    }

    private func isCurrent(_ known: Record?, _ member: Member) -> Bool {
        guard let known, let etag = member.etag else { return false }
        return Member.isSame(known.version, etag)
    }

    /// Fetches as many objects as there is room for. The others, and those that the server could not give, come with
    /// the next page.
    private mutating func fetch(
        _ changed: [Member], isAll: Bool = true, by fetching: inout Fetching, of loop: String,
        into content: inout Content, then: Position, page: Int
    ) throws(PluginError) -> (position: Position, more: Bool) {
        let clock = clock
        let end = try clock.monotonic() + 20_000_000_000
        try fetching.fetch(changed) { () throws(PluginError) in try clock.monotonic() > end }
        content.records = fetching.handOver()
        let isCut = content.keepWhatFits()
        let isAll = isAll && !isCut
        let hasNews = !content.records.isEmpty || !content.gone.isEmpty
        // These went between the listing and the fetch.
        content.gone += fetching.gone
        for href in fetching.tooLarge { log?.warning("\(href) is larger than 8 MiB: its content is not kept") }
        if fetching.isPartial {
            let next = Position.comparing(page: page + 1, then: then)
            // Objects for which the server has an error are asked for once more.
            let failed = Set(fetching.failed)
            keep(fetching.left + changed.filter { failed.contains($0.href) }, isAll: isAll, of: loop, for: next)
            return (next, true)
        }
        if isCut { return (.comparing(page: page + 1, then: then), true) }
        guard let first = fetching.failed.first else { return (then, false) }
        // The other objects are kept first. The turn after it has only the failure left, and begins there each time.
        if hasNews { return (.comparing(page: page + 1, then: then), true) }
        let others = fetching.failed.count == 1 ? "" : " and \(fetching.failed.count - 1) others"
        throw PluginError(
            .failed,

            "\(first)\(others) of the calendar \(loop) cannot be read: the server's answer is broken or an error; "
                + "everything else is kept, and the request is repeated")
    }
}

extension CalendarLoop.Content {
    /// The number of removals in one page that counts as many: a person may have to decide about them.
    private static let many = 20
    /// The greatest size of a page's removals in bytes.
    private static let enough = 4 << 20

    /// Leaves the removals that do not fit into this page for a later page, which compares the calendar with its
    /// listing. If there are many removals and something else comes, it leaves all of them, so that a decision about
    /// them does not delay the rest.
    /// - Returns: Whether something is left.
    fileprivate mutating func keepWhatFits() -> Bool {
        if gone.count >= Self.many, !records.isEmpty {
            gone = []
            return true
        }
        var bytes = 0
        let end = gone.firstIndex { href in
            // The host counts the collection's name too, with which the href begins.
            bytes += 2 * href.utf8.count + 64
            return bytes > Self.enough
        }
        guard let end else { return false }
        gone.removeSubrange(end...)
        return true
    }
}
