public import Model
import Synchronization
import Transfer

/// A small file to upload with others.
public struct BatchedUpload: Sendable {
    /// The file's path on the server.
    public var path: ItemPath
    /// The content, and the version that it follows.
    public var request: UploadRequest

    /// The size in bytes up to which files can go in a batch.
    public static let largest = UploadBody.largestSmall

    /// Creates the file.
    public init(_ path: ItemPath, _ request: UploadRequest) { (self.path, self.request) = (path, request) }
}

/// The way in which the request of an upload of a batch has ended.
public enum UploadBatchEnd: Sendable {
    /// The server has taken the file. What it holds now must be asked for, as after a ``WriteOutcome/done(_:)``.
    case made(WriteAnswer)
    /// Any other answer, or the lack of one, with which ``Writes/upload(_:_:from:resuming:after:progress:)`` goes on.
    case first(FirstAnswer)
    /// The file could not be read, and nothing was sent.
    case unread
    /// An end on demand. The server may have the file.
    case cancelled
}

/// The one who has the files of a batch uploaded. All functions are called on one thread, and may block on the disk.
public protocol UploadBatchReceiver: AnyObject, Sendable {
    /// Tells whether a file may be sent.
    func mayStart(_ file: Int) -> Bool
    /// Reads the whole of a file.
    /// - Returns: False if it cannot be read, or has another size.
    func read(_ file: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool
    /// Notes how the request of a file ended that was allowed to start.
    func end(_ file: Int, _ end: UploadBatchEnd)
    /// Notes that no request of the batch is under way any more. Files that were not allowed to start, or about which
    /// nobody asked, were not sent.
    func ended()
}

extension Writes {
    /// Uploads small files in a batch, without a task for each. Each request has the condition that it overwrites nothing
    /// but its base. What an answer says by its status 201 or 204 is taken at once. Any other answer, and the lack of one,
    /// is handed over, and ``upload(_:_:from:resuming:after:progress:)`` decides about it.
    ///
    /// After the lack of an answer, after an answer that concerns more than its file, and after one that shows that the
    /// server heeds no conditions, no further request is started.
    /// - Parameters:
    ///   - files: The files, each one of which ``mayUploadInBatch(_:)`` holds.
    ///   - receiver: The one who has them uploaded.
    /// - Returns: The requests, which have begun; nil if files cannot be uploaded in batches now.
    public func upload(_ files: [BatchedUpload], for receiver: any UploadBatchReceiver) -> (any FileBatchRun)? {
        guard let way = wire.batchWay(wire.bandwidth.up), writingManners.heedsConditions else { return nil }
        let run = UploadBatchRun(self, files, receiver, way)
        let requests = self.requests(for: files, by: way, idPrefix: run.hold.idPrefix)
        return run.hold.begin(requests, way, .smallUpload, for: run) ? run : nil
    }

    /// Whether small files can be uploaded in batches now: see ``upload(_:for:)``. They cannot if there is a limit of
    /// bandwidth, if the login differs from request to request, if the server is not known to heed the conditions of
    /// uploads, or if no request may be sent at all.
    public var takesUploadBatches: Bool {
        let manners = writingManners
        // A server of the family may refuse names, which it is asked about before the first upload.
        guard manners.heedsConditions, !manners.isFamily || wire.knowledge.forbiddenNames != nil else { return false }
        return wire.batchWay(wire.bandwidth.up) != nil
    }

    /// Whether a file can be uploaded with others: its request alone decides, and nothing must be asked before it.
    public func mayUploadInBatch(_ file: BatchedUpload) -> Bool {
        let knowledge = wire.knowledge
        let (manners, request) = (knowledge.manners, file.request)
        guard !file.path.isRoot, request.size <= BatchedUpload.largest,
            request.size < min(TusUpload.leastSize, knowledge.chunks.refusedBody ?? .max),
            request.isDecided(by: manners),
            !manners.mayHideDotNames
        else { return false }
        if manners.isFamily {
            guard let names = knowledge.forbiddenNames, names.objection(to: file.path.name) == nil else {
                return false
            }
        }
        return !knowledge.quotas.isFull(file.path.parent)
    }

