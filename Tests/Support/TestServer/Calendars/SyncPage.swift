import DemoServer

/// The contents of one `sync-collection` answer: the listed members and the token.
struct SyncPage {
    /// The changed members, including removed ones.
    private(set) var members: [String]
    private(set) var token: String
    /// Whether the answer says that more members follow.
    private(set) var saysCut = false

    /// Makes the answer to a sync token; nil if the server rejects the token.
    /// - Parameter limit: the largest number of members that the request wants.
    init?(of calendar: Calendar, since text: String, limit: Int?, manner: CalendarManner) {
        guard let since = SyncToken(text, form: manner.tokens) else { return nil }
        let newest = SyncToken.text(after: calendar.version, form: manner.tokens)
        let size = min(manner.pageSize ?? .max, manner.limit == .heeded ? limit ?? .max : .max)
        switch since {
        case .initial, .within:
            let all = calendar.objects.keys.sorted()
            var (version, start) = (calendar.version, 0)
            if case .within(let old, let given) = since { (version, start) = (old, min(given, all.count)) }
            members = Array(all[start...].prefix(manner.pageSize ?? .max))
            saysCut = start + members.count < all.count
            // The first delta reports the changes made since the first page.
            token =
                saysCut
                ? SyncToken.text(within: version, given: start + members.count, form: manner.tokens)
                : SyncToken.text(after: version, form: manner.tokens)
        case .after, .nonsense:
            var number = Int.max
            if case .after(let known) = since { number = known }
            let isLost = number > calendar.version || number < calendar.forgotten
            if isLost, manner.lostTokens == .refused { return nil }
            let changes = calendar.log.filter { $0.number > max(number, calendar.forgotten) }
            let listed = changes.prefix(size)
            members = listed.reduce(into: []) { if !$0.contains($1.object) { $0.append($1.object) } }
            saysCut = listed.count < changes.count
            if let last = listed.last {
                token = SyncToken.text(after: last.number, form: manner.tokens)
            } else {
                token = isLost && manner.lostTokens == .echoed ? text : newest
            }
            if manner.repeatsRemovals { members += calendar.removed.subtracting(members).sorted() }
        }
        if manner.limit == .silentlyCut, let limit, members.count > limit {
            members = Array(members.prefix(limit))
            token = newest
            saysCut = false
        }
    }
}

extension Calendar {
    /// The objects that were removed and have not been added again.
    fileprivate var removed: Set<String> { Set(log.map(\.object)).subtracting(objects.keys) }
}
