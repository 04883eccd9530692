import Model
import TestSupport
import Testing
import Transfer

@testable import Connection

/// What a resumable upload does next, given what came.
struct TusUploadTests {
    private static let size: Int64 = 40 << 20
    private static let part = TusUpload.largestPart

    private let folder: ServerAddress
    private let address: ServerAddress

    init() throws {
        folder = try ServerAddress("https://h/remote.php/dav/files/ada/f/")
        address = try ServerAddress("https://h/data/tus/1")
    }

    private func offer(part: Int64? = nil, most: Int64? = nil, checks: Bool = false) throws -> TusOffer {
        var offer = try #require(TusOffer(["Tus-Version": "1.0.0", "Tus-Extension": "creation"]))
        (offer.largestPart, offer.largestUpload, offer.checks) = (part, most, checks)
        return offer
    }

    private func course(
        size: Int64 = size, part: Int64? = nil, checks: Bool = false, begun: Bool = false
    ) throws -> TusUpload {
        TusUpload(size: size, offer: try offer(part: part, checks: checks), begun: begun ? address : nil)
    }

    /// Returns the course of an upload that was created.
    private func created(size: Int64 = size, part: Int64? = nil, checks: Bool = false) throws -> TusUpload {
        var upload = try course(size: size, part: part, checks: checks)
        upload.created(TusAnswer(status: 201, location: "/data/tus/1"), at: folder)
        return upload
    }

    private func send(_ range: Range<Int64>, hasChecksum: Bool = false) -> TusUpload.Step {
        .send(range, hasChecksum: hasChecksum)
    }

    private let ask = TusUpload.Step.askOffset(after: .zero)

    @Test(
        "C6: an upload is created, sent part by part, and ends with the last byte, before which the base is asked for")
    func whole() throws {
        var upload = try course()
        #expect(upload.next == .create)
        upload.created(TusAnswer(status: 201, location: "/data/tus/1"), at: folder)
        #expect(upload.address == address && upload.next == send(0..<Self.part))
        upload.sent(0..<Self.part, TusAnswer(status: 204, offset: Self.part))
        #expect(upload.next == send(Self.part..<2 * Self.part))
        upload.sent(Self.part..<2 * Self.part, TusAnswer(status: 204, offset: 2 * Self.part))
        #expect(upload.next == .checkBase)
        upload.baseHolds()
        #expect(upload.next == send(2 * Self.part..<Self.size))
        upload.sent(2 * Self.part..<Self.size, TusAnswer(status: 204, offset: Self.size))
        let abandoned = upload.takeAbandoned()
        #expect(upload.next == .end(.done) && abandoned == nil)
    }

    @Test("C6: an upload that was begun before goes on at the offset that the server tells")
    func resumed() throws {
        var upload = try course(begun: true)
        #expect(upload.next == ask)
        upload.told(TusAnswer(status: 200, offset: 5, length: Self.size))
        #expect(upload.next == send(5..<5 + Self.part))
        // Whatever the server knows, its last byte is not sent before the base was asked for.
        var almost = try course(begun: true)
        almost.told(TusAnswer(status: 204, offset: Self.size - 1))
        #expect(almost.next == .checkBase)
    }

    @Test("C6: an upload that expired, or that the server does not know or let in, begins anew, but not for ever")
    func forgotten() throws {
        for status in [401, 403, 404, 410] {
            var upload = try course(begun: true)
            upload.told(TusAnswer(status: status))
            let abandoned = upload.takeAbandoned()
            #expect(upload.next == .create && abandoned == nil, "\(status)")
            for number in 1...TusUpload.mostCreations {
                upload.created(TusAnswer(status: 201, location: "/data/tus/\(number)"), at: folder)
                upload.sent(0..<Self.part, TusAnswer(status: status))
            }
            #expect(upload.next == .end(.forgotten), "\(status)")
        }
    }

    @Test("C6: an offset that cannot be is not believed: the upload is dropped and begun anew")
    func oddOffsets() throws {
        let odd: [TusAnswer] = [
            TusAnswer(status: 200), TusAnswer(status: 200, offset: Self.size + 1),
            TusAnswer(status: 200, offset: 1 << 60), TusAnswer(status: 200, offset: 3, length: Self.size - 1),
        ]
        for answer in odd {
            var upload = try course(begun: true)
            upload.told(answer)
            let (abandoned, again) = (upload.takeAbandoned(), upload.takeAbandoned())
            #expect(upload.next == .create && abandoned == address && again == nil, "\(answer)")
        }
        // What is complete may become the file later, and is not sent again.
        var complete = try course(begun: true)
        complete.told(TusAnswer(status: 200, offset: Self.size))
        let dropped = complete.takeAbandoned()
        #expect(complete.next == .end(.done) && dropped == nil)
        // More than was ever sent.
        var upload = try created()
        upload.lost(0..<Self.part)
        #expect(upload.next == ask)
        upload.told(TusAnswer(status: 200, offset: Self.part + 1))
        let abandoned = upload.takeAbandoned()
        #expect(upload.next == .create && abandoned == address)
        for text in ["", "-1", "1e9", "12x", "99999999999999999999999", "0x10", " 5"] {
            #expect(TusAnswer(status: 200, ["Upload-Offset": text]).offset == nil, "\(text)")
        }
        #expect(TusAnswer(status: 200, ["Upload-Offset": "0042"]).offset == 42)
    }

