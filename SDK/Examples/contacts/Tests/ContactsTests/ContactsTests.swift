import CLarder
import LarderFakeHost
import Testing

private let books = "org.example.address-books"
private let contacts = "org.example.contacts"
private let book = "/card/ada/friends/"
private let kept = contacts + "/" + book

/// The plugin in the fake host, and the server's answers.
private final class Fixture {
    let fake = larder_fake_open("out/contacts.so")

    init(_ id: String) throws {
        try #require(larder_fake_start(fake, id) == LARDER_OK)
        guard id == contacts else { return }
        // The record that means the loop, as the other plugin keeps it.
        var record = larder_record()
        record.struct_size = UInt32(MemoryLayout<larder_record>.size)
        record.key = larder_str_make(book, UInt64(book.utf8.count))
        larder_fake_put_record(fake, books, &record)
    }

    deinit { larder_fake_free(fake) }

    /// Adds an answer with these properties of paths. A path without any is gone.
    func answer(
        _ method: String, _ paths: KeyValuePairs<String, [String: String]>, at target: String = book,
        token: String? = nil
    ) {
        larder_fake_answer_dav(fake, method, target, 207)
        for (path, properties) in paths {
            larder_fake_response(fake, path, properties.isEmpty ? 404 : 200, nil)
            for (name, text) in properties { larder_fake_property(fake, name, text) }
        }
        larder_fake_end_dav(fake, token, 0, nil)
    }

    /// Answers a request for contacts.
    func answer(vCards names: String...) {
        larder_fake_answer_dav(fake, "REPORT", book, 207)
        for name in names {
            larder_fake_response(fake, book + name, 200, nil)
            larder_fake_property(
                fake, "{urn:ietf:params:xml:ns:carddav}address-data", "BEGIN:VCARD\nFN:\(name)\nEND:VCARD\n")
        }
    }

    func poll(_ loop: String = book) -> larder_status { larder_fake_poll(fake, loop) }

    func keys(in collection: String = kept) -> [String] {
        var keys: [String] = []
        while let record = larder_fake_record_at(fake, collection, keys.count) {
            let key = record.pointee.key
            keys.append(String(decoding: UnsafeRawBufferPointer(start: key.ptr, count: Int(key.len)), as: UTF8.self))
        }
        return keys
    }

    /// What the host would have refused, and the answers that nobody asked for.
    var mistakes: Int { larder_fake_count(fake, LARDER_FAKE_MISTAKE) + larder_fake_unasked(fake) }
}

private func etag(_ number: Int) -> [String: String] { ["{DAV:}getetag": "\"\(number)\""] }

private func types(_ name: String = "addressbook") -> [String: String] {
    ["{DAV:}resourcetype": "{DAV:}collection\n{urn:ietf:params:xml:ns:carddav}\(name)"]
}

@Test func keepsWhichBooksThereAre() throws {
    let fixture = try Fixture(books)
    // A server without address books is asked again a day later.
    #expect(fixture.poll(books) == LARDER_UNSUPPORTED)
    "/card/ada/".withCString { home in
        [home].withUnsafeBufferPointer { larder_fake_address_book_homes(fixture.fake, nil, $0.baseAddress, 1) }
    }
    let home = "/card/ada/"
    fixture.answer(
        "PROPFIND", [home: types("x"), book: types(), home + "work/": types(), home + "c/": types("c")], at: home)
    #expect(fixture.poll(books) == LARDER_OK)
    #expect(fixture.keys(in: books) == [book, home + "work/"])
    // An error, and a listing without the home itself, are not absence.
    larder_fake_answer_dav(fixture.fake, "PROPFIND", home, 500)
    fixture.answer("PROPFIND", [book: types()], at: home)
    #expect(fixture.poll(books) == LARDER_IO && fixture.poll(books) == LARDER_IO)
    #expect(fixture.keys(in: books).count == 2)
    fixture.answer("PROPFIND", [home: types("x"), book: types()], at: home)
    #expect(fixture.poll(books) == LARDER_OK)
    #expect(fixture.keys(in: books) == [book] && fixture.mistakes == 0)
}

