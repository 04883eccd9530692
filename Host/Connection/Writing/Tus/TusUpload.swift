import Model
import Transfer

/// The course of a resumable upload (TUS 1.0): what to send next, given what came. A value without I/O.
struct TusUpload: Sendable {
    /// What is to be done next.
    enum Step: Hashable, Sendable {
        /// Create the upload (POST), if the server still holds the version that the file follows.
        case create
        /// Ask for the number of bytes that the server has (HEAD), after a pause.
        case askOffset(after: Duration)
        /// Ask whether the server still holds the version that the file follows: the next part is the last one.
        case checkBase
        /// Send a part (PATCH), with its checksum if the server compares it.
        case send(Range<Int64>, hasChecksum: Bool)
        case end(End)
    }

    /// The end of the course.
    enum End: Hashable, Sendable {
        /// The server has answered that it has the last byte.
        case done
        /// The server does not do what it announces. The file goes out in one request; further ones do too if the
        /// problem is a lasting one.
        case unusable(isLasting: Bool)
        /// The server names an address on another server for the upload. The file goes out in one request, and further
        /// ones do too.
        case elsewhere
        case refused(WriteRefusal)
        /// The last answer decides, as one to a PUT does.
        case decidedByAnswer
        /// The server takes no more bytes, although it refuses nothing.
        case stuck
        /// The server has forgotten each upload that it was asked for.
        case forgotten
    }

