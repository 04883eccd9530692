import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import Connection

/// Uploads over the network: what is sent of a file, and when a request ends.
@Suite(.serialized) struct UploadStreamTests {
    private static let bytes = [UInt8](repeating: 7, count: 20_000_000)
    /// More than the buffers of both sockets take of what nobody reads.
    private static let buffered: Int64 = 2_000_000

    private func running(
        slowest: Int64 = 1_000, limits: TimeLimits = TimeLimits(), bandwidth: Bandwidth = Bandwidth(),
        _ onPut: @escaping @Sendable (RawServer.Upload) -> Void,
        _ body: (RawServer, Connection) async throws -> Void
    ) async throws {
        try await RawServer.running(onPut) { server in
            let connection = Connection(
                bookmark: .at(server.url), credentials: .basic(username: "ada", password: "x"),
                limits: Limits(slowest: slowest), bandwidth: bandwidth, clock: .system, logger: Logger(label: "test"),
                timeLimits: limits)
            try await closing(connection) {
                _ = try await connection.connect()
                try await body(server, connection)
            }
        }
    }

    private func put(
        _ connection: Connection, _ source: MemorySource = MemorySource(bytes),
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> WriteOutcome {
        try await connection.writes.put(
            path("/a"), UploadRequest(base: .new, size: source.size), from: source, progress: progress)
    }

    @Test("a large file arrives whole, read piece by piece, and its progress is told")
    func whole() async throws {
        let came = Mutex<(Int, Int)>((0, 0))
        try await running { upload in
            let count = upload.read(upload.length)
            came.withLock { $0 = (upload.length, count) }
            upload.answer("HTTP/1.1 201 Created\r\nETag: \"e\"\r\nContent-Length: 4\r\n\r\ndone")
        } _: { server, connection in
            let told = Mutex<[Int64]>([])
            let outcome = try await put(connection) { count in told.withLock { $0.append(count) } }
            guard case .done(let answer) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(answer.etag == ETag(field: "\"e\"") && server.puts == 1)
            #expect(came.withLock { $0.0 == 20_000_000 && $0.1 == 20_000_000 })
            let progress = told.withLock { $0 }
            #expect(progress.first == 0 && progress.last == 20_000_000 && progress == progress.sorted())
            #expect(progress.count > 100)
        }
    }

    @Test("a small file goes out as one piece when there is bandwidth, and not at all if it changed or is cancelled")
    func small() async throws {
        let bandwidth = Bandwidth(BandwidthLimits(up: 1))
        let bytes = Array(Self.bytes.prefix(Int(UploadBody.largestSmall)))
        try await running(bandwidth: bandwidth) { upload in
            let isWhole = upload.read(upload.length) == bytes.count && upload.length == bytes.count
            upload.answer("HTTP/1.1 \(isWhole ? 201 : 500) Done\r\nETag: \"e\"\r\nContent-Length: 4\r\n\r\ndone")
        } _: { server, connection in
            for change in [MemorySource.Change.shorter, .changed, .failing] {
                let source = MemorySource(bytes, change, after: 1_000)
                let error = await #expect(throws: ConnectionError.self) { try await put(connection, source) }
                #expect(error?.isOfSource == true, "\(change)")
            }
            let cancelled = Task { try await put(connection, MemorySource(bytes)) }
            await until { bandwidth.up.waiting == 1 }
            cancelled.cancel()
            let error = await #expect(throws: ConnectionError.self) { try await cancelled.value }
            #expect(error?.kind == .cancelled && bandwidth.up.waiting == 0 && server.puts == 0)

            let told = Mutex<[Int64]>([])
            let upload = Task {
                try await put(connection, MemorySource(bytes)) { count in told.withLock { $0.append(count) } }
            }
            await until { bandwidth.up.waiting == 1 }
            bandwidth.setLimits(BandwidthLimits())
            guard case .done(let answer) = try await upload.value else {
                Issue.record("it is not done")
                return
            }
            #expect(answer.etag == ETag(field: "\"e\""))
            #expect(told.withLock { $0 } == [0, Int64(bytes.count)] && server.puts == 1)
        }
    }

    @Test("C12: a server that takes no bytes gets no more, and ends the request at the least pace; it may have arrived")
    func stalled() async throws {
        let gate = Gate()
        var limits = TimeLimits()
        limits.pacePeriod = .milliseconds(300)
        try await running(limits: limits) { _ in
            gate.passOnThread()
        } _: { server, connection in
            let source = MemorySource(Self.bytes)
            let error = await #expect(throws: ConnectionError.self) { try await put(connection, source) }
            #expect(error?.kind == .unreachable && error?.isTimeout == true && error?.mayHaveArrived == true)
            #expect(error?.message.contains("took only") == true)
            #expect(source.read < Self.buffered)
            #expect(source.readsUnderWay == 0 && server.puts == 1)
            gate.open()
        }
    }

    @Test("a server that has taken the whole file and does not answer ends the request after the time for an answer")
    func silent() async throws {
        let gate = Gate()
        var limits = TimeLimits()
        limits.head = .milliseconds(300)
        try await running(limits: limits) { upload in
            _ = upload.read(upload.length)
            gate.passOnThread()
        } _: { _, connection in
            let error = await #expect(throws: ConnectionError.self) {
                try await put(connection, MemorySource("abc"))
            }
            #expect(error?.isTimeout == true && error?.mayHaveArrived == true)
            #expect(error?.message.contains("took too long to answer") == true)
            gate.open()
        }
    }

