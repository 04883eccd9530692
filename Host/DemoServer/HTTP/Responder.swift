import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// What a request comes with besides itself: its connection, for faults that cut it off.
struct DemoContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Takes requests apart, asks the right part for an answer, and sends it as far as the faults let it.
struct DemoResponder: HTTPResponder {
    let configuration: DemoServer.Configuration
    let served: Served
    let manner: MannerBox
    let faults: FaultList
    let log: RequestLog
    let upload: Upload

    func respond(to request: Request, context: DemoContext) async throws -> Response {
        let (targetPath, query) = Target.parts(of: request.head.path ?? "/")
        let target = Target(targetPath, configuration: configuration)
        var path = String(targetPath)
        if case .item(let item, _) = target { path = item.text }
        let found = faults.faults(method: request.method.rawValue, path: path)
        var entry = DemoServer.LoggedRequest(
            method: request.method.rawValue, path: path, status: 0, range: request.headers[.range], bytes: 0)
        entry.query = query.map(String.init)
        var body: [UInt8] = []
        if case .calendars = target {
            body = Array(try await request.body.collect(upTo: 16 << 20).readableBytesView)
            entry.body = String(decoding: body, as: UTF8.self)
        }
        for fault in found {
            switch fault.kind {
            case .delay(let duration): try await Task.sleep(for: duration)
            case .hold(nil): await faults.hold(fault.id)
            default: break
            }
        }
        var answer: Answer
        if let instead = found.lazy.compactMap({ Answer(insteadOf: $0.kind) }).first {
            answer = instead
        } else {
            answer = try await self.answer(
                to: Asked(request: request, path: targetPath, query: query, body: body), target, found.map(\.kind))
        }
        for case .wrongLength(let difference) in found.map(\.kind) { answer.change(lengthBy: difference) }
        for case .overlong in found.map(\.kind) { answer.goOnForEver() }
        for case .fields(let fields) in found.map(\.kind) {
            for (name, value) in fields { answer.fields[named: name] = value }
        }
        entry.status = answer.status.code
        return Delivery(answer: answer, faults: found, list: faults, log: log, channel: context.channel)
            .response(isHead: request.method == .head, announcesLength: manner.value.contentLength, entry: entry)
    }
}

/// What is served, besides how.
struct Served: Sendable {
    let tree: Tree
    let calendars: Calendars
    let shares: Shares
    let hints: Hints
    let events: EventFeed
}

/// How the server behaves now.
final class MannerBox: Sendable {
    private let state: Mutex<Manner>

    init(_ manner: Manner) { state = Mutex(manner) }

    var value: Manner { state.withLock { $0 } }

    func change(_ body: (inout Manner) -> Void) -> Manner {
        state.withLock { manner in
            body(&manner)
            return manner
        }
    }
}
