import DemoServer

extension TestBehavior {
    var namespaces: [XMLWriter.Namespace] { manner.calendars.prefixes.namespaces }

    func address(of target: CalendarTarget, in request: CalendarRequest) -> String {
        switch manner.calendars.addresses {
        case .path: target.path
        case .whole: request.origin + target.path
        case .relative:
            // Goes up one step for every folder in the request's path.
            String(repeating: "../", count: request.path.utf8.dropFirst().count { $0 == UInt8(ascii: "/") })
                + target.path.dropFirst()
        }
    }

    func otherCollections(in home: String) -> [CalendarProperties.Collection] {
        manner.calendars.otherCollections && home == user ? Self.others : []
    }

    func syncToken(of calendar: Calendar) -> String? {
        manner.calendars.syncCollection ? SyncToken.text(after: calendar.version, form: manner.calendars.tokens) : nil
    }

    func answer(_ sync: CalendarSync) -> Answer {
        let (manner, service) = (manner.calendars, sync.service)
        let tooMany = XMLName.dav("number-of-matches-within-limits")
        if sync.limit != nil, manner.limit == .refused { return CalendarService.refusal(507, tooMany, service.writer) }
        guard let page = SyncPage(of: sync.calendar, since: sync.token, limit: sync.limit, manner: manner) else {
            return CalendarService.refusal(manner.invalidTokenStatus, .dav("valid-sync-token"), service.writer)
        }
        let itself = CalendarTarget.path(home: sync.calendar.home, id: sync.calendar.id, object: nil)
        var multistatus = Multistatus(service)
        if manner.listsItself {
            sync.properties.add(.calendar(sync.calendar), itself, sync.wanted, to: &multistatus)
        }
        let removed = manner.removedStatus == 418 ? "418 I'm a teapot" : Multistatus.notFound
        for name in page.members { sync.add(name, removed: removed, to: &multistatus) }
        if page.saysCut { multistatus.add(itself, status: "507 Insufficient Storage", error: tooMany) }
        return multistatus.answer(token: page.token)
    }

    func multistatus(_ responses: [String], token: String) -> String {
        var listed = responses.joined()
        for case .emptyListing in faults { listed = "" }
        return manner.calendars.tokenFirst ? token + listed : listed + token
    }

    /// The collections of a home that clients must not treat as calendars: scheduling collections (RFC 6638), another
    /// person's calendar that the server fetches from elsewhere, and the collections in which Nextcloud keeps removed
    /// calendars.
    private static let others: [CalendarProperties.Collection] = [
        .init("inbox", [.caldav("schedule-inbox")]),
        .init("outbox", [.caldav("schedule-outbox")]),
        .init("football", [.calendarServer("subscribed")], name: "Football"),
        .init("removed-garden", [.caldav("calendar"), .nextcloud("deleted-calendar")], name: "Garden"),
        .init("trashbin", [.nextcloud("trash-bin")]),
    ]
}

extension CalendarManner.Prefixes {
    /// The namespaces that documents declare with these prefixes.
    var namespaces: [XMLWriter.Namespace] {
        let prefixes =
            switch self {
            case .usual: XMLWriter.usual.map(\.prefix) + ["nc"]
            case .none: ["", "C", "CS", "NC"]
            case .numbered: ["ns0", "ns1", "ns2", "ns3"]
            }
        return zip(prefixes, XMLWriter.usual.map(\.name) + [XMLName.nextcloudNamespace]).map { ($0, $1) }
    }
}

extension XMLName {
    fileprivate static let nextcloudNamespace = "http://nextcloud.com/ns"

    fileprivate static func nextcloud(_ local: String) -> XMLName {
        XMLName(namespace: nextcloudNamespace, local: local)
    }
}
