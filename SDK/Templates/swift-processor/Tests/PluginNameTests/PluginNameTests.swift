import CLarder
import LarderFakeHost
import Testing

/// Returns a text for the fake host.
private func text(_ text: StaticString) -> larder_str {
    larder_str(
        ptr: UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self), len: UInt64(text.utf8CodeUnitCount))
}

private func put(_ fake: OpaquePointer, _ id: StaticString, favorite: UInt32) {
    var item = larder_item()
    item.struct_size = UInt32(MemoryLayout<larder_item>.size)
    item.present = 1 << UInt64(LARDER_FIELD_LOCAL_ID) | 1 << UInt64(LARDER_FIELD_FAVORITE)
    item.local_id = text(id)
    item.favorite = favorite
    larder_fake_put_item(fake, &item)
}

@Test func keepsFavorites() throws {
    let fake = larder_fake_open("out/plugin-name.so")
    defer { larder_fake_free(fake) }
    put(fake, "8f31", favorite: 1)
    put(fake, "5f21", favorite: 0)
    try #require(larder_fake_start(fake, "org.example.plugin-name") == LARDER_OK)
    #expect(larder_fake_run(fake, LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED, nil, 0) == LARDER_OK)
    #expect(larder_fake_count(fake, LARDER_FAKE_ACTION) == 1)
    let action = try #require(larder_fake_entry_at(fake, LARDER_FAKE_ACTION, 0))
    #expect(String(cString: action.pointee.name) == "download")
    #expect(action.pointee.id.map { String(cString: $0) } == "8f31")
    // A call of the host that it would refuse.
    #expect(larder_fake_count(fake, LARDER_FAKE_MISTAKE) == 0)
}
