import CLarder
import FoundationEssentials
import LarderFakeHost

/// The event loops in the fake host.
extension PluginFixture {
    struct Kept: Hashable {
        var key: String
        var version: String
        var value: String
        var content: String?
    }

    struct Request: Hashable {
        var method: String
        var target: String
        var depth: UInt32
        var body: String
    }

    /// Makes one turn.
    @discardableResult func poll(_ loop: String) -> larder_status { larder_fake_poll(fake, loop) }

    /// Makes turns for as long as the last turn said that there is more.
    /// - Returns: the number of turns.
    @discardableResult func pollAll(_ loop: String, atMost most: Int = 100) -> Int {
        var turns = 0
        repeat {
            turns += 1
            guard poll(loop) == LARDER_OK else { break }
        } while larder_fake_has_more(fake) != 0 && turns < most
        return turns
    }

    func eventID(of loop: String) -> String? { larder_fake_event_id(fake, loop).map { String(cString: $0) } }

    func put(
        record key: String, in collection: String, version: String = "", value: String = "", content: String? = nil
    ) {
        withTexts(key, version, value, content ?? "") { key, version, value, content in
            var record = larder_record()
            record.struct_size = UInt32(MemoryLayout<larder_record>.size)
            (record.key, record.version, record.value) = (key, version, value)
            if content.len > 0 {
                let bytes = UnsafeRawPointer(content.ptr)?.assumingMemoryBound(to: UInt8.self)
                record.content = larder_bytes(ptr: bytes, len: content.len)
            }
            larder_fake_put_record(fake, collection, &record)
        }
    }

    func record(_ key: String, in collection: String) -> Kept? {
        larder_fake_record(fake, collection, key).map { Kept($0.pointee) }
    }

    func records(in collection: String) -> [Kept] {
        var found: [Kept] = []
        while let record = larder_fake_record_at(fake, collection, found.count) { found.append(Kept(record.pointee)) }
        return found
    }

    /// The calls of loops as `poll /ada/work/ 0`: the name, the loop, and the refresh bits or the error code.
    var loopCalls: [String] {
        entries(LARDER_FAKE_CALL) {
            "\(String(cString: $0.name)) \($0.id.map { String(cString: $0) } ?? "") \($0.number)"
        }
    }

    var requests: [Request] {
        entries(LARDER_FAKE_REQUEST) {
            Request(
                method: String(cString: $0.name), target: $0.path.map { String(cString: $0) } ?? "", depth: $0.number,
                body: $0.text.map { String(cString: $0) } ?? "")
        }
    }

    /// The changes of records that the plugin requested, as `put calendars//ada/work/ /ada/work/1.ics`.
    var recordsAsked: [String] {
        entries(LARDER_FAKE_RECORD) {
            [$0.name, $0.path, $0.id].compactMap { $0.map { String(cString: $0) } }.joined(separator: " ")
        }
    }

    private func withTexts(
        _ one: String, _ two: String, _ three: String, _ four: String,
        _ body: (larder_str, larder_str, larder_str, larder_str) -> Void
    ) {
        let texts = [one, two, three, four].map { Array($0.utf8CString) }
        texts[0].withUnsafeBufferPointer { a in
            texts[1].withUnsafeBufferPointer { b in
                texts[2].withUnsafeBufferPointer { c in
                    texts[3].withUnsafeBufferPointer { d in
                        func text(_ chars: UnsafeBufferPointer<CChar>) -> larder_str {
                            larder_str(ptr: chars.baseAddress, len: UInt64(chars.count - 1))
                        }
                        body(text(a), text(b), text(c), text(d))
                    }
                }
            }
        }
    }
}

extension PluginFixture.Kept {
    init(_ record: larder_record) {
        key = String(record.key)
        version = String(record.version)
        value = String(record.value)
        content =
            record.content.ptr.map {
                String(decoding: UnsafeBufferPointer(start: $0, count: Int(record.content.len)), as: UTF8.self)
            }
    }
}
