import DemoServer
import HTTPTypes
import Synchronization

/// Answers requests in the server's manner, with its faults.
final class TestAnswers: Answering {
    let faults = FaultList()
    /// The server's current manner.
    let manner: Mutex<Manner>
    let log = Mutex<[TestServer.LoggedRequest]>([])
    /// The number of bytes of files that came in the bodies of requests.
    let received = Mutex(0)

    /// The folders of uploads in parts.
    let chunks = ChunkUploads()

    let rules = Rules()
    /// The resumable uploads.
    let uploads = TusUploads()

    private let service: Service
    /// The folder for large bodies.
    private let scratchFolder: String
    private let hints: Hints
    private let events: EventFeed

    init(_ configuration: TestServer.Configuration, _ service: Service, _ hints: Hints, _ events: EventFeed) {
        (self.service, self.hints, self.events) = (service, hints, events)
        manner = Mutex(configuration.manner)
        scratchFolder = configuration.scratchFolder
    }

    func answer(to asked: inout Asked) async throws -> Answer {
        let found = faults.faults(method: asked.method, path: asked.item)
        asked.noteReading = { [self] count in received.withLock { $0 += count } }
        if case .calendars = asked.target { _ = try await asked.collect() }
        for fault in found {
            switch fault.kind {
            case .delay(let duration): try await Task.sleep(for: duration)
            case .hold(nil): await faults.hold(fault.id)
            case .lostAnswer(executed: false): throw Hangup()
            case .cutRequest(let bytes): asked.pause = .init(after: bytes) { throw Hangup() }
            case .holdRequest(let bytes): asked.pause = .init(after: bytes) { [faults] in await faults.hold(fault.id) }
            case .uploadExpired:
                if let id = TusService.id(of: asked.path) { uploads.expire(id) } else { chunks.removeAll() }
            default: break
            }
        }
        let kinds = found.map(\.kind)
        var manner = manner.withLock { $0 }
        // Where the tree's root is the server's, resumable uploads have no address.
        if service.site.bases.contains("") { manner.tus = nil }
        var answer: Answer
        if let instead = kinds.lazy.compactMap({ Answer(insteadOf: $0) }).first {
            answer = instead
        } else {
            let behavior = TestBehavior(
                manner: manner, faults: kinds, hints: hints, user: service.site.user, now: service.tree.now,
                tree: service.tree, rules: rules, scratchFolder: scratchFolder)
            let tus = manner.tus.map {
                TusService(tree: service.tree, uploads: uploads, settings: $0, folder: scratchFolder)
            }
            do {
                answer = try await MannerAnswers(behavior: behavior, service, events: events, chunks: chunks, tus: tus)
                    .answer(to: &asked)
            } catch let error as ContentError {
                answer = Answer(.internalServerError, type: "text/plain", text: "\(error)\n")
            }
        }
        for case .lostAnswer(executed: true) in kinds { throw Hangup() }
        if let name = manner.serverName { answer.fields[.server] = name }
        answer.spoil(kinds)
        if !manner.contentLength { answer.hideLengthOfFile() }
        stop(&answer, found)
        return answer
    }

    func sent(_ bytes: Int, status: Int, to asked: Asked) {
        var entry = TestServer.LoggedRequest(
            method: asked.method, path: asked.item, status: status, range: asked.fields[.range], bytes: bytes)
        entry.query = asked.query.map(String.init)
        if case .calendars = asked.target { entry.body = asked.body.map { String(decoding: $0, as: UTF8.self) } }
        log.withLock { $0.append(entry) }
    }

    /// Makes the body stop at the position given by the first fault that stops bodies.
    private func stop(_ answer: inout Answer, _ found: [(id: FaultID, kind: Fault.Kind)]) {
        for fault in found {
            switch fault.kind {
            case .cutOff(let bytes): return answer.stop(after: bytes) { throw CutOff() }
            case .hold(let bytes?): return answer.stop(after: bytes) { [faults] in await faults.hold(fault.id) }
            default: break
            }
        }
    }

    private struct CutOff: Error {}
}
