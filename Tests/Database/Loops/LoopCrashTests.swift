import Model
import TestSupport
import Testing

@testable import Database

@Suite("A host that ends while a turn is being committed")
struct LoopCrashTests {
    @Test("L13, L31: wherever a host ends, the event id and what is cached belong together")
    func anywhere() throws {
        try withTemporaryFolder { (folder) throws in
            let path = folder + "/larder.db"
            let database = try Database.open(path: path)
            _ = try database.writeBlocking { try $0.loops.enrol(workLoop, plugin: calendarLoops) }
            var from: String?
            for turn in 1...3 {
                try database.writeBlocking { (tx) throws in
                    let changes = (0..<30).map { number in
                        let content = "turn \(turn) " + String(repeating: "x", count: number * 300)
                        return RecordChange.put(object("\(number)", content, etag: "\(turn)"), in: workObjects)
                    }
                    let value = PluginValue(key: [0], value: [UInt8(turn)])
                    _ = try tx.turn(from: from, to: "\(turn)", changes, values: [value])
                }
                from = "\(turn)"
            }
            // The log is tried as it was at many moments: cut behind each of its frames and in the middle of frames.
            let log = try Files.read(path + "-wal")
            let frame = 24 + 4096
            var seen: Set<String> = []
            for end in stride(from: 32, through: log.count, by: frame).flatMap({ [$0, $0 + 2000] })
            where end <= log.count {
                let copy = "\(folder)/\(end)"
                try Files.write(try Files.read(path), to: copy)
                try Files.write(log.prefix(end), to: copy + "-wal")
                let found = try Database.open(path: copy)
                try found.readBlocking { (reads) throws in
                    let id = try reads.loops.eventID(of: workLoop)?.text ?? ""
                    seen.insert(id)
                    let value = try reads.plugins.value(of: calendarLoops, key: [0])
                    #expect(value == UInt8(id).map { [$0] })
                    var count = 0
                    try reads.records.each(in: workObjects) { record in
                        count += 1
                        #expect(record.version == id)
                        #expect(
                            record.content.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("turn \(id) ") == true
                        )
                        return true
                    }
                    #expect(count == (id.isEmpty ? 0 : 30))
                }
                try found.close()
                for suffix in ["", "-wal", "-shm"] { Files.remove(copy + suffix) }
            }
            #expect(seen == ["", "1", "2", "3"])
        }
    }
}
