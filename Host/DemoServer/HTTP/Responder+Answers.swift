import HTTPTypes
import Hummingbird

/// A request, with its target taken apart.
struct Asked: Sendable {
    let request: Request
    /// The target without its query, as it was sent.
    let path: Substring
    let query: Substring?
    /// Collected already if the request is for the calendars.
    let body: [UInt8]

    var method: String { request.method.rawValue }
}

extension DemoResponder {
    func answer(to asked: Asked, _ target: Target, _ faults: [Fault.Kind]) async throws -> Answer {
        let manner = manner.value
        let fields = asked.request.headers
        let calendars = CalendarService(
            calendars: served.calendars, manner: manner.calendars, user: configuration.user, faults: faults)
        switch target {
        case .status where manner.statusDocument: return Documents.status(isInMaintenance: manner.maintenance)
        case _ where manner.maintenance: return Documents.maintenance
        case .status: return Answer(.notFound)
        case .wellKnownCalendars: return calendars.wellKnown()
        case .unknown: return Answer(.notFound)
        case .item, .calendars, .ocs, .events: break
        }
        guard fields[.authorization] == configuration.authorization else {
            var answer = Answer(.unauthorized)
            answer.fields[.wwwAuthenticate] = "Basic realm=\"Larder demo\", charset=\"UTF-8\""
            return answer
        }
        let scheme = configuration.certificate == nil ? "http" : "https"
        let origin = "\(scheme)://\(asked.request.head.authority ?? "127.0.0.1")"
        switch target {
        case .calendars(let target):
            return calendars.answer(
                CalendarRequest(
                    method: asked.method, target: target, path: String(asked.path), origin: origin, fields: fields,
                    body: asked.body))
        case .ocs(let version, let path):
            return OCSService(manner: manner, user: configuration.user, served: served).answer(
                OCSRequest(
                    version: version, path: path, method: asked.method, query: OCSRequest.query(asked.query),
                    fields: fields, origin: origin))
        case .events(let path):
            guard manner.events else { return Answer(.notFound) }
            return EventFeedService(feed: served.events).answer(path, method: asked.method)
        case .item(let path, let base):
            do {
                return try await answer(to: asked.request, path, base, manner, faults)
            } catch let refusal as Refusal {
                return .refusal(refusal)
            }
        case .status, .wellKnownCalendars, .unknown: return Answer(.notFound)
        }
    }

    private func answer(
        to request: Request, _ path: TreePath, _ base: String, _ manner: Manner, _ faults: [Fault.Kind]
    ) async throws -> Answer {
        let fields = request.headers
        let writing = Writing(tree: served.tree, manner: manner, configuration: configuration)
        switch request.method.rawValue {
        case "OPTIONS":
            var answer = Answer(.ok)
            answer.fields[named: "DAV"] = "1, 3"
            answer.fields[.allow] = "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, MKCOL, MOVE, COPY"
            return answer
        case "PROPFIND":
            let body = try await request.body.collect(upTo: 1 << 20)
            return Listing(tree: served.tree, manner: manner, faults: faults).answer(
                path, base: base, depth: .init(fields[named: "Depth"]), body: Array(body.readableBytesView))
        case "GET", "HEAD":
            return Reading(tree: served.tree, manner: manner, faults: faults).answer(path, fields: fields)
        case "PUT": return try writing.put(path, await upload.receive(request.body), fields: fields)
        case "MKCOL": return try writing.makeFolder(path)
        case "DELETE": return try writing.remove(path, fields: fields)
        case "MOVE": return try writing.move(path, fields: fields, copying: false)
        case "COPY": return try writing.move(path, fields: fields, copying: true)
        default: return Answer(.methodNotAllowed)
        }
    }
}
