import Model
import Testing

@testable import Connection

/// What a server holds after an upload, as far as it can be known.
struct UploadProofTests {
    private let fine = WritingManners(server: "Apache", isFamily: false)
    private let v1 = ETag(opaque: "v1", strength: .strong)
    private let v2 = ETag(opaque: "v2", strength: .strong)
    private let ours = ContentChecksum(.sha1, [UInt8](repeating: 1, count: 20))
    private let theirs = ContentChecksum(.sha1, [UInt8](repeating: 2, count: 20))

    private func held(
        _ size: Int64?, _ etag: ETag?, _ checksums: [ContentChecksum] = [], kind: Item.Kind = .file,
        modified: Timestamp? = nil
    ) -> HeldItem {
        HeldItem(
            item: ListedItem(path: path("/a"), kind: kind, etag: etag, size: size, lastModified: modified),
            checksums: checksums)
    }

    @Test("S10: an equal checksum is the uploaded file, and another one is never")
    func checksums() {
        let new = UploadProof(UploadRequest(base: .new, size: 5, checksums: [ours]))
        let changed = UploadProof(UploadRequest(base: .version(v1), size: 5, checksums: [ours]))
        for proof in [new, changed] {
            #expect(proof.finding(held(5, v2, [ours]), manners: fine) == .ours(v2))
            #expect(proof.finding(held(5, v2, [theirs]), manners: fine) == .other)
            // Another algorithm proves nothing.
            #expect(proof.finding(held(5, v2, [ContentChecksum(.md5, [])]), manners: fine) == .unknown)
        }
        #expect(changed.finding(held(5, v1, [theirs]), manners: fine) == .base)
        #expect(changed.finding(held(5, v1, [ours]), manners: fine) == .ours(v1))
    }

    @Test("S10: without a checksum an equal size is compared, another size is the base or somebody else's")
    func sizes() {
        let new = UploadProof(UploadRequest(base: .new, size: 5))
        #expect(new.finding(nil, manners: fine) == .base)
        #expect(new.finding(held(5, v2), manners: fine) == .unknown)
        #expect(new.finding(held(4, v2), manners: fine) == .other)
        #expect(new.finding(held(5, v2, kind: .folder), manners: fine) == .other)
        let changed = UploadProof(UploadRequest(base: .version(v1), size: 5))
        #expect(changed.finding(nil, manners: fine) == .other)
        #expect(changed.finding(held(9, v1), manners: fine) == .base)
        #expect(changed.finding(held(5, v1), manners: fine) == .base)
        #expect(changed.finding(held(5, v2), manners: fine) == .unknown)
        #expect(changed.finding(held(9, v2), manners: fine) == .other)
    }

    @Test("S10: where a version is told by size and second, an equal one may be another content")
    func coarse() {
        let wsgidav = WritingManners(server: "WsgiDAV/4.4", isFamily: false)
        let changed = UploadProof(UploadRequest(base: .version(v1), size: 5))
        #expect(changed.finding(held(5, v1), manners: wsgidav) == .unknown)
        #expect(changed.finding(held(6, v1), manners: wsgidav) == .base)
        let substitute = ETag.substitute(size: 5, lastModified: Timestamp(seconds: 1))
        let other = UploadProof(UploadRequest(base: .version(substitute), size: 5))
        #expect(other.finding(held(5, substitute), manners: fine) == .unknown)
    }

    @Test("S35: a strong ETag in the answer, or an equal checksum, is certain; what differs is somebody else's")
    func confirmation() {
        let request = UploadRequest(base: .version(v1), size: 5, checksums: [ours])
        #expect(UploadConfirmation.decide(WriteAnswer(status: 204, etag: v2)) == .certain(v2, fileID: nil))
        let weak = ETag(opaque: "v2", strength: .weak)
        #expect(UploadConfirmation.decide(WriteAnswer(status: 204, etag: weak)) == nil)
        let silent = WriteAnswer(status: 204, fileID: FileID("7"))
        #expect(
            UploadConfirmation.decide(held(5, v2, [ours]), after: silent, to: request)
                == .certain(v2, fileID: FileID("7")))
        for other in [held(5, v2, [theirs]), held(6, v2), held(5, v2, kind: .folder), held(5, nil), nil] {
            #expect(UploadConfirmation.decide(other, after: silent, to: request) == .other(other))
        }
        let told = WriteAnswer(status: 204, etag: weak)
        #expect(UploadConfirmation.decide(held(5, v2), after: told, to: request) == .certain(v2, fileID: nil))
        let later = held(5, ETag(opaque: "v3", strength: .strong))
        #expect(UploadConfirmation.decide(later, after: told, to: request) == .other(later))
    }

    @Test("S35: without both, only a new version of the server's time between request and answer is certain")
    func dates() {
        let date = Timestamp(seconds: 1_000)
        let answer = WriteAnswer(status: 204, date: date, took: .seconds(10))
        let request = UploadRequest(base: .version(v1), size: 5)
        for (modified, isCertain) in [(988, false), (989, true), (1_000, true), (1_001, false)] {
            let item = held(5, v2, modified: Timestamp(seconds: Int64(modified)))
            #expect(
                UploadConfirmation.decide(item, after: answer, to: request)
                    == (isCertain ? .certain(v2, fileID: nil) : .uncertain(item)), "\(modified)")
        }
        // The answer is dated by the beginning of the request, and the question by its own.
        for (modified, gap, isCertain) in [(1_009, 0.5, true), (1_010, 0.5, false), (1_009, 1.5, false)] {
            var item = held(5, v2, modified: Timestamp(seconds: Int64(modified)))
            item.date = Timestamp(seconds: 1_009)
            let confirmation = UploadConfirmation.decide(item, after: answer, to: request, gap: .seconds(gap))
            #expect((confirmation == .certain(v2, fileID: nil)) == isCertain, "\(modified) \(gap)")
        }
        let same = held(5, v1, modified: date)
        #expect(UploadConfirmation.decide(same, after: answer, to: request) == .uncertain(same))
        let undated = held(5, v2)
        #expect(UploadConfirmation.decide(undated, after: answer, to: request) == .uncertain(undated))
        let unsized = held(nil, v2, modified: date)
        #expect(UploadConfirmation.decide(unsized, after: answer, to: request) == .uncertain(unsized))
        // A server that takes the file's own date over lists that one.
        let own = Timestamp(seconds: 7)
        let dated = UploadRequest(base: .version(v1), size: 5, modified: own)
        let took = WriteAnswer(status: 204, date: date, tookModified: true)
        #expect(
            UploadConfirmation.decide(held(5, v2, modified: own), after: took, to: dated) == .certain(v2, fileID: nil))
        let other = held(5, v2, modified: date)
        #expect(UploadConfirmation.decide(other, after: took, to: dated) == .uncertain(other))
    }
}
