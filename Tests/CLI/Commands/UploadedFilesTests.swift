import Glibc
import Model
import TestSupport
import Testing

@testable import larder

@Suite struct UploadedFilesTests {
    @Test("S40: an entry of a folder whose name is no UTF-8 is named by its bytes, and the folder comes without it")
    func names() throws {
        let folder = TemporaryFolder()
        let mine = folder.path + "/mine"
        try Files.makeFolder(mine)
        let name = Array("\(mine)/caf".utf8) + [0xe9, 0x0a, 0x5c, 0]
        let descriptor = open(name.map { CChar(bitPattern: $0) }, O_CREAT, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
        var files = try #require(UploadedFiles(folder: mine, to: try ItemPath("/d"), withSHA1: false))
        let bookmark = Bookmark(
            name: "home", url: "https://h/", username: "ada", vault: folder.path + "/v", files: folder.path + "/v/files"
        )
        let batch = files.next(100, 1 << 20, for: bookmark, replaces: false)
        #expect(batch.changes.count == 1 && batch.failures.map(\.kind) == [.badData])
        #expect(batch.failures.first?.message.hasPrefix(#"\#(mine)/caf\xe9\x0a\x5c was not uploaded"#) == true)
    }
}
