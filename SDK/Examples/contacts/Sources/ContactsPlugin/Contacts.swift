public import LarderSDK

/// Keeps the contacts of each address book: a record for each, whose content is the vCard.
///
/// There is one loop for each record that ``AddressBooks`` keeps. The loop's id is that record's key, the book's path.
struct Contacts: EventLoop {
    static let description = PluginDescription(
        id: "org.example.contacts", name: "Contacts", version: "1.0.0",
        summary: "Keeps the contacts of the account's address books", required: [.dav, .records])
    static let kind = "org.example.contacts"
    static let collection: String? = AddressBooks.kind
    static let settingsSchema: String? = interval

    /// What a turn found.
    struct Changes {
        var contacts: [Record] = []
        var gone: Set<String> = []
    }

    /// A turn asks for 16 MiB at most, and a poll takes a minute at most: what is more comes with the next page.
    private static let most = (contacts: 200, bytes: 4 << 20)
    private static let mostInRequest = 20

    private let server: CardDAV
    private let records: Host.Records

    init(host: Host) throws(PluginError) {
        server = CardDAV(dav: try host.require(host.dav, .dav))
        records = try host.require(host.records, .records)
    }

    mutating func poll(_ book: String, since eventID: String) throws(PluginError) -> EventPage<Changes> {
        guard let position = Position(eventID), let listing = try listing(of: book, from: position) else {
            // The host calls `refresh` in the same turn. Until that has succeeded, what is kept stays.
            return EventPage(eventID: eventID, refresh: .everything, content: Changes())
        }
        let (changes, next) = try fetch(listing, of: book, from: position)
        return EventPage(eventID: next.eventID, more: next.after != nil, content: changes)
    }

    mutating func process(_ page: EventPage<Changes>, of book: String) throws(PluginError) {
        let collection = Host.Records.collection(of: book, in: Self.kind)
        for contact in page.content.contacts { try records.put(contact, in: collection) }
        for path in page.content.gone { try records.remove(path, from: collection) }
    }

    /// For a new book, and for one whose token the server does not know any more. The anchor comes first: the listing
    /// and the token that belongs to it are one answer. Only what differs is fetched.
    mutating func refresh(_ what: RefreshSet, of book: String) throws(PluginError) -> Anchor {
        var listing = try server.changes(in: book, since: "")
        if listing == nil { listing = try server.listing(of: book) }
        let (changes, next) = try fetch(listing ?? .init(), of: book, from: Position(token: nil))
        try process(EventPage(eventID: next.eventID, content: changes), of: book)
        return Anchor(eventID: next.eventID, more: next.after != nil)
    }

    /// Returns what is to be looked through. Nil: the server does not know the token any more.
    private func listing(of book: String, from position: Position) throws(PluginError) -> CardDAV.Listing? {
        guard let token = position.token, position.after == nil else { return try server.listing(of: book) }
        return try server.changes(in: book, since: token)
    }

    /// Compares a listing with the records, and fetches what differs as far as there is room in a turn.
    /// - Returns: The changes, and the position with them: its `after` is nil if that is everything.
    private func fetch(
        _ listing: CardDAV.Listing, of book: String, from position: Position
    ) throws(PluginError) -> (Changes, Position) {
        var changes = Changes(gone: listing.gone)
        var wanted = listing.etags
        var kept = try records.all(in: Host.Records.collection(of: book, in: Self.kind), .version)
        while let record = try kept.next() {
            if let etag = listing.etags[record.key] {
                if etag == record.version, !etag.isEmpty { wanted[record.key] = nil }
            } else if listing.isWhole {
                changes.gone.insert(record.key)
            }
        }
        // The order of the paths lets the next page go on behind this one.
        let paths = wanted.keys.filter { $0 > position.after ?? "" }.sorted()
        var next = Position(token: listing.token ?? position.token)
        var bytes = 0
        for start in stride(from: 0, to: paths.count, by: Self.mostInRequest) {
            guard changes.contacts.count < Self.most.contacts else { return (changes, next) }
            let batch = Array(paths[start...].prefix(Self.mostInRequest))
            let vCards = try server.vCards(batch, in: book)
            for path in batch {
                guard bytes < Self.most.bytes else { return (changes, next) }
                if let vCard = vCards[path] {
                    changes.contacts.append(Self.contact(path, etag: wanted[path] ?? "", vCard))
                    bytes += vCard.utf8.count
                } else {
                    changes.gone.insert(path)
                }
                next.after = path
            }
        }
        next.after = nil
        return (changes, next)
    }

    /// Makes a contact's record. Its value has what programs look for.
    private static func contact(_ path: String, etag: String, _ vCard: String) -> Record {
        // The lines of a vCard end with CRLF, which XML turns into a line feed.
        let content = Array(vCard.replacing("\n", with: "\r\n").utf8)
        var (name, uid): (String?, String?)
        var lines = ContentLines(content.span)
        while let line = lines.next() {
            if line.name == "FN" { name = name ?? line.text }
            if line.name == "UID" { uid = uid ?? line.text }
        }
        let value = JSON.object(of: ["name": name.map { .string($0) }, "uid": uid.map { .string($0) }])
        return Record(key: path, version: etag, value: value.text, content: content)
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(AddressBooks.self, Contacts.self, to: module)
}
