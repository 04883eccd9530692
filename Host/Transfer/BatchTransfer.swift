import CCurl
import Synchronization

/// The requests of a batch of small files. Plain values: the texts lie in one block of bytes.
package struct BatchRequests: Sendable {
    /// What is done with the files.
    package enum Kind: Sendable {
        /// They are asked for (GET).
        case download
        /// They are sent (PUT).
        case upload
    }

    /// A part of the block.
    package struct TextRange: BitwiseCopyable, Sendable {
        package var start: Int32
        package var count: Int32

        package init(start: Int, count: Int) { (self.start, self.count) = (Int32(start), Int32(count)) }

        var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
    }

    /// A request.
    package struct Request: BitwiseCopyable, Sendable {
        /// The whole address, with a zero byte at its end.
        package var url: TextRange
        /// The strong ETag that is asked for, with its quotes. Of an upload: the header fields that are its own, each
        /// with a zero byte at its end.
        package var tag: TextRange
        /// The number of bytes that the file has.
        package var size: Int64

        package init(url: TextRange, tag: TextRange, size: Int64) { (self.url, self.tag, self.size) = (url, tag, size) }
    }

    package let kind: Kind
    package var requests: [Request] = []
    package var texts: [UInt8] = []
    /// The header fields of all requests, and the beginning of the id that each one gets.
    package var headers = HTTPHeaders()
    package var idPrefix = ""
    package var limits: AnswerLimits

    package init(_ kind: Kind, limits: AnswerLimits) { (self.kind, self.limits) = (kind, limits) }

    /// Adds bytes to the block.
    package mutating func append(_ bytes: some Sequence<UInt8>) -> TextRange {
        let start = texts.count
        texts.append(contentsOf: bytes)
        return TextRange(start: start, count: texts.count - start)
    }
}

/// The way in which a request of a batch has ended.
package enum BatchEnd {
    /// The whole file was taken.
    case complete
    /// The server has taken the whole file: an answer with the status 201 or 204.
    case made(AnswerHead, AnswerTime)
    /// The file could not be read, and nothing was sent.
    case unread
    /// An answer that is not ordinary, of which nothing was taken. Whoever takes it reads or cancels it.
    case answer(Transfer)
    /// No answer.
    case failed(TransportError)
    /// An answer that was ordinary and ended early, or of which not all was taken.
    case brokenOff
}

/// Whether the request of a file of a batch may begin.
package enum BatchStart: Sendable {
    case now
    /// When the batch is told to go on.
    case later
    /// Not at all.
    case never
}

