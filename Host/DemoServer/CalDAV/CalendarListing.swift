import HTTPTypes

/// The answer to a PROPFIND for principals, homes, calendars and objects.
struct CalendarListing: Sendable {
    let service: CalendarService
    let request: CalendarRequest

    func answer() -> Answer {
        guard let depth = Listing.Depth(request.fields[named: "Depth"]) else { return Answer(.badRequest) }
        let writer = service.writer
        guard depth != .infinity else { return CalendarService.refusal(403, .dav("propfind-finite-depth"), writer) }
        var wanted: [XMLName]?
        if !request.body.isEmpty {
            guard let root = XMLElement(document: request.body), root.name == .dav("propfind") else {
                return Answer(.badRequest)
            }
            wanted = root.child(.dav("prop"))?.children.map(\.name)
        }
        guard let listed = resources(children: depth == .one) else { return Answer(.notFound) }
        let properties = service.properties(request)
        var multistatus = Multistatus(service)
        for (resource, path) in listed { properties.add(resource, path, wanted, to: &multistatus) }
        return multistatus.answer()
    }

    /// Returns the resources to list, the target first; nil if the target does not exist.
    private func resources(children: Bool) -> [(CalendarProperties.Resource, path: String)]? {
        let user = service.user
        switch request.target {
        case .root: return [(.collection(.init("")), CalendarTarget.rootPath)]
        case .principal(user): return [(.principal, request.target.path)]
        case .home(let home):
            let inside = service.calendars.read { $0.calendars.filter { $0.home == home } }
            guard home == user || !inside.isEmpty else { return nil }
            let itself = (CalendarProperties.Resource.collection(.init(home)), path: request.target.path)
            guard children else { return [itself] }
            return [itself]
                + inside.map { (.calendar($0), CalendarTarget.path(home: home, id: $0.id, object: nil)) }
                + service.behavior.otherCollections(in: home).map {
                    (.collection($0), CalendarTarget.path(home: home, id: $0.id, object: nil))
                }
        case .calendar(let home, let id):
            guard let calendar = service.calendar(home: home, id: id) else { return nil }
            let objects = children ? calendar.objects.sorted { $0.key < $1.key } : []
            return [(.calendar(calendar), request.target.path)]
                + objects.map { name, object in
                    (.object(object), CalendarTarget.path(home: home, id: id, object: name))
                }
        case .object(let home, let id, let name):
            return service.calendar(home: home, id: id)?.objects[name].map { [(.object($0), request.target.path)] }
        default: return nil
        }
    }
}