    @Test(
        "S10: what was sent on a kept connection that is closed without an answer is not sent again",
        arguments: [3, 70_000], [false, true])
    func keptConnection(_ size: Int, isGone: Bool) async throws {
        try await running { upload in
            _ = upload.read(upload.length)
            // The library connects anew before it would send the request again.
            if isGone { upload.refuseOthers() }
        } _: { server, connection in
            let error = await #expect(throws: ConnectionError.self) {
                try await put(connection, MemorySource(Array(repeating: 7, count: size)))
            }
            #expect(error?.isClosed == true && error?.mayHaveArrived == true && server.puts == 1)
        }
    }

    @Test("a refusal that comes before the whole file is heard, with its document, and no more is sent")
    func early() async throws {
        let gate = Gate()
        let document = "<D:error xmlns:D=\"DAV:\"><D:owner>Grace</D:owner></D:error>"
        try await running { upload in
            _ = upload.read(100_000)
            upload.answer("HTTP/1.1 423 Locked\r\nContent-Length: \(document.utf8.count)\r\n\r\n\(document)")
            gate.passOnThread()
        } _: { server, connection in
            let source = MemorySource(Self.bytes)
            let outcome = try await put(connection, source)
            #expect(outcome == .refused(.locked(owner: "Grace")))
            #expect(source.read < Self.buffered)
            #expect(source.readsUnderWay == 0 && server.puts == 1)
            gate.open()
        }
    }

    @Test(
        "S10: a connection that closes in the middle, or before the answer, is a lost answer, and nothing is sent again"
    )
    func closed() async throws {
        for isWhole in [false, true] {
            try await running { upload in
                _ = upload.read(isWhole ? upload.length : 1_000_000)
            } _: { server, connection in
                let error = await #expect(throws: ConnectionError.self) { try await put(connection) }
                #expect(error?.kind == .unreachable && error?.isClosed == true && error?.mayHaveArrived == true)
                #expect(server.puts == 1)
            }
        }
    }

    @Test("a file that becomes shorter, or has changed at its end, never arrives whole")
    func source() async throws {
        for change in [MemorySource.Change.shorter, .changed, .failing] {
            let came = Mutex<Int?>(nil)
            let ended = Gate()
            try await running { upload in
                let count = upload.read(upload.length)
                came.withLock { $0 = count }
                ended.open()
            } _: { _, connection in
                let source = MemorySource(Self.bytes, change, after: 5_000_000)
                let error = await #expect(throws: ConnectionError.self) { try await put(connection, source) }
                #expect(error?.isOfSource == true && error?.mayHaveArrived == true, "\(change)")
                await ended.pass()
                let count = try #require(came.withLock { $0 })
                #expect(count < 20_000_000, "\(change)")
            }
        }
    }

    @Test("S37: an upload waits for bandwidth as long as it takes, is not too slow meanwhile, and then arrives whole")
    func bandwidth() async throws {
        let bandwidth = Bandwidth()
        // Fits into the sockets' buffers, so the speed at which the server reads does not matter.
        let bytes = Array(Self.bytes.prefix(100_000))
        let gate = Gate()
        var limits = TimeLimits()
        limits.pacePeriod = .milliseconds(500)
        try await running(slowest: 1, limits: limits, bandwidth: bandwidth) { upload in
            let count = upload.read(upload.length)
            upload.answer("HTTP/1.1 \(count == bytes.count ? 201 : 500) Done\r\nContent-Length: 0\r\n\r\n")
        } _: { server, connection in
            let isLimited = Mutex(false)
            let upload = Task {
                try await put(connection, MemorySource(bytes)) { count in
                    guard count > 0, !isLimited.withLock({ exchange(&$0, with: true) }) else { return }
                    bandwidth.setLimits(BandwidthLimits(up: 1))
                }
            }
            await until { bandwidth.up.waiting == 1 }
            // In this time two others were found to be slow.
            try await running(limits: limits) { _ in
                gate.passOnThread()
            } _: { _, other in
                for _ in 0..<2 {
                    let error = await #expect(throws: ConnectionError.self) { try await put(other) }
                    #expect(error?.isTimeout == true)
                }
                gate.open()
            }
            #expect(bandwidth.up.waiting == 1)
            bandwidth.setLimits(BandwidthLimits())
            guard case .done = try await upload.value else {
                Issue.record("it is not done")
                return
            }
            #expect(server.puts == 1)
        }
    }

    @Test("S37: an upload that waits for bandwidth ends at once if it is cancelled or refused, and waits no more")
    func bandwidthNoMore() async throws {
        for isRefused in [false, true] {
            let bandwidth = Bandwidth(BandwidthLimits(up: 1))
            let (waits, end) = (Gate(), Gate())
            try await running(bandwidth: bandwidth) { upload in
                waits.passOnThread()
                if isRefused { upload.answer("HTTP/1.1 423 Locked\r\nContent-Length: 0\r\n\r\n") }
                end.passOnThread()
            } _: { _, connection in
                let source = MemorySource(Self.bytes)
                let upload = Task { try await put(connection, source) }
                await until { bandwidth.up.waiting == 1 }
                waits.open()
                if isRefused {
                    let outcome = try await upload.value
                    #expect(outcome == .refused(.locked(owner: nil)))
                } else {
                    upload.cancel()
                    let error = await #expect(throws: ConnectionError.self) { try await upload.value }
                    #expect(error?.kind == .cancelled)
                }
                #expect(bandwidth.up.waiting == 0 && source.readsUnderWay == 0)
                end.open()
            }
        }
    }

    @Test("an upload that is cancelled ends, and its file is no longer read")
    func cancelled() async throws {
        let gate = Gate()
        try await running { _ in
            gate.passOnThread()
        } _: { _, connection in
            let source = MemorySource(Self.bytes)
            let begun = Gate()
            let task = Task {
                try await put(connection, source) { count in if count > 0 { begun.open() } }
            }
            await begun.pass()
            task.cancel()
            let error = await #expect(throws: ConnectionError.self) { try await task.value }
            #expect(error?.kind == .cancelled && error?.mayHaveArrived == true && source.readsUnderWay == 0)
            gate.open()
        }
    }
}
