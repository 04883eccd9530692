import Model
import TestSupport
import Testing

@testable import Connection

/// What an upload in parts that are put together does next, given what came.
struct ChunkUploadTests {
    private static let usual = ChunkUpload.usualPart

    private let uploads: ServerAddress

    init() throws { uploads = try ServerAddress("https://h/n/remote.php/dav/uploads/ada%40x/") }

    private func folder(_ partSize: Int64 = usual) -> ChunkFolder {
        ChunkFolder(in: uploads, id: "00ff", partSize: partSize)
    }

    private func created(size: Int64, _ partSize: Int64 = usual, offer: ChunkOffer = ChunkOffer()) -> ChunkUpload {
        var upload = ChunkUpload(size: size, offer: offer)
        upload.created(folder(partSize), 201)
        return upload
    }

    @Test("C6: parts go out in their order, then the base is asked for, and then they are put together")
    func whole() {
        var upload = ChunkUpload(size: 2 * Self.usual, offer: ChunkOffer())
        #expect(upload.next == .create(partSize: Self.usual))
        upload.created(folder(), 201)
        #expect(upload.next == .send(1, 0..<Self.usual))
        upload.sent(201)
        // The last part of an exact multiple is a whole one.
        #expect(upload.next == .send(2, Self.usual..<2 * Self.usual))
        upload.sent(204)
        #expect(upload.next == .checkBase)
        upload.baseHolds()
        #expect(upload.next == .assemble)
        upload.assembled()
        #expect(upload.next == .end(.decidedByAnswer))
        var one = created(size: 2 * Self.usual + 1)
        for _ in 1...2 { one.sent(201) }
        #expect(one.next == .send(3, 2 * Self.usual..<2 * Self.usual + 1))
    }

    @Test("C6: an upload that was begun sends only the parts that are not there as they are to be")
    func resumed() {
        let size = 3 * Self.usual + 5
        var upload = ChunkUpload(size: size, offer: ChunkOffer(), begun: folder())
        #expect(upload.next == .list(after: .zero))
        upload.listed([1: Self.usual, 2: Self.usual - 1, 4: 5])
        #expect(upload.next == .send(2, Self.usual..<2 * Self.usual))
        upload.sent(201)
        #expect(upload.next == .send(3, 2 * Self.usual..<3 * Self.usual))
        upload.sent(201)
        #expect(upload.next == .checkBase)
        // A folder that expired, and one with parts that are not this file's.
        for (sizes, isKept) in [(nil, false), ([1: Self.usual, 5: 5], true)] as [([Int: Int64]?, Bool)] {
            var other = ChunkUpload(size: size, offer: ChunkOffer(), begun: folder())
            other.listed(sizes)
            #expect(other.next == .create(partSize: Self.usual))
            let abandoned = other.takeAbandoned()
            #expect(abandoned == (isKept ? folder() : nil))
        }
        // One whose parts are larger than the server takes by now.
        var larger = ChunkUpload(size: size, offer: ChunkOffer(largestPart: 1 << 20), begun: folder())
        let abandoned = larger.takeAbandoned()
        #expect(larger.next == .create(partSize: 1 << 20) && abandoned == folder())
    }

