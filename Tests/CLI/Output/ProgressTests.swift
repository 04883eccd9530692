import Testing

@testable import larder

@Suite struct ProgressTests {
    @Test("H1: progress tells files, bytes, the rate of late and the time that is left")
    func line() {
        var progress = Progress()
        #expect(progress.line(width: 80) == nil)
        progress.add(.init(files: 0, allFiles: 10, bytes: 0, allBytes: 100_000_000), at: .seconds(1))
        #expect(progress.line(width: 80) == "0 of 10 files · 0 B of 100 MB")
        progress.add(.init(files: 1, allFiles: 10, bytes: 10_000_000, allBytes: 100_000_000), at: .seconds(2))
        #expect(progress.line(width: 80) == "1 of 10 files · 10 MB of 100 MB · 10 MB/s · 9 s left")
        #expect(progress.line(width: 11) == "1 of 10 fi")
        for second in 3...40 {
            progress.add(.init(files: 1, allFiles: 10, bytes: 10_000_000, allBytes: 100_000_000), at: .seconds(second))
        }
        #expect(progress.line(width: 80) == "1 of 10 files · 10 MB of 100 MB · 0 B/s")
        progress.add(.init(files: 10, allFiles: 10, bytes: 100_000_000, allBytes: 100_000_000), at: .seconds(41))
        #expect(progress.line(width: 80) == nil)
    }
}
