public import Model
import Transfer

/// Downloads of an account's files.
public struct Downloads: Sendable {
    let wire: Wire

    /// Returns the number of files that it helps to download at the same time, as far as is known. It changes.
    public func downloadsAtOnce(_ size: SizeClass) -> Int { wire.gate.limit(.download(size)) }

    /// The threads on which downloads arrive; empty if the transport has no such threads.
    ///
    /// A task that downloads and has one of these threads as its preferred executor takes the bytes on the thread on
    /// which they arrive, without a change of threads. The task may block on the disk there.
    public var downloadThreads: [any TaskExecutor] { wire.downloadThreads }

    /// Downloads a file, or the missing rest of one, into a sink (GET; RFC 9110).
    ///
    /// Compares the answer's ETag and length with the request, even if the server ignores the conditions of the
    /// request.
    /// - Throws: `ConnectionError`, or the error of the sink. The bytes that the sink has taken belong to the head's
    ///   version. An interrupted download can therefore go on after these bytes, unless the error is `versionChanged`.
    public func get(
        _ path: ItemPath, request: DownloadRequest = DownloadRequest(), into sink: some DownloadSink
    ) async throws -> DownloadSummary {
        try await get(path, request: request, after: nil, into: sink)
    }

    /// Downloads a file as ``get(_:request:into:)``, beginning with the answer to a request that was sent before.
    /// - Parameter first: The answer to a request for the whole file in the version of `request`; nil if none was sent.
    public func get(
        _ path: ItemPath, request: DownloadRequest, after first: FirstAnswer?, into sink: some DownloadSink
    ) async throws -> DownloadSummary {
        var request = request
        let address = try wire.root().address(of: path)
        var question = Question(
            method: "GET", timeLimit: wire.timeLimits.head, expected: .transfer, doing: "downloading \(path)")

        question.first = first
        let size = SizeClass(of: request.size)
        if first?.takeTurn() == true {
            question.turn = Turn(wire.gate, .smallDownload)
        } else {
            try await wire.enterGate(&question, .download(size))
        }
        defer { question.turn?.end() }
        question.headers = DownloadAnswer.conditions(of: request)
        var reply = try await wire.ask(question, at: address)
        if DownloadAnswer.beginsAnew(status: reply.answer.status, reply.answer.headers, to: request) {
            // The rest of a short answer is read, so that its connection can be used again.
            if reply.answer.status == 416 { _ = await reply.answer.beginning(atMost: 16_384) }
            request.offset = 0
            question.headers = DownloadAnswer.conditions(of: request)
            reply = try await wire.ask(question, at: address)
        }
        guard reply.answer.status == 200 || reply.answer.status == 206 else {
            throw await wire.error(for: &reply.answer, question, at: reply.address.origin)
        }
        let head = try DownloadAnswer.head(
            status: reply.answer.status, reply.answer.headers, to: request, wasRedirected: reply.wasRedirected,
            path: path)
        try sink.begin(head)
        let listed = head.size ?? request.size
        let received = try await pour(
            &reply.answer, question, at: address.origin, atMost: listed.map { $0 - head.offset }, of: path,
            in: SizeClass(of: listed), into: sink)
        try DownloadAnswer.check(received: received, against: head, request: request, path: path)
        return DownloadSummary(head: head, received: received)
    }

    /// Passes the body on to the sink. Collects small chunks first, because each write is a system call.
    /// - Parameter most: The number of bytes that belong to the file; nil if it is unknown. Reading stops at the first
    ///   byte beyond this number.
    /// - Parameter size: The class of the whole file.
    private func pour(
        _ answer: inout HTTPAnswer, _ question: Question, at origin: ServerAddress.Origin, atMost most: Int64?,
        of path: ItemPath, in size: SizeClass, into sink: some DownloadSink
    ) async throws -> Int64 {
        let enough = 65_536
        var received: Int64 = 0
        var waiting: [UInt8] = []
        while true {
            let chunk: [UInt8]?
            do throws(ConnectionError) {
                chunk = try await wire.nextChunk(of: &answer, question, at: origin)
            } catch {
                // The bytes before an interruption are kept: the next attempt goes on after them.
                try write(&waiting, to: sink)
                throw error
            }
            guard let chunk else { break }
            received += Int64(chunk.count)
            if size == .large { question.turn?.note(.transferred(chunk.count)) }
            if let most, received > most { throw DownloadAnswer.tooLong(path) }
            // Nothing is read meanwhile, so that the network holds back the rest.
            do throws(CancellationError) {
                try await wire.bandwidth.down.wait(for: chunk.count, of: size)
            } catch {
                try write(&waiting, to: sink)
                throw wire.cancelled(question)
            }
            // A larger block of memory would come from the system, and go back to it.
            if waiting.count + chunk.count > enough { try write(&waiting, to: sink) }
            if waiting.count == 0 { waiting = chunk } else { waiting += chunk }
            if waiting.count >= enough { try write(&waiting, to: sink) }
        }
        try write(&waiting, to: sink)
        return received
    }

    private func write(_ buffer: inout [UInt8], to sink: some DownloadSink) throws {
        guard buffer.count > 0 else { return }
        try buffer.withUnsafeBytes { try sink.write($0) }
        buffer = []
    }
}
