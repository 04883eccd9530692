import CLarder
import LarderFakeHost
import Testing

private let id = "org.example.plugin-name"
private let feed = "/apps/plugin-name/since/"

@Test func keepsWhatIsNew() throws {
    let fake = larder_fake_open("out/plugin-name.so")
    defer { larder_fake_free(fake) }
    try #require(larder_fake_start(fake, id) == LARDER_OK)
    func eventID() -> String? { larder_fake_event_id(fake, id).map { String(cString: $0) } }
    func has(_ key: String) -> Bool { larder_fake_record(fake, id, key) != nil }

    // The first turn knows nothing, and fetches everything.
    larder_fake_answer(fake, "GET", feed + "0", 200, #"{"newest": "7", "items": [{"id": "a"}, {"id": "b"}]}"#)
    #expect(larder_fake_poll(fake, id) == LARDER_OK)
    #expect(eventID() == "7" && has("a") && has("b"))
    larder_fake_answer(fake, "GET", feed + "7", 200, #"{"newest": "8", "items": [{"id": "c"}]}"#)
    #expect(larder_fake_poll(fake, id) == LARDER_OK)
    #expect(eventID() == "8" && has("c"))

    // A server that fails takes nothing away.
    larder_fake_answer(fake, "GET", feed + "8", 500, nil)
    #expect(larder_fake_poll(fake, id) == LARDER_IO)
    larder_fake_answer(fake, "GET", feed + "8", 200, "{}")
    #expect(larder_fake_poll(fake, id) == LARDER_IO)
    #expect(eventID() == "8" && has("a") && has("c"))

    // One that has none is asked again a day later.
    larder_fake_answer(fake, "GET", feed + "8", 404, nil)
    #expect(larder_fake_poll(fake, id) == LARDER_UNSUPPORTED)
    // A call of the host that it would refuse.
    #expect(larder_fake_count(fake, LARDER_FAKE_MISTAKE) == 0)
}