    private func requests(for files: [BatchedUpload], by way: Wire.BatchWay, idPrefix: String) -> BatchRequests {
        let question = Question(method: "PUT", timeLimit: wire.timeLimits.head, expected: .document, doing: "")
        var requests = BatchRequests(.upload, limits: wire.answerLimits(question))
        requests.headers = way.headers
        requests.idPrefix = idPrefix
        for file in files {
            var url = Array(way.root.address(of: file.path).description.utf8)
            url.append(0)
            let (address, start) = (requests.append(url), requests.texts.count)
            for (name, value) in fields(of: file.request) {
                _ = requests.append("\(name): \(value)".utf8)
                requests.texts.append(0)
            }
            requests.requests.append(
                .init(
                    url: address, tag: .init(start: start, count: requests.texts.count - start),
                    size: file.request.size))
        }
        return requests
    }

    /// Notes what the answer to an upload that was made tells of more than its file.
    /// - Parameter reliesOnCondition: Whether nothing but the request's condition kept it from replacing something.
    func noteUpload(_ answer: inout WriteAnswer, of size: Int64, at path: ItemPath, reliesOnCondition: Bool) {
        wire.learn(.upload(size, into: path.parent))
        guard answer.hasReplaced else { return }
        // Where nothing was there a moment ago, 204 is only the server's way to say that it is done.
        answer.hasReplaced = reliesOnCondition
        if reliesOnCondition { wire.learn(.ignoredCondition) }
    }
}

/// The requests of a batch of uploads, and what of their answers concerns other uploads.
private final class UploadBatchRun: FileBatchRun, BatchReceiver {
    private let writes: Writes
    private let files: [BatchedUpload]
    private let receiver: any UploadBatchReceiver
    let hold: BatchHold

    init(
        _ writes: Writes, _ files: [BatchedUpload], _ receiver: any UploadBatchReceiver,
        _ way: Wire.BatchWay
    ) {
        (self.writes, self.files, self.receiver) = (writes, files, receiver)
        hold = BatchHold(writes.wire, way)
    }

    func goOn() { hold.transfer?.goOn() }
    func stop() { hold.transfer?.stop() }
    func end(_ file: Int) { hold.transfer?.end(file) }
    func cancel() { hold.transfer?.cancel() }

    func mayStart(_ file: Int) -> BatchStart { hold.maySend && receiver.mayStart(file) ? .now : .never }

    func read(_ file: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool { receiver.read(file, into: memory) }

    func begin(_ file: Int, at place: Int, sha1: [UInt8]?) -> Bool { false }

    func take(_ bytes: UnsafeRawBufferPointer, of file: Int, at place: Int) -> Bool { false }

    func end(_ file: Int, at place: Int, _ end: BatchEnd) {
        let upload = files[file]
        switch end {
        case .made(let head, let time):
            hold.log(file, "PUT", status: head.status, upload.path)
            var answer = WriteAnswer(
                status: head.status, headers: head.headers, took: time.head, base: upload.request.base)
            writes.noteUpload(&answer, of: upload.request.size, at: upload.path, reliesOnCondition: true)
            if answer.hasReplaced { hold.halt() }
            receiver.end(file, .made(answer))
        case .answer(let transfer):
            hold.log(file, "PUT", status: transfer.status, upload.path)
            let gate = writes.wire.gate(.smallUpload)
            receiver.end(file, .first(hold.first(.success(transfer), leave: { gate.leave(.smallUpload) })))
        case .failed(.cancelled): receiver.end(file, .cancelled)
        case .failed(let error):
            // What is closed at the moment of a write says nothing.
            if error == .timedOut(.head) { writes.wire.gate(.smallUpload).note(.refused, .smallUpload) }
            receiver.end(file, .first(hold.first(.failure(error), leave: nil)))
        case .unread: receiver.end(file, .unread)
        // What an upload does not have.
        case .complete, .brokenOff: receiver.end(file, .first(hold.first(.failure(.closed), leave: nil)))
        }
    }

    func ended() {
        hold.ended()
        receiver.ended()
    }
}