    /// The size in bytes from which an upload is resumable. Below it a request that was cut off costs less than the
    /// requests that a resumable upload needs beside its parts.
    static let leastSize: Int64 = 10 << 20
    /// The largest part in bytes. So much is sent in vain if a part with a checksum is cut off, and for so long the
    /// version that the file follows is not asked for.
    static let largestPart: Int64 = 16 << 20
    /// The smallest part in bytes. A server that takes only smaller ones would be asked too often.
    static let leastPart: Int64 = 64 << 10
    /// The number of bytes that a part which was not acknowledged must have brought to count as progress.
    static let leastGain: Int64 = 65_536
    /// The number of questions for the offset in a row that may show no progress.
    static let mostStalls = 3
    /// The number of uploads that are created for a file in a row.
    static let mostCreations = 3
    /// The pauses before a server is asked again that has not let go of a broken request for the upload yet.
    static let pauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]

    private let size: Int64
    /// The upload's own address; nil if it is to be created.
    private(set) var address: ServerAddress?
    /// The number of bytes that the server has; nil if it is to be asked.
    private var offset: Int64?
    private var part: Int64
    private var hasChecksums: Bool
    private var isBaseChecked = false
    /// The number of bytes that the server can have; nil if an earlier process has begun the upload.
    private var mostSent: Int64?
    /// The farthest offset so far.
    private var farthest: Int64 = 0
    private var stalls = 0
    private var creations = 0
    private var mismatches = 0
    /// The number of answers in a row that the upload is in use.
    private var uses = 0
    private var end: End?
    private var abandoned: ServerAddress?

    /// Begins the course.
    /// - Parameters:
    ///   - size: The file's size in bytes, at least 1.
    ///   - begun: The address of the upload that an earlier attempt has begun.
    init(size: Int64, offer: TusOffer, begun: ServerAddress? = nil) {
        self.size = size
        address = begun
        part = min(offer.largestPart ?? .max, Self.largestPart)
        hasChecksums = offer.checks
        if part < Self.leastPart || size > offer.largestUpload ?? .max { end = .unusable(isLasting: false) }
    }

    /// What is to be done next.
    var next: Step {
        if let end { return .end(end) }
        guard address != nil else { return .create }
        guard let offset else { return .askOffset(after: uses == 0 ? .zero : Self.pauses[uses - 1]) }
        let part = offset..<min(size, offset.adding(part))
        return part.upperBound == size && !isBaseChecked ? .checkBase : .send(part, hasChecksum: hasChecksums)
    }

    /// Returns the address of an upload that was given up and that the server may still keep, once.
    mutating func takeAbandoned() -> ServerAddress? {
        defer { abandoned = nil }
        return abandoned
    }

    /// Takes the answer to the request that creates the upload.
    /// - Parameter place: The address that was asked.
    mutating func created(_ answer: TusAnswer, at place: ServerAddress) {
        switch answer.status {
        case 200..<300:
            guard let location = answer.location, !location.isEmpty else {
                end = .unusable(isLasting: true)
                return
            }
            let found: ServerAddress
            do throws(ServerAddress.Problem) { found = try place.resolving(location) } catch {
                end = .unusable(isLasting: true)
                return
            }
            guard found.origin == place.origin else {
                end = .elsewhere
                return
            }
            (address, offset, mostSent, farthest) = (found, 0, 0, 0)
            (isBaseChecked, stalls, uses) = (false, 0, 0)
            creations += 1
        case 405, 501: end = .unusable(isLasting: true)
        // The folder, the name or the version may be the reason. The answer to a PUT tells which it is.
        case 404, 412: end = .unusable(isLasting: false)
        default: end = .decidedByAnswer
        }
    }

    /// Takes the answer to the question for the offset.
    mutating func told(_ answer: TusAnswer) {
        switch answer.status {
        case 200..<300:
            guard let told = answer.offset, told <= size, answer.length ?? size == size, told <= mostSent ?? told else {
                return giveUp()
            }
            // The server has taken all of it, and may make the file later.
            guard told < size else {
                end = .done
                return
            }
            uses = 0
            stalls = told >= farthest.adding(Self.leastGain) ? 0 : stalls + 1
            farthest = max(farthest, told)
            guard stalls <= Self.mostStalls else {
                end = .stuck
                return
            }
            (offset, mostSent, isBaseChecked) = (told, mostSent ?? told, false)
        case 401, 403, 404, 410: begin()
        case 405, 501: end = .unusable(isLasting: true)
        case 423: wait()
        default: end = .decidedByAnswer
        }
    }

    /// Notes that the server holds the version that the file follows.
    mutating func baseHolds() { isBaseChecked = true }

    /// Takes the answer to a part.
    mutating func sent(_ range: Range<Int64>, _ answer: TusAnswer) {
        note(range)
        let isLast = range.upperBound == size
        switch answer.status {
        case 207: end = .decidedByAnswer
        case 200..<300:
            uses = 0
            guard let told = answer.offset else {
                if isLast { end = .done } else { ask() }
                return
            }
            if isLast, told >= size {
                end = .done
                return
            }
            let isGain = told == range.upperBound || told >= range.lowerBound.adding(Self.leastGain)
            guard isGain, told <= range.upperBound else { return ask() }
            if told >= farthest.adding(Self.leastGain) { stalls = 0 }
            (offset, farthest, isBaseChecked) = (told, max(farthest, told), false)
        case 409: ask()
        case 401, 403, 404, 410: begin()
        case 405, 501: end = .unusable(isLasting: true)
        case 412 where !answer.speaksVersion: end = .unusable(isLasting: true)
        case 413:
            part /= 2
            // The next part is another one, so that this is no stall.
            stalls = 0
            if part < Self.leastPart { end = .refused(.tooLarge) } else { ask() }
        case 400 where hasChecksums, 460 where hasChecksums:
            // The second time the server may compute the checksum in another way. The whole file has one too.
            mismatches += 1
            hasChecksums = mismatches < 2
            ask()
        case 460: end = .refused(.checksumDiffers)
        case 423: wait()
        case 500 where !isLast, 502 where !isLast, 504 where !isLast: ask()
        default: end = .decidedByAnswer
        }
    }

    /// Notes that a part other than the last was sent, in whole or in part, and that its answer was lost.
    mutating func lost(_ range: Range<Int64>) {
        note(range)
        ask()
    }

    private mutating func note(_ range: Range<Int64>) {
        mostSent = max(mostSent ?? 0, range.upperBound)
    }

    private mutating func ask() { (offset, isBaseChecked) = (nil, false) }

    private mutating func wait() {
        uses += 1
        if uses > Self.pauses.count { end = .refused(.locked(owner: nil)) } else { ask() }
    }

    /// Begins anew, since the server does not know the upload any more.
    private mutating func begin() {
        (address, mostSent) = (nil, nil)
        ask()
        if creations >= Self.mostCreations { end = .forgotten }
    }

    /// Gives up an upload that the server keeps, and begins anew.
    private mutating func giveUp() {
        abandoned = address
        begin()
    }
}

/// The facts that an answer to a request of TUS tells. What cannot be read counts as not told.
struct TusAnswer: Hashable, Sendable {
    var status: Int
    /// `Upload-Offset`: the number of bytes that the server has.
    var offset: Int64?
    /// `Upload-Length`: the size of the whole.
    var length: Int64?
    /// `Location`: the address of an upload that was created.
    var location: String?
    /// Whether the server has not said that it speaks other versions of the protocol only.
    var speaksVersion = true

    init(status: Int, offset: Int64? = nil, length: Int64? = nil, location: String? = nil) {
        (self.status, self.offset, self.length, self.location) = (status, offset, length, location)
    }

    /// Reads an answer.
    init(status: Int, _ headers: HTTPHeaders) {
        self.status = status
        offset = headers.first(name: "Upload-Offset").flatMap { OutsideNumber.size($0) }
        length = headers.first(name: "Upload-Length").flatMap { OutsideNumber.size($0) }
        location = headers.first(name: "Location")
        let versions = headers["Tus-Version"]
        speaksVersion = versions.isEmpty || versions.contains { $0.contains(TusOffer.version) }
    }
}
