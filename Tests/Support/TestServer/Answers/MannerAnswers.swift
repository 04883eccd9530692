import DemoServer
import HTTPTypes

/// Answers one request in the server's manner.
struct MannerAnswers {
    let behavior: TestBehavior
    /// The demo server's service, with the same behavior.
    let service: Service
    let events: EventFeed
    let chunks: ChunkUploads
    /// Resumable uploads; nil if the server does not offer them.
    let tus: TusService?

    var manner: Manner { behavior.manner }

    init(behavior: TestBehavior, _ service: Service, events: EventFeed, chunks: ChunkUploads, tus: TusService?) {
        var service = service
        service.behavior = behavior
        (self.behavior, self.service, self.events, self.chunks) = (behavior, service, events, chunks)
        self.tus = tus
    }

    func answer(to asked: inout Asked) async throws -> Answer {
        let uploadID = TusService.id(of: asked.path)
        switch asked.target {
        case .status where manner.statusDocument: return Documents.status(isInMaintenance: manner.maintenance)
        case _ where manner.maintenance: return .maintenance
        case .status: return Answer(.notFound)
        case .wellKnownCalendars:
            guard manner.calendars.offered, let status = manner.calendars.wellKnownStatus else {
                return Answer(.notFound)
            }
            var answer = try await service.answer(to: &asked)
            answer.status = .init(code: status)
            return answer
        case .unknown
        where manner.nextcloud == nil && uploadID == nil && !asked.path.hasPrefix(EventFeedService.path):
            return Answer(.notFound)
        case .item, .calendars, .ocs, .unknown: break
        }
        if let refusal = service.refusal(of: asked) { return refusal }
        if let largest = manner.largestBody, let length = asked.fields[.contentLength].flatMap({ Int($0) }),
            length > largest
        {
            return Answer(.contentTooLarge)
        }
        if case .unknown = asked.target,
            let answer = try await ChunkAnswers(service: service, behavior: behavior, uploads: chunks).answer(
                to: &asked)
        {
            return answer
        }
        switch asked.target {
        case .item(let path, let base): return try await answer(to: &asked, path, base: base)
        case .calendars(let target) where manner.calendars.offered: return try await answer(to: &asked, target)
        case .ocs where manner.statusDocument: return try await service.answer(to: &asked)
        case .unknown where uploadID != nil:
            guard let tus, let uploadID else { return Answer(.notFound) }
            return inManner(try await tus.answer(to: asked, id: uploadID))
        case .unknown where manner.events:
            return EventFeedService(feed: events).answer(
                asked.path.dropFirst(EventFeedService.path.count), method: asked.method)
        default: return Answer(.notFound)
        }
    }

    private func answer(to asked: inout Asked, _ target: CalendarTarget) async throws -> Answer {
        let writing = CalendarWriting(
            service: service.calendarService, request: try await CalendarRequest(&asked, target))
        var answer: Answer
        if let written = writing.answer() {
            answer = written
        } else {
            answer = try await service.answer(to: &asked)
        }
        answer.spoilMultistatus(behavior.faults, service.calendarService.writer)
        return answer
    }
}

extension Answer {
    fileprivate static var maintenance: Answer {
        var answer = Answer(.serviceUnavailable, type: "text/plain", text: "System in maintenance mode.")
        answer.fields[named: "Retry-After"] = "120"
        return answer
    }
}