@Test func followsTheChangesOfABook() throws {
    let fixture = try Fixture(contacts)
    func paths(_ names: String...) -> [String] { names.map { book + $0 } }
    let names = paths("a.vcf", "b.vcf", "c.vcf", "k.vcf")
    fixture.answer(
        "REPORT", [names[0]: etag(1), names[1]: etag(1), names[2]: etag(1), names[3]: etag(1)], token: "t1")
    fixture.answer(vCards: "a.vcf", "b.vcf", "c.vcf", "k.vcf")
    #expect(fixture.poll() == LARDER_OK && fixture.keys() == names)
    // One changes, one goes, and one that changed is gone before it is fetched.
    fixture.answer(
        "REPORT", [book + "a.vcf": etag(2), book + "b.vcf": [:], book + "c.vcf": etag(2)], token: "t2")
    fixture.answer(
        "REPORT", [book + "a.vcf": ["{urn:ietf:params:xml:ns:carddav}address-data": "x"], book + "c.vcf": [:]])
    #expect(fixture.poll() == LARDER_OK && fixture.keys() == paths("a.vcf", "k.vcf"))
    // The server no longer knows the token: everything is listed, and only what differs is fetched.
    larder_fake_answer_dav(fixture.fake, "REPORT", book, 403)
    larder_fake_end_dav(fixture.fake, nil, 0, "{DAV:}valid-sync-token")
    fixture.answer("REPORT", [book + "a.vcf": etag(2), book + "d.vcf": etag(1)], token: "t9")
    fixture.answer(vCards: "d.vcf")
    #expect(fixture.poll() == LARDER_OK && fixture.keys() == paths("a.vcf", "d.vcf"))
    // A server that fails takes nothing away.
    larder_fake_answer_dav(fixture.fake, "REPORT", book, 500)
    #expect(fixture.poll() == LARDER_IO && fixture.keys().count == 2 && fixture.mistakes == 0)
}

@Test func listsABookWhereTheServerTellsNoChanges() throws {
    let fixture = try Fixture(contacts)
    for (number, fetched) in [(1, ["a.vcf", "b.vcf"]), (1, []), (2, ["b.vcf"])] {
        if number == 1, !fetched.isEmpty { larder_fake_answer_dav(fixture.fake, "REPORT", book, 415) }
        fixture.answer("PROPFIND", [book: etag(0), book + "a.vcf": etag(1), book + "b.vcf": etag(number)])
        if fetched.count == 2 { fixture.answer(vCards: "a.vcf", "b.vcf") }
        if fetched.count == 1 { fixture.answer(vCards: "b.vcf") }
        #expect(fixture.poll() == LARDER_OK && fixture.keys().count == 2)
    }
    fixture.answer("PROPFIND", [book: etag(0), book + "a.vcf": etag(1)])
    #expect(fixture.poll() == LARDER_OK && fixture.keys() == [book + "a.vcf"] && fixture.mistakes == 0)
}

@Test func fetchesALargeBookInPages() throws {
    let fixture = try Fixture(contacts)
    let names = (100..<350).map { "\($0).vcf" }
    larder_fake_serve_with(
        fixture.fake,
        { context, method, target, body in
            guard let context else { return }
            let fake = OpaquePointer(context)
            let asked = String(cString: body)
            larder_fake_answer_dav(fake, method, target, 207)
            let isListing = !asked.contains("address-data")
            if isListing { larder_fake_response(fake, book, 200, nil) }
            for number in 100..<350 where isListing || asked.contains("/\(number).vcf<") {
                larder_fake_response(fake, "\(book)\(number).vcf", 200, nil)
                larder_fake_property(fake, "{DAV:}getetag", "\"1\"")
                larder_fake_property(fake, "{urn:ietf:params:xml:ns:carddav}address-data", "FN:\(number)\n")
            }
            larder_fake_end_dav(fake, isListing ? "t1" : nil, 0, nil)
        }, UnsafeMutableRawPointer(fixture.fake))
    #expect(fixture.poll() == LARDER_OK && larder_fake_has_more(fixture.fake) == 1)
    #expect(fixture.keys().count == 200)
    #expect(fixture.poll() == LARDER_OK && larder_fake_has_more(fixture.fake) == 0)
    #expect(fixture.keys() == names.map { book + $0 })
    // The contacts of the first page were not fetched again.
    let requests = larder_fake_count(fixture.fake, LARDER_FAKE_REQUEST)
    #expect(requests == 1 + 10 + 1 + 3 && fixture.mistakes == 0)
}
