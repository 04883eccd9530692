import LarderSDK

/// Keeps which address books the account has: a record for each, whose key is the book's path on the server.
///
/// Each of these records means a loop of ``Contacts``, which begins when the record comes and ends when it goes.
struct AddressBooks: EventLoop {
    static let description = PluginDescription(
        id: "org.example.address-books", name: "Address books", version: "1.0.0",
        summary: "Keeps which address books the account has", required: [.discover, .dav, .records])
    /// The kind, the id of the only loop and the name of the collection: all are the plugin's id.
    static let kind = "org.example.address-books"
    static let settingsSchema: String? = interval

    private let discover: Host.Discover
    private let server: CardDAV
    private let records: Host.Records

    init(host: Host) throws(PluginError) {
        discover = try host.require(host.discover, .discover)
        server = CardDAV(dav: try host.require(host.dav, .dav))
        records = try host.require(host.records, .records)
    }

    /// Changes nothing: what it found is the page's content. The event id is a digest of it, so that the next poll sees
    /// whether anything is new. Nil: nothing is.
    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<[Record]?> {
        let (books, digest) = try list()
        return EventPage(eventID: digest, content: digest == eventID ? nil : books)
    }

    /// What is asked for here is committed with the page's event id.
    mutating func process(_ page: EventPage<[Record]?>, of loop: String) throws(PluginError) {
        guard let books = page.content else { return }
        var gone: Set<String> = []
        var kept = try records.all(in: Self.kind, [])
        while let record = try kept.next() { gone.insert(record.key) }
        for book in books {
            try records.put(book, in: Self.kind)
            gone.remove(book.key)
        }
        // With a book its loop goes, and with that the book's contacts.
        for path in gone { try records.remove(path, from: Self.kind) }
    }

    /// For a loop that knows nothing yet.
    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
        let (books, digest) = try list()
        try process(EventPage(eventID: digest, content: books), of: loop)
        return Anchor(eventID: digest)
    }

    /// Lists the books of all homes. A server without address books is no error: `addressBookHomes` throws
    /// `.unsupported`, and the host asks the loop again a day later.
    private func list() throws(PluginError) -> (books: [Record], digest: String) {
        var books: [Record] = []
        for home in try discover.addressBookHomes().homes { books += try server.books(in: home) }
        books.sort { $0.key < $1.key }
        var digest = Digest()
        for book in books {
            digest.add(book.key)
            digest.add(book.value)
        }
        return (books, digest.text)
    }
}

/// The settings of both plugins: how long a loop waits between two polls.
let interval = """
    {"properties": {"interval": {"type": "string", "format": "duration", "default": "5m", \
    "heeded-as": "poll-interval", "description": "the time between two polls"}}}
    """