    @Test("C6: after an answer to a part that names no offset, or one that cannot be, the server is asked for it")
    func oddAnswers() throws {
        for offset in [nil, 0, -1, Self.part + 1, 17, .max] as [Int64?] {
            var upload = try created()
            upload.sent(0..<Self.part, TusAnswer(status: 204, offset: offset))
            #expect(upload.next == ask, "\(offset ?? -2)")
        }
        // The server took less than it got.
        var upload = try created()
        upload.sent(0..<Self.part, TusAnswer(status: 204, offset: 100_000))
        #expect(upload.next == send(100_000..<100_000 + Self.part))
        // What the server lost again is sent again.
        upload.lost(100_000..<100_000 + Self.part)
        upload.told(TusAnswer(status: 200, offset: 50_000))
        #expect(upload.next == send(50_000..<50_000 + Self.part))
        // The last part may end without an offset.
        var last = try created(size: 1 << 20)
        #expect(last.next == .checkBase)
        last.baseHolds()
        last.sent(0..<1 << 20, TusAnswer(status: 204))
        #expect(last.next == .end(.done))
        // A last part of which something is missing is no end, and the base is asked for anew.
        var less = try created(size: 1 << 20)
        less.baseHolds()
        less.sent(0..<1 << 20, TusAnswer(status: 204, offset: 1 << 19))
        #expect(less.next == .checkBase)
    }

    @Test("C6: an offset that does not grow ends the attempt, and one that grows never does")
    func stuck() throws {
        var upload = try created()
        for _ in 0..<TusUpload.mostStalls {
            upload.sent(0..<Self.part, TusAnswer(status: 409))
            #expect(upload.next == ask)
            upload.told(TusAnswer(status: 200, offset: 0))
            #expect(upload.next == send(0..<Self.part))
        }
        upload.sent(0..<Self.part, TusAnswer(status: 409))
        upload.told(TusAnswer(status: 200, offset: 0))
        #expect(upload.next == .end(.stuck))

        var slow = try created()
        for number in 1...100 as ClosedRange<Int64> {
            let from = (number - 1) * TusUpload.leastGain
            slow.lost(from..<from + Self.part)
            slow.told(TusAnswer(status: 200, offset: number * TusUpload.leastGain))
            #expect(slow.next == send(number * TusUpload.leastGain..<number * TusUpload.leastGain + Self.part))
        }
    }

    @Test("C6: parts are as large as the server takes them, and 0 means any size")
    func sizes() throws {
        #expect(try created(part: 1_000_000).next == send(0..<1_000_000))
        for part in [nil, Int64.max, 1 << 60] as [Int64?] {
            #expect(try created(part: part).next == send(0..<Self.part))
        }
        let support = try #require(Self.support(#"{"max_chunk_size":0,"http_method_override":""}"#))
        var offer = try offer()
        offer.limit(by: support)
        #expect(offer.largestPart == nil && !offer.sendsPatchAsPost)
        // A server that takes only crumbs, or no file of this size, gets it in one request.
        #expect(try course(part: 100).next == .end(.unusable(isLasting: false)))
        let small = TusUpload(size: Self.size, offer: try self.offer(most: Self.size - 1))
        #expect(small.next == .end(.unusable(isLasting: false)))
        #expect(TusUpload(size: Self.size, offer: try self.offer(most: Self.size)).next == .create)
        // The largest file there is.
        #expect(try created(size: 1 << 60).next == send(0..<Self.part))

        var refused = try created()
        var part = Self.part
        while part >= TusUpload.leastPart {
            #expect(refused.next == send(0..<part))
            refused.sent(0..<part, TusAnswer(status: 413))
            part /= 2
            guard part >= TusUpload.leastPart else { break }
            refused.told(TusAnswer(status: 200, offset: 0))
        }
        #expect(refused.next == .end(.refused(.tooLarge)))
    }