/// The one who wants the files of a batch taken or sent. All functions are called on the batch's thread, and may block
/// on the disk.
package protocol BatchReceiver: AnyObject, Sendable {
    /// Tells whether a file may be requested.
    func mayStart(_ file: Int) -> BatchStart
    /// Reads the whole of a file that is to be sent.
    /// - Returns: False if it cannot be read, or has another size.
    func read(_ file: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool
    /// Begins to take a file that comes in an ordinary answer.
    /// - Parameters:
    ///   - place: The number of the place at which the file comes: at each place one file comes after the other.
    ///   - sha1: The SHA-1 that the file must have; nil if the server does not tell one.
    /// - Returns: False if the answer must be treated as one that is not ordinary.
    func begin(_ file: Int, at place: Int, sha1: [UInt8]?) -> Bool
    /// Takes bytes.
    /// - Returns: False if no more can be taken.
    func take(_ bytes: UnsafeRawBufferPointer, of file: Int, at place: Int) -> Bool
    /// Notes how a request ended.
    func end(_ file: Int, at place: Int, _ end: BatchEnd)
    /// Notes that no request of the batch is under way any more.
    func ended()
}

/// The time of an answer.
package struct AnswerTime: Sendable {
    /// The time from the moment at which the request could be sent to the first byte.
    package var head: Duration
    /// The time from there to the end.
    package var body: Duration
}

/// The turns on the network that a batch's requests take. All functions may be called on any thread.
package struct BatchTurns: Sendable {
    /// Takes a turn, if there is one.
    package var take: @Sendable () -> Bool
    /// Gives a turn back. It gets the time of the request's answer; nil if there was no ordinary one.
    package var leave: @Sendable (AnswerTime?) -> Void
    /// Waits for a turn, takes it and calls the function.
    package var wait: @Sendable (@escaping @Sendable () -> Void) -> Void

    package init(
        take: @escaping @Sendable () -> Bool, leave: @escaping @Sendable (AnswerTime?) -> Void,
        wait: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) { (self.take, self.leave, self.wait) = (take, leave, wait) }
}

/// Requests of small files that one thread sends and takes without a task for each.
///
///     let batch = try client.start(requests, places: 8, turns, for: receiver)
///     batch.stop()
package final class BatchTransfer: @unchecked Sendable {
    private let client: TransferClient
    let thread: TransferThread
    let requests: BatchRequests
    private let turns: BatchTurns
    let receiver: any BatchReceiver

    // What follows is used on the thread alone.
    private var next = 0
    private let mostPlaces: Int
    private var idle: [BatchPlace] = []
    private var busy: [ObjectIdentifier: BatchPlace] = [:]
    private var madePlaces = 0
    private var isStopped = false
    private var hasEnded = false
    private var isBeginning = false
    private var waitsForTurn = false
    /// Whether the receiver has a place for no more files.
    private var waitsForPlace = false
    /// Whether a batch before this one has requests to begin.
    private var isBehind = false
    /// The batch that begins when this one has begun all of its requests.
    private var following: BatchTransfer?
    /// The header fields that all requests have.
    private var common: UnsafeMutablePointer<curl_slist>?

    init(
        _ client: TransferClient, _ requests: BatchRequests, places: Int, _ turns: BatchTurns,
        on thread: TransferThread,
        for receiver: any BatchReceiver
    ) {
        (self.client, self.requests, mostPlaces) = (client, requests, places)
        (self.turns, self.thread, self.receiver) = (turns, thread, receiver)
        for (name, value) in requests.headers { common = curl_slist_append(common, "\(name): \(value)") ?? common }
        // The library's own fields are left out.
        for name in ["Accept", "Expect"] { common = curl_slist_append(common, "\(name):") ?? common }
    }

    deinit { curl_slist_free_all(common) }

    var silence: Duration { client.settings.silence }

    /// Begins the requests.
    /// - Parameter earlier: A batch of the same thread that begins all of its requests first. The two would otherwise
    ///   take turns, each waiting for the other.
    func start(after earlier: BatchTransfer?) {
        thread.call { [self] in
            if let earlier, !earlier.hasBegunAll {
                earlier.following = self
                isBehind = true
            }
            beginMore()
        }
    }

    private var hasBegunAll: Bool { isStopped || next == requests.requests.count }

    /// Starts no more requests. Those under way go on.
    package func stop() {
        thread.call { [self] in
            isStopped = true
            beginMore()
        }
    }

    /// Begins requests that had to wait for the receiver.
    package func goOn() {
        thread.call { [self] in
            waitsForPlace = false
            beginMore()
        }
    }

    /// Begins requests for which there was no turn, after somebody else gave one back.
    package func tryTurn() { thread.call { [self] in beginMore() } }

    /// Ends the request of a file, if it is under way.
    package func end(_ file: Int) {
        thread.call { [self] in
            for place in busy.values where place.file == file { place.line?.end(place, .failure(.cancelled)) }
        }
    }

    /// Starts no more requests, and ends those under way.
    package func cancel() {
        thread.call { [self] in
            isStopped = true
            for place in busy.values { place.line?.end(place, .failure(.cancelled)) }
            beginMore()
        }
    }

    // MARK: On the thread

    /// Begins as many requests as may be under way.
    private func beginMore() {
        // A request that ends at once calls the function again.
        guard !isBeginning, !hasEnded else { return }
        isBeginning = true
        defer { isBeginning = false }
        while !hasBegunAll, !isBehind, busy.count < mostPlaces, !waitsForTurn, !waitsForPlace {
            guard turns.take() else {
                // The end of a request under way gives a turn back, and the next one begins then, or somebody calls
                // ``tryTurn()``. Waiting costs a task.
                if busy.isEmpty {
                    waitsForTurn = true
                    turns.wait { [self] in thread.call { self.gotTurn() } }
                }
                break
            }
            begin()
        }
        guard hasBegunAll else { return }
        if let following = following.take() {
            following.isBehind = false
            following.beginMore()
        }
        guard busy.isEmpty else { return }
        hasEnded = true
        receiver.ended()
    }

    private func gotTurn() {
        waitsForTurn = false
        if !hasEnded, !hasBegunAll, busy.count < mostPlaces, !waitsForPlace {
            isBeginning = true
            begin()
            isBeginning = false
        } else {
            turns.leave(nil)
        }
        beginMore()
    }

    /// Begins the next request. A turn was taken.
    private func begin() {
        let file = next
        guard !client.isClosed, let line = thread.line(of: client) else {
            turns.leave(nil)
            isStopped = true
            return
        }
        switch receiver.mayStart(file) {
        case .now: next += 1
        case .later:
            waitsForPlace = true
            return turns.leave(nil)
        case .never:
            next += 1
            return turns.leave(nil)
        }
        let place = idle.popLast() ?? makePlace()
        place.file = file
        if requests.kind == .upload, !place.readContent(from: receiver) {
            receiver.end(file, at: place.number, .unread)
            idle.append(place)
            return turns.leave(nil)
        }
        busy[ObjectIdentifier(place)] = place
        line.start(place)
    }

    private func makePlace() -> BatchPlace {
        defer { madePlaces += 1 }
        let largest = requests.kind == .upload ? requests.requests.lazy.map(\.size).max() ?? 0 : 0
        return BatchPlace(self, number: madePlaces, holding: Int(largest), on: thread)
    }

    /// Gives a handle what it sends for a file.
    func prepare(_ easy: EasyHandle, for file: Int) -> UnsafeMutablePointer<curl_slist>? {
        let request = requests.requests[file]
        var own: [String] = ["X-Request-ID: \(requests.idPrefix)\(file)"]
        switch requests.kind {
        case .download:
            own.append("If-Match: " + String(decoding: requests.texts[request.tag.range], as: UTF8.self))
        case .upload:
            easy.set(CURLOPT_CUSTOMREQUEST, "PUT")
            for field in requests.texts[request.tag.range].split(separator: 0) {
                own.append(String(decoding: field, as: UTF8.self))
            }
        }
        requests.texts.withUnsafeBytes { texts in
            easy.keep(
                ccurl_set_pointer(easy.handle, CURLOPT_URL, texts.baseAddress.map { $0 + Int(request.url.start) }))
        }
        // The common fields stand at the end of each request's list.
        var fields: UnsafeMutablePointer<curl_slist>?
        var last: UnsafeMutablePointer<curl_slist>?
        for field in own {
            guard let made = curl_slist_append(nil, field) else {
                easy.keep(CURLE_OUT_OF_MEMORY)
                break
            }
            if let last { last.pointee.next = made } else { fields = made }
            last = made
        }
        last?.pointee.next = common
        easy.keep(ccurl_set_pointer(easy.handle, CURLOPT_HTTPHEADER, fields))
        return fields
    }

    /// Takes the common fields off a request's list, and frees the rest.
    func free(_ fields: UnsafeMutablePointer<curl_slist>?) {
        var field = fields
        while let here = field, here != common {
            field = here.pointee.next
            if field == common { here.pointee.next = nil }
        }
        curl_slist_free_all(fields)
    }

    /// Notes that an answer was given away with its turn. Another place may take its turn.
    func gaveAway(_ place: BatchPlace) { busy[ObjectIdentifier(place)] = nil }

    /// Notes that a place is free again.
    /// - Parameter time: The time of an ordinary answer; nil if there was none.
    func isFree(_ place: BatchPlace, after time: AnswerTime?) {
        busy[ObjectIdentifier(place)] = nil
        idle.append(place)
        waitsForPlace = false
        turns.leave(time)
    }

    /// Notes that an exchange has ended, whether or not its turn was given away.
    func exchangeEnded() { beginMore() }
}