    @Test("C6: parts are as the server wants them, smaller after 413, and never more than ten thousand")
    func sizes() {
        #expect(ChunkUpload(size: 1, offer: ChunkOffer(largestPart: 1 << 20)).next == .create(partSize: 1 << 20))
        let refused = ChunkUpload(size: 9 << 20, offer: ChunkOffer(), refusedBody: 4 << 20)
        #expect(refused.next == .create(partSize: 2 << 20))
        let large = ChunkUpload(size: 10_001 * Self.usual, offer: ChunkOffer())
        guard case .create(let partSize) = large.next else {
            Issue.record("\(large.next)")
            return
        }
        #expect((10_001 * Self.usual - 1) / partSize < 10_000 && partSize > Self.usual)
        #expect(
            ChunkUpload(size: 10_001 << 20, offer: ChunkOffer(largestPart: 1 << 20)).next
                == .end(.unusable(isLasting: false)))
        var upload = created(size: 2 * Self.usual)
        upload.sent(413)
        #expect(upload.next == .create(partSize: Self.usual / 2))
        let abandoned = upload.takeAbandoned()
        #expect(abandoned == folder())
        for _ in 0..<20 {
            guard case .create(let size) = upload.next else { break }
            upload.created(folder(size), 201)
            upload.sent(413)
        }
        #expect(upload.next == .end(.tooLarge))
    }

    @Test("C6: a part whose answer was lost is asked for, and a server that keeps none is given up")
    func lost() {
        var upload = created(size: 2 * Self.usual)
        upload.lost()
        #expect(upload.next == .list(after: .zero))
        upload.listed([1: Self.usual])
        #expect(upload.next == .send(2, Self.usual..<2 * Self.usual))
        // A portal's page says nothing.
        upload.sent(200, hasDocument: true)
        #expect(upload.next == .list(after: .zero))
        upload.listed([1: Self.usual])
        #expect(upload.next == .send(2, Self.usual..<2 * Self.usual))
        for _ in 0...ChunkUpload.mostStalls {
            upload.sent(500)
            upload.listed([1: Self.usual])
        }
        #expect(upload.next == .end(.stuck))
        var forgetful = created(size: 2 * Self.usual)
        for _ in 1..<ChunkUpload.mostCreations {
            forgetful.sent(404)
            #expect(forgetful.next == .create(partSize: Self.usual))
            forgetful.created(folder(), 201)
        }
        forgetful.sent(412)
        #expect(forgetful.next == .end(.forgotten))
    }

    @Test("C6: a server that does not do what it announces gets the file in one request")
    func unusable() {
        for status in [403, 404, 405, 409, 501] {
            var upload = ChunkUpload(size: 1, offer: ChunkOffer())
            upload.created(folder(), status)
            #expect(upload.next == .end(.unusable(isLasting: true)), "\(status)")
        }
        var full = created(size: 1)
        full.sent(507)
        #expect(full.next == .end(.decidedByAnswer))
    }

    @Test("C6: a folder's address says which bytes each part has, and no other address is taken for one")
    func addresses() throws {
        let folder = folder()
        #expect("\(folder.address)" == "https://h/n/remote.php/dav/uploads/ada%40x/larder-00ff-16777216")
        #expect("\(folder.part(7))".hasSuffix("/larder-00ff-16777216/00007"))
        #expect("\(folder.part(10_000))".hasSuffix("/10000") && "\(folder.whole)".hasSuffix("-16777216/.file"))
        #expect(ChunkFolder(folder.address, in: uploads) == folder)
        for other in [
            "https://h/data/tus/1", "https://other/n/remote.php/dav/uploads/ada%40x/larder-00ff-16777216",
            "https://h/n/remote.php/dav/uploads/bob/larder-00ff-16777216",
            "https://h/n/remote.php/dav/uploads/ada%40x/larder-00ff-0",
            "https://h/n/remote.php/dav/uploads/ada%40x/larder-00ff-16777216/1",
            "https://h/n/remote.php/dav/uploads/ada%40x/larder-00ff-99999999999999999999",
        ] {
            #expect(ChunkFolder(try ServerAddress(other), in: uploads) == nil, "\(other)")
        }
        let root = try ServerAddress("https://h/n/remote.php/dav/files/ada%40x/")
        #expect(ChunkFolder.uploads(of: root) == uploads)
        #expect(ChunkFolder.uploads(of: root.appending("Photos/")) == uploads)
        for other in ["https://h/remote.php/webdav/", "https://h/remote.php/dav/files/", "https://h/dav/files/ada/"] {
            #expect(ChunkFolder.uploads(of: try ServerAddress(other)) == nil, "\(other)")
        }
    }
}