    @Test("C6: a part whose checksum differs is sent again, then without one; after that the file is refused")
    func checksums() throws {
        for status in [460, 400] {
            var upload = try created(checks: true)
            for hasChecksum in [true, true] {
                #expect(upload.next == send(0..<Self.part, hasChecksum: hasChecksum))
                upload.sent(0..<Self.part, TusAnswer(status: status))
                upload.told(TusAnswer(status: 200, offset: 0))
            }
            #expect(upload.next == send(0..<Self.part))
            upload.sent(0..<Self.part, TusAnswer(status: status))
            #expect(upload.next == .end(status == 460 ? .refused(.checksumDiffers) : .decidedByAnswer))
        }
    }

    @Test(
        "C6: an upload that a broken request still holds is asked for after pauses, and then waits as a locked file does"
    )
    func locked() throws {
        var upload = try course(begun: true)
        for pause in TusUpload.pauses {
            upload.told(TusAnswer(status: 423))
            #expect(upload.next == .askOffset(after: pause))
        }
        upload.told(TusAnswer(status: 423))
        #expect(upload.next == .end(.refused(.locked(owner: nil))))
    }

    @Test("C6: a server that does not do what it announces gets the file in one request")
    func unusable() throws {
        for (status, isLasting) in [(405, true), (501, true), (404, false), (412, false)] {
            var upload = try course()
            upload.created(TusAnswer(status: status), at: folder)
            #expect(upload.next == .end(.unusable(isLasting: isLasting)), "\(status)")
        }
        for location in [nil, "", "gopher://x", "https://a b/"] as [String?] {
            var upload = try course()
            upload.created(TusAnswer(status: 201, location: location), at: folder)
            #expect(upload.next == .end(.unusable(isLasting: true)), "\(location ?? "none")")
        }
        var upload = try created()
        var answer = TusAnswer(status: 412)
        answer.speaksVersion = false
        upload.sent(0..<Self.part, answer)
        #expect(upload.next == .end(.unusable(isLasting: true)))
        #expect(!TusAnswer(status: 412, ["Tus-Version": "0.2.2"]).speaksVersion)
        #expect(TusAnswer(status: 412, ["Tus-Version": "0.2.2, 1.0.0"]).speaksVersion)
        var head = try course(begun: true)
        head.told(TusAnswer(status: 405))
        #expect(head.next == .end(.unusable(isLasting: true)))
    }

    @Test("C6: the address of an upload is relative to the folder, or whole, but never on another server")
    func locations() throws {
        for (location, expected) in [
            ("/data/tus/1", "https://h/data/tus/1"), ("https://h/data/1?t=2", "https://h/data/1?t=2"),
            ("../1", "https://h/remote.php/dav/files/ada/1"), ("//h/x", "https://h/x"),
            ("https://H:443/x", "https://h/x"),
        ] {
            var upload = try course()
            upload.created(TusAnswer(status: 201, location: location), at: folder)
            #expect(upload.address == (try ServerAddress(expected)), "\(location)")
        }
        for location in ["https://other/x", "http://h/x", "https://h:8443/x", "//other/x"] {
            var upload = try course()
            upload.created(TusAnswer(status: 201, location: location), at: folder)
            #expect(upload.next == .end(.elsewhere) && upload.address == nil, "\(location)")
        }
    }

    @Test(
        "C6: what a server refuses is refused as a PUT is; what it cannot do now is an error, or tried again if it may be"
    )
    func refused() throws {
        for status in [400, 403, 409, 413, 423, 503, 507] {
            var upload = try course()
            upload.created(TusAnswer(status: status), at: folder)
            #expect(upload.next == .end(.decidedByAnswer), "\(status)")
        }
        for status in [207, 412, 415, 418, 429, 503, 507] {
            var upload = try created()
            upload.sent(0..<Self.part, TusAnswer(status: status))
            #expect(upload.next == .end(.decidedByAnswer), "\(status)")
        }
        for status in [500, 502, 504] {
            var upload = try created()
            upload.sent(0..<Self.part, TusAnswer(status: status))
            #expect(upload.next == ask, "\(status)")
            // After the last part the file itself is to be asked for.
            var last = try created(size: 1 << 20)
            last.baseHolds()
            last.sent(0..<1 << 20, TusAnswer(status: status))
            #expect(last.next == .end(.decidedByAnswer), "\(status)")
        }
    }

    @Test("C6: random answers never have more sent than there is, and always come to an end")
    func randomAnswers() {
        var random = SeededGenerator()
        for round in 0..<SeededGenerator.rounds(usually: 2_000) {
            guard Self.ends(&random) else {
                Issue.record("LARDER_TEST_SEED=\(random.seed), round \(round)")
                return
            }
        }
    }

