import Core
import Model
import Testing

@testable import larder

@Suite struct TransferRatesTests {
    private func transfer(_ id: Int64, _ bytes: Int64, of size: Int64?) -> TransferUnderWay {
        TransferUnderWay(.download, record: SyncRecordID(id), path: ItemPath(unchecked: "/\(id)"), bytes: bytes, size: size)
    }

    private func progress(_ bytes: Int64, files: Int = 0) -> TransferProgress {
        TransferProgress(filesDone: files, filesTotal: 2, bytesDone: bytes, bytesTotal: 10_000_000)
    }

    @Test("U10: each transfer has its rate of late and the time that is left, and so have all together")
    func rates() {
        var rates = TransferRates()
        rates.add(progress(0), [transfer(1, 0, of: 8_000_000), transfer(2, 0, of: nil)], at: .seconds(1))
        #expect(rates.total.rate == nil && rates.files.map(\.rate) == [nil, nil])
        rates.add(
            progress(3_000_000), [transfer(1, 2_000_000, of: 8_000_000), transfer(2, 1_000_000, of: nil)],
            at: .seconds(2))
        #expect(rates.total.rate == 3_000_000)
        #expect(rates.total.left?.components.seconds == 2)
        #expect(rates.files.map(\.rate) == [2_000_000, 1_000_000])
        #expect(rates.files.map(\.left) == [.seconds(3), nil])
        #expect(rates.line(width: 80) == "0 of 2 files · 3.0 MB of 10 MB · 3.0 MB/s · 2 s left")
        // A server that sends nothing any more.
        for second in 3...40 {
            rates.add(progress(3_000_000), [transfer(1, 2_000_000, of: 8_000_000)], at: .seconds(second))
        }
        #expect(rates.files.map(\.rate) == [0] && rates.files.map(\.left) == [nil] && rates.total.left == nil)
    }

    @Test("U10: a download that begins anew, and an account that was opened anew, are measured anew")
    func anew() {
        var rates = TransferRates()
        rates.add(progress(5_000_000), [transfer(1, 5_000_000, of: 8_000_000)], at: .seconds(1))
        rates.add(progress(6_000_000), [transfer(1, 6_000_000, of: 8_000_000)], at: .seconds(2))
        rates.add(progress(0), [transfer(1, 0, of: 8_000_000)], at: .seconds(3))
        #expect(rates.total.rate == nil && rates.files.map(\.rate) == [nil])
        rates.add(progress(.max), [transfer(1, .max, of: .max)], at: .seconds(4))
        rates.add(progress(.max), [], at: .seconds(4))
        #expect(rates.files.isEmpty)
    }
}
