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
    let tree: Tree
    let calendars: Calendars
    let manner: MannerBox
    let faults: FaultList
    let log: RequestLog
    let upload: Upload

    func respond(to request: Request, context: DemoContext) async throws -> Response {
        let target = Target(request.head.path ?? "/", configuration: configuration)
        let path: String
        if case .item(let item, _) = target {
            path = item.text
        } else {
            path = String((request.head.path ?? "/").prefix { $0 != "?" })
        }
        let found = faults.faults(method: request.method.rawValue, path: path)
        var entry = DemoServer.LoggedRequest(
            method: request.method.rawValue, path: path, status: 0, range: request.headers[.range], bytes: 0)
        if let mark = request.head.path?.firstIndex(of: "?") {
            entry.query = request.head.path.map { String($0[$0.index(after: mark)...]) }
        }
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
            answer = try await self.answer(to: request, body, target, found.map(\.kind))
        }
        for case .wrongLength(let difference) in found.map(\.kind) { answer.change(lengthBy: difference) }
        entry.status = answer.status.code
        return Delivery(answer: answer, faults: found, list: faults, log: log, channel: context.channel)
            .response(isHead: request.method == .head, announcesLength: manner.value.contentLength, entry: entry)
    }

    /// - Parameter body: the request's, if it is for the calendars.
    private func answer(
        to request: Request, _ body: [UInt8], _ target: Target, _ faults: [Fault.Kind]
    ) async throws -> Answer {
        let manner = manner.value
        let calendarService = CalendarService(
            calendars: calendars, manner: manner.calendars, user: configuration.user, faults: faults)
        switch target {
        case .status: return manner.statusDocument ? Documents.status : Answer(.notFound)
        case .wellKnownCalendars: return calendarService.wellKnown()
        case .unknown: return Answer(.notFound)
        case .item, .capabilities, .user, .calendars: break
        }
        guard request.headers[.authorization] == configuration.authorization else {
            var answer = Answer(.unauthorized)
            answer.fields[.wwwAuthenticate] = "Basic realm=\"Larder demo\", charset=\"UTF-8\""
            return answer
        }
        switch target {
        case .capabilities(let version) where manner.statusDocument:
            return Documents.capabilities(version: version, manner: manner)
        case .user(let version) where manner.statusDocument:
            return Documents.user(version: version, user: configuration.user)
        case .calendars(let target):
            let scheme = configuration.certificate == nil ? "http" : "https"
            return calendarService.answer(
                CalendarRequest(
                    method: request.method.rawValue, target: target,
                    path: String((request.head.path ?? "/").prefix { $0 != "?" }),
                    origin: "\(scheme)://\(request.head.authority ?? "127.0.0.1")", fields: request.headers, body: body)
            )
        case .item(let path, let base):
            do {
                return try await answer(to: request, path, base, manner, faults)
            } catch let refusal as Refusal {
                return .refusal(refusal)
            }
        default: return Answer(.notFound)
        }
    }

    private func answer(
        to request: Request, _ path: TreePath, _ base: String, _ manner: Manner, _ faults: [Fault.Kind]
    ) async throws -> Answer {
        let fields = request.headers
        let writing = Writing(tree: tree, manner: manner, configuration: configuration)
        switch request.method.rawValue {
        case "OPTIONS":
            var answer = Answer(.ok)
            answer.fields[named: "DAV"] = "1, 3"
            answer.fields[.allow] = "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, MKCOL, MOVE, COPY"
            return answer
        case "PROPFIND":
            let body = try await request.body.collect(upTo: 1 << 20)
            return Listing(tree: tree, manner: manner, faults: faults).answer(
                path, base: base, depth: .init(fields[named: "Depth"]), body: Array(body.readableBytesView))
        case "GET", "HEAD": return Reading(tree: tree, manner: manner, faults: faults).answer(path, fields: fields)
        case "PUT": return try writing.put(path, await upload.receive(request.body), fields: fields)
        case "MKCOL": return try writing.makeFolder(path)
        case "DELETE": return try writing.remove(path, fields: fields)
        case "MOVE": return try writing.move(path, fields: fields, copying: false)
        case "COPY": return try writing.move(path, fields: fields, copying: true)
        default: return Answer(.methodNotAllowed)
        }
    }
}

extension Answer {
    /// The answer that a fault gives in place of the proper one.
    init?(insteadOf fault: Fault.Kind) {
        switch fault {
        case .status(let code, let retryAfter):
            self.init(.init(code: code))
            if let retryAfter { fields[named: "Retry-After"] = String(retryAfter) }
            if code == 401 { fields[.wwwAuthenticate] = "Basic realm=\"Larder demo\", charset=\"UTF-8\"" }
        case .page:
            self.init(
                .ok, type: "text/html; charset=utf-8",
                text: "<!DOCTYPE html><html><head><title>Log in</title></head><body><form><br></form></body></html>")
        case .refusal(let status, let precondition):
            self = CalendarService.refusal(status, precondition.map(XMLName.dav), XMLWriter(prefixes: .usual))
        case .redirect(let address, let status):
            self.init(.init(code: status))
            fields[.location] = address
        default: return nil
        }
    }

    /// Makes a file's body longer with zeros, or shorter.
    mutating func change(lengthBy difference: Int) {
        guard case .content(let content, let range) = body else { return }
        if difference <= 0 {
            body = .content(content, range.lowerBound..<max(range.lowerBound, range.upperBound + difference))
        } else if case .memory(var buffer) = content.place {
            buffer.writeRepeatingByte(0, count: difference)
            let longer = Content(Array(buffer.readableBytesView))
            body = .content(longer, range.lowerBound..<range.upperBound + difference)
        }
    }
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
