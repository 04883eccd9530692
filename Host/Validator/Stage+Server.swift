import CLarder
import FakeHost
import LarderFakeHost
import Model
import PluginHost

extension Stage {
    /// The answers of the server to everything that a plugin asks.
    enum Server: CaseIterable {
        /// An answer that makes sense to most: an empty one.
        case empty
        case timeOut, serverError, notFound, cutOff, huge, redirect, cancelled, nonsense
        /// The last one: it takes memory away from the process.
        case endless

        /// The answers as words, for messages.
        var text: String {
            switch self {
            case .empty: "a server that answers with nothing"
            case .timeOut: "a server that does not answer in time"
            case .serverError: "a server that answers with 500"
            case .notFound: "a server that answers with 404"
            case .cutOff: "a server whose answers are cut off"
            case .huge: "a server that answers with 100 MB"
            case .endless: "a server whose answer does not end before the host cancels it, with 1 GiB of memory"
            case .redirect: "a server that answers with a redirect"
            case .cancelled: "requests that are cancelled"
            case .nonsense: "a server whose answers make no sense"
            }
        }
    }

    /// The key of the record of a loop that is there for records.
    static let loopKey = "/ada/one/"

    /// The ids of the plugin's loops on the stage.
    var loops: [String] {
        guard let offer = access.loops else { return [] }
        return offer.collection == nil ? [offer.kind.text] : [Self.loopKey]
    }

    /// Makes one turn of each loop.
    /// - Returns: The status of the last turn.
    @discardableResult
    func poll() -> larder_status { loops.reduce(LARDER_OK) { larder_fake_poll(fake, $1) } }

    /// Puts what loops need on the stage: homes, a record for each loop, and a server that answers.
    func putAnswers() {
        guard let offer = access.loops else { return answer(as: .empty) }
        if let collection = offer.collection?.text {
            with([Self.loopKey, "1", "{}"]) { texts in
                var record = larder_record()
                record.struct_size = UInt32(MemoryLayout<larder_record>.size)
                (record.key, record.version, record.value) = (texts[0], texts[1], texts[2])
                larder_fake_put_record(fake, collection, &record)
            }
        }
        "/ada/".withCString { home in
            var homes = [home]
            homes.withUnsafeMutableBufferPointer {
                let first = UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: UnsafePointer<CChar>.self)
                larder_fake_homes(fake, "/principals/ada/", first, 1)
                larder_fake_address_book_homes(fake, "/principals/ada/", first, 1)
            }
        }
        larder_fake_files_home(fake, "/files/ada/")
        answer(as: .empty)
    }

    /// Lets the server answer in a way from now on.
    func answer(as server: Server) {
        access.forgetAnswers()
        // The stage owns the fake host.
        access.serve { [fake, access] method, target, _ in
            // An answer for the other kind of request may be left of the last one.
            access.forgetAnswers()
            for isDAV in [false, true] {
                if isDAV {
                    larder_fake_answer_dav(fake, method, target, server.davStatus)
                    Self.putResponses(server, target, fake)
                } else {
                    larder_fake_answer(fake, method, target, server.status, nil)
                    Self.putBody(server, fake)
                    if server == .endless { access.repeatParts(2_048) }
                }
                switch server {
                case .timeOut: larder_fake_fail_request(fake, LARDER_IO)
                case .cancelled: larder_fake_fail_request(fake, LARDER_CANCELLED)
                case .cutOff: larder_fake_break_answer(fake, LARDER_IO)
                case .endless: larder_fake_break_answer(fake, LARDER_CANCELLED)
                case .redirect: larder_fake_answer_header(fake, "Location", "https://elsewhere.example/")
                default: break
                }
            }
        }
    }

    private static func putResponses(_ server: Server, _ target: String, _ fake: OpaquePointer) {
        guard server.davStatus == 207 else { return }
        let count = server == .huge ? 100_000 : server == .empty ? 0 : 3
        for number in 0..<count {
            let href = server == .nonsense ? ["", "//", "%ff%00", "/elsewhere"][number % 4] : "\(target)\(number).ics"
            larder_fake_response(fake, href, server == .nonsense ? 999 : 200, nil)
            larder_fake_property(fake, "{DAV:}getetag", server == .nonsense ? "" : "\"\(number)\"")
            if server == .nonsense { larder_fake_property(fake, "{}", "\u{FFFD}") }
        }
        larder_fake_end_dav(fake, server == .nonsense ? "" : "token-1", 0, nil)
    }

    private static func putBody(_ server: Server, _ fake: OpaquePointer) {
        func put(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { larder_fake_answer_chunk(fake, $0.baseAddress!, $0.count) }
        }
        switch server {
        case .huge, .endless:
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<(server == .huge ? 100 : 1) { put(piece) }
        case .nonsense: put([0xff, 0xfe, 0x00, 0x7b, 0x22])
        case .cutOff: put(Array(#"{"a": [1, 2"#.utf8))
        case .empty: put(Array("{}".utf8))
        default: break
        }
    }
}

extension Stage.Server {
    fileprivate var status: UInt32 {
        switch self {
        case .serverError: 500
        case .notFound: 404
        case .redirect: 302
        default: 200
        }
    }

    fileprivate var davStatus: UInt32 {
        switch self {
        case .serverError: 500
        case .notFound: 404
        case .redirect: 302
        default: 207
        }
    }
}