    /// Runs a course with random answers.
    /// - Returns: Whether it came to an end, and kept to the file.
    private static func ends(_ random: inout SeededGenerator) -> Bool {
        guard var offer = TusOffer(["Tus-Version": "1.0.0", "Tus-Extension": "creation"]),
            let folder = try? ServerAddress("https://h/f/")
        else { return false }
        offer.checks = Bool.random(using: &random)
        let size = Int64.random(in: 1...200 << 20, using: &random)
        let begun = Bool.random(using: &random) ? folder : nil
        var upload = TusUpload(size: size, offer: offer, begun: begun)
        let statuses = [200, 201, 204, 204, 204, 204, 400, 403, 404, 409, 410, 412, 413, 423, 460, 500, 503]
        var mostSent: Int64 = 0
        for _ in 0..<10_000 {
            var answer = TusAnswer(status: statuses.randomElement(using: &random) ?? 204)
            switch upload.next {
            case .create:
                answer.location = "/u"
                upload.created(answer, at: folder)
            case .askOffset:
                answer.offset =
                    [nil, mostSent, Int64.random(in: 0...size + 5, using: &random)].randomElement(
                        using: &random) ?? nil
                upload.told(answer)
            case .checkBase: upload.baseHolds()
            case .send(let range, _):
                guard range.lowerBound >= 0, range.upperBound <= size, !range.isEmpty else { return false }
                mostSent = range.upperBound
                answer.offset =
                    [nil, range.upperBound, range.upperBound, Int64.random(in: 0...size + 5, using: &random)]
                    .randomElement(using: &random) ?? nil
                if Int.random(in: 0..<4, using: &random) == 0, range.upperBound < size {
                    upload.lost(range)
                } else {
                    upload.sent(range, answer)
                }
            case .end: return true
            }
        }
        return false
    }

    // MARK: What is offered

    private static func support(_ tus: String) -> TusSupport? {
        TusSupport(json: Array(#"{"ocs":{"data":{"capabilities":{"files":{"tus_support":\#(tus)}}}}}"#.utf8))
    }

    @Test(
        "C6: resumable uploads are offered by fields or capabilities that name the version and the creation of uploads")
    func offers() throws {
        let whole: HTTPHeaders = [
            "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0,0.2.2", "Tus-Max-Size": "1073741824",
            "Tus-Extension": "creation, Checksum,termination", "Tus-Checksum-Algorithm": "md5,SHA1",
        ]
        let offer = try #require(TusOffer(whole))
        #expect(offer.terminates && offer.checks && offer.largestUpload == 1 << 30 && offer.largestPart == nil)
        let other = try #require(
            TusOffer([
                "Tus-Resumable": "1.0.0", "Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": "md5",
                "Tus-Max-Size": "many",
            ]))
        #expect(!other.terminates && !other.checks && other.largestUpload == nil)
        for headers in [
            [:], ["Tus-Version": "0.2.2", "Tus-Extension": "creation"], ["Tus-Version": "1.0.0"],
            ["Tus-Version": "1.0.0", "Tus-Extension": "creation-with-upload"],
        ] as [HTTPHeaders] { #expect(TusOffer(headers) == nil) }

        let told = #"{"version":"1.0.0","resumable":"1.0.0","extension":"creation,creation-with-upload","#
        var knowledge = TusKnowledge()
        #expect(knowledge.offer == nil)
        knowledge.support = Self.support(told + #""max_chunk_size":10000000,"http_method_override":"POST"}"#)
        #expect(knowledge.offer?.largestPart == 10_000_000 && knowledge.offer?.sendsPatchAsPost == true)
        knowledge.announced = offer
        #expect(knowledge.offer?.checks == true && knowledge.offer?.largestPart == 10_000_000)
        knowledge.isRefused = true
        #expect(knowledge.offer == nil)
        knowledge.forget()
        #expect(knowledge.offer == offer && knowledge.support == nil)
        for odd in [
            told + #""max_chunk_size":"10"}"#, told + #""max_chunk_size":1e40}"#, "[]", "null", "{", "7",
        ] { #expect(Self.support(odd).flatMap { TusOffer($0) } == nil, "\(odd)") }
        // What cannot be read of it does not make the other capabilities unreadable.
        let document = #"{"ocs":{"data":{"capabilities":{"core":{"pollinterval":5000},"files":{"tus_support":7}}}}}"#
        #expect(Capabilities(json: Array(document.utf8))?.wishMilliseconds == 5_000)
        for size in ["0", "-5"] {
            let limits = try #require(Self.support(told + #""max_chunk_size":\#(size)}"#))
            #expect(TusOffer(limits)?.largestPart == nil)
        }
    }
}
