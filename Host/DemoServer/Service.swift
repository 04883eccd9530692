import HTTPTypes

/// The contents of a server of the ownCloud family, and its answers.
package struct Service: Sendable {
    package let site: Site
    package let tree: Tree
    package let calendars: Calendars
    package let shares = Shares()
    /// The behavior where the protocols leave servers free.
    package var behavior: any ServerBehavior = DemoBehavior()

    package init(site: Site, clock: @escaping Tree.Clock = Tree.systemClock) {
        self.site = site
        tree = Tree(clock: clock)
        calendars = Calendars(user: site.user)
    }

    package func answer(to asked: inout Asked) async throws -> Answer {
        switch asked.target {
        case .status: return Documents.status()
        case .wellKnownCalendars: return CalendarService.wellKnown()
        case .unknown: return Answer(.notFound)
        case .item, .calendars, .ocs: break
        }
        if let refusal = refusal(of: asked) { return refusal }
        switch asked.target {
        case .calendars(let target):
            return try await calendarService.answer(CalendarRequest(&asked, target))
        case .ocs(let version, let path):
            guard asked.fields[named: "OCS-APIRequest"] == "true" else { return OCSService.unasked }
            return behavior.answer(
                OCSRequest(asked, version: version, path: path),
                by: OCSService(site: site, tree: tree, shares: shares))
        case .item(let path, let base):
            return try await FileService(site: site, tree: tree, behavior: behavior).answer(to: &asked, path, base)
        case .status, .wellKnownCalendars, .unknown: return Answer(.notFound)
        }
    }

    /// Returns the answer to a request without the right password; nil if the request has the right password.
    package func refusal(of asked: Asked) -> Answer? {
        asked.fields[.authorization] == site.authorization ? nil : .unauthorized
    }

    package var calendarService: CalendarService {
        CalendarService(calendars: calendars, user: site.user, behavior: behavior)
    }
}

extension Answer {
    package static var unauthorized: Answer {
        var answer = Answer(.unauthorized)
        answer.fields[.wwwAuthenticate] = "Basic realm=\"Larder demo\", charset=\"UTF-8\""
        return answer
    }
}
