import Model
import Testing

@testable import Connection

/// What a server has made of a change, as far as it can be known.
struct ChangeConfirmationTests {
    private let fine = WritingManners(server: "Apache", isFamily: false, isModDav: true)
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
        let new = UploadRequest(base: .new, size: 5, checksums: [ours])
        let changed = UploadRequest(base: .version(v1), size: 5, checksums: [ours])
        for request in [new, changed] {
            #expect(ChangeConfirmation.ofUpload(request, shown: held(5, v2, [ours]), manners: fine) == .made)
            #expect(ChangeConfirmation.ofUpload(request, shown: held(5, v2, [theirs]), manners: fine) == .foreign)
            // Without a version nothing could be said of it later.
            #expect(ChangeConfirmation.ofUpload(request, shown: held(5, nil, [ours]), manners: fine) == .unproven)
            // A checksum that the server was told says nothing of what it kept.
            #expect(ChangeConfirmation.ofUpload(request, shown: held(3, v2, [ours]), manners: fine) == .foreign)
            // Another algorithm proves nothing.
            #expect(
                ChangeConfirmation.ofUpload(request, shown: held(5, v2, [ContentChecksum(.md5, [])]), manners: fine)
                    == .unproven)
        }
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(5, v1, [theirs]), manners: fine) == .undone)
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(5, v1, [ours]), manners: fine) == .made)
    }

    @Test("S10: without a checksum an equal size is compared, another size is the base or somebody else's")
    func sizes() {
        let new = UploadRequest(base: .new, size: 5)
        #expect(ChangeConfirmation.ofUpload(new, shown: nil, manners: fine) == .undone)
        #expect(ChangeConfirmation.ofUpload(new, shown: held(5, v2), manners: fine) == .unproven)
        #expect(ChangeConfirmation.ofUpload(new, shown: held(4, v2), manners: fine) == .foreign)
        #expect(ChangeConfirmation.ofUpload(new, shown: held(5, v2, kind: .folder), manners: fine) == .foreign)
        let changed = UploadRequest(base: .version(v1), size: 5)
        #expect(ChangeConfirmation.ofUpload(changed, shown: nil, manners: fine) == .foreign)
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(9, v1), manners: fine) == .undone)
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(5, v1), manners: fine) == .undone)
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(5, v2), manners: fine) == .unproven)
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(9, v2), manners: fine) == .foreign)
    }

    @Test("S10: where a version is told by size and second, an equal one may be another content")
    func coarse() {
        let wsgidav = WritingManners(server: "WsgiDAV/4.4", isFamily: false)
        let changed = UploadRequest(base: .version(v1), size: 5)
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(5, v1), manners: wsgidav) == .unproven)
        #expect(ChangeConfirmation.ofUpload(changed, shown: held(6, v1), manners: wsgidav) == .undone)
        let substitute = ETag.substitute(size: 5, lastModified: Timestamp(seconds: 1))
        let other = UploadRequest(base: .version(substitute), size: 5)
        #expect(ChangeConfirmation.ofUpload(other, shown: held(5, substitute), manners: fine) == .unproven)
    }

    @Test(
        "S35: a checksum in the answer is certain; an ETag is, with the size that was sent; what differs is somebody's")
    func answered() {
        let request = UploadRequest(base: .version(v1), size: 5, checksums: [ours])
        func decide(_ answer: WriteAnswer, _ held: HeldItem?) -> ChangeConfirmation {
            .ofUpload(request, answer: answer, shown: held)
        }
        let proven = WriteAnswer(status: 204, etag: v2, checksums: [ours])
        #expect(ChangeConfirmation.ofUpload(request, answer: proven) == .made)
        for answer in [
            WriteAnswer(status: 204, etag: v2), WriteAnswer(status: 204, checksums: [ours]),
            WriteAnswer(status: 204, etag: v2, checksums: [theirs]),
            WriteAnswer(status: 204, etag: ETag(opaque: "v2", strength: .weak), checksums: [ours]),
        ] {
            #expect(ChangeConfirmation.ofUpload(request, answer: answer) == nil)
        }
        let (silent, told) = (WriteAnswer(status: 204, fileID: FileID("7")), WriteAnswer(status: 204, etag: v2))
        #expect(decide(silent, held(5, v2, [ours])) == .made)
        for other in [held(5, v2, [theirs]), held(6, v2), held(5, v2, kind: .folder), held(5, nil)] {
            #expect(decide(silent, other) == .foreign && decide(told, other) == .foreign)
        }
        // The server has the version before, or nothing yet, though it has taken all.
        #expect(decide(silent, nil) == .undone && decide(silent, held(9, v1)) == .undone)
        #expect(decide(told, held(9, v1)) == .undone)
        #expect(decide(WriteAnswer(status: 204, etag: v1), held(9, v1)) == .foreign)
        #expect(decide(told, held(5, v2)) == .made && decide(told, held(500, v2)) == .foreign)
        let weak = WriteAnswer(status: 204, etag: ETag(opaque: "v2", strength: .weak))
        let later = held(5, ETag(opaque: "v3", strength: .strong))
        #expect(decide(weak, held(5, v2)) == .made && decide(weak, later) == .foreign)
        #expect(decide(told, later) == .unproven && decide(told, held(nil, v2)) == .unproven)
    }

    @Test("S35: without both, only a new version of the server's time between request and answer is certain")
    func dates() {
        let date = Timestamp(seconds: 1_000)
        let answer = WriteAnswer(status: 204, date: date, took: .seconds(10))
        let request = UploadRequest(base: .version(v1), size: 5)
        for (modified, isCertain) in [(988, false), (989, true), (1_000, true), (1_001, false)] {
            let item = held(5, v2, modified: Timestamp(seconds: Int64(modified)))
            let confirmation = ChangeConfirmation.ofUpload(request, answer: answer, shown: item)
            #expect(confirmation == (isCertain ? .made : .unproven), "\(modified)")
        }
        // The answer is dated by the beginning of the request, and the question by its own.
        for (modified, gap, isCertain) in [(1_009, 0.5, true), (1_010, 0.5, false), (1_009, 1.5, false)] {
            var item = held(5, v2, modified: Timestamp(seconds: Int64(modified)))
            item.date = Timestamp(seconds: 1_009)
            let confirmation = ChangeConfirmation.ofUpload(
                request, answer: answer, shown: item, gap: .seconds(gap))
            #expect((confirmation == .made) == isCertain, "\(modified) \(gap)")
        }
        for item in [held(5, v1, modified: date), held(5, v2), held(nil, v2, modified: date)] {
            #expect(ChangeConfirmation.ofUpload(request, answer: answer, shown: item) == .unproven)
        }
        // A server that takes the file's own date over lists that one.
        let own = Timestamp(seconds: 7)
        let dated = UploadRequest(base: .version(v1), size: 5, modified: own)
        let took = WriteAnswer(status: 204, date: date, tookModified: true)
        #expect(ChangeConfirmation.ofUpload(dated, answer: took, shown: held(5, v2, modified: own)) == .made)
        #expect(ChangeConfirmation.ofUpload(dated, answer: took, shown: held(5, v2, modified: date)) == .unproven)
    }

    // MARK: Copies and moves

    private func tree(_ entries: [String: Int64?], etag: String? = nil, id: String? = nil) -> ServerTree {
        var tree = ServerTree(path("/t"))
        for (name, size) in entries {
            let place = name.isEmpty ? path("/t") : path("/t/\(name)")
            tree.add(
                ListedItem(
                    path: place, kind: size == nil ? .folder : .file,
                    fileID: name.isEmpty ? id.map { FileID($0) } : nil,
                    size: size))
        }
        return tree
    }

    @Test("S49 S40: a copy is made only if the target's tree is the source's, and its contents have been compared")
    func copies() {
        let source = tree(["": nil, "a": 3, "b": 4, "sub": nil])
        func decide(_ target: ServerTree?, _ wasFree: Bool?) -> ChangeConfirmation {
            .ofCopy(of: source, shown: target, wasFree: wasFree)
        }
        for wasFree in [true, false, nil] {
            #expect(decide(nil, wasFree) == .undone)
            #expect(decide(source, wasFree) == .unproven)
            #expect(decide(tree(["": nil, "a": 3, "b": 5, "sub": nil]), wasFree) == .foreign)
            #expect(decide(tree(["": nil, "a": 3, "b": 4, "sub": nil, "c": 1]), wasFree) == .foreign)
            #expect(decide(tree(["": nil, "a": nil]), wasFree) == .foreign)
            #expect(decide(tree(["": 7]), wasFree) == .foreign)
        }
        for part in [["": nil], ["": nil, "a": 3], ["": nil, "a": 3, "b": 1, "sub": nil]] as [[String: Int64?]] {
            #expect(decide(tree(part), true) == .partly)
            #expect(decide(tree(part), false) == .foreign && decide(tree(part), nil) == .foreign)
        }
        let folders = tree(["": nil, "sub": nil])
        #expect(ChangeConfirmation.ofCopy(of: folders, shown: folders, wasFree: true) == .made)
        #expect(ChangeConfirmation.ofCopy(of: nil, shown: source, wasFree: true) == .partly)
        #expect(ChangeConfirmation.ofCopy(of: nil, shown: source, wasFree: false) == .foreign)
        // What no listing shows may be missing, or may be somebody's.
        var hiding = folders
        hiding.isWhole = false
        #expect(ChangeConfirmation.ofCopy(of: folders, shown: hiding, wasFree: true) == .unproven)
        #expect(ChangeConfirmation.ofCopy(of: hiding, shown: folders, wasFree: true) == .unproven)
    }

    @Test("S49 S50: what was seen is the same again only with its versions, and with what no listing shows")
    func summaries() {
        func tree(_ etag: String) -> ServerTree {
            var tree = ServerTree(path("/t"))
            tree.add(
                ListedItem(path: path("/t"), kind: .file, etag: ETag(opaque: etag, strength: .strong), size: 3))
            return tree
        }
        let seen = tree("v1")
        var (calendar, hiding) = (seen, seen)
        calendar.unlisted = [path("/t/cal")]
        hiding.isWhole = false
        #expect(tree("v1").summary == seen.summary)
        #expect(Set([seen, tree("v2"), calendar, hiding].map(\.summary)).count == 4)
    }

    @Test("S49: a move is made only if the source is gone and all that was known of it is at the target")
    func moves() {
        let known = tree(["": nil, "a": 3, "b": 4])
        func decide(_ left: ServerTree?, _ target: ServerTree?, _ wasFree: Bool?) -> ChangeConfirmation {
            .ofMove(of: known, left: left, shown: target, wasFree: wasFree)
        }
        #expect(decide(known, nil, true) == .undone && decide(nil, nil, true) == .undone)
        #expect(decide(nil, known, true) == .made && decide(nil, known, nil) == .unproven)
        // What was never listed says nothing.
        #expect(decide(nil, tree(["": nil, "a": 3, "b": 4, "c": 1]), true) == .made)
        for target in [tree(["": nil, "a": 3]), tree(["": nil, "a": 3, "b": 1]), tree(["": nil, "a": 3, "b": 9])] {
            #expect(decide(nil, target, true) == .partly && decide(nil, target, nil) == .foreign)
        }
        #expect(decide(tree(["": nil, "b": 4]), tree(["": nil, "a": 3]), true) == .partly)
        #expect(decide(known, known, nil) == .foreign && decide(known, known, false) == .foreign)
        // The server's own id tells what was moved.
        let moved = tree(["": 3], id: "7")
        #expect(ChangeConfirmation.ofMove(of: moved, left: nil, shown: moved, wasFree: nil) == .made)
        let other = tree(["": 3], id: "8")
        #expect(ChangeConfirmation.ofMove(of: moved, left: nil, shown: other, wasFree: nil) == .unproven)
        // Another id is another item, which may have the same names and sizes.
        #expect(ChangeConfirmation.ofMove(of: moved, left: nil, shown: other, wasFree: true) == .unproven)
        // Whatever others do to it there, or put in the source's place.
        let (folder, less) = (tree(["": nil, "a": 3], id: "9"), tree(["": nil], id: "9"))
        #expect(ChangeConfirmation.ofMove(of: folder, left: nil, shown: less, wasFree: nil) == .made)
        let another = tree(["": nil, "a": 3], id: "10")
        #expect(ChangeConfirmation.ofMove(of: folder, left: another, shown: less, wasFree: nil) == .made)
        #expect(ChangeConfirmation.ofMove(of: folder, left: folder, shown: less, wasFree: true) == .partly)
    }
}
