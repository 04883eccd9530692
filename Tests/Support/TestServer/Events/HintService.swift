import DemoServer
import HTTPTypes

/// Answers the requests for notifications and activities (Nextcloud), and opens streams of events (OpenCloud).
struct HintService: Sendable {
    let hints: Hints
    let manner: HintManner
    let user: String

    private static let notifications = "/apps/notifications/api/v2/notifications"
    private static let stream = "/apps/notifications/api/v1/notifications/sse"
    private static let activity = "/apps/activity/api/v2/activity"

    static func serves(_ path: String) -> Bool {
        path == notifications || path == stream || path == activity || path.hasPrefix(activity + "/")
    }

    func answer(_ request: OCSRequest) -> Answer {
        guard request.method == "GET" else { return OCSReply(405, "Method not allowed").answer(to: request) }
        switch request.path {
        case Self.notifications where manner.notifications != .absent: return notifications(request)
        case Self.stream where manner.stream: return stream()
        case Self.activity, Self.activity + "/all":
            if manner.activity { return activities(request) }
        default: break
        }
        return OCSReply.unknown.answer(to: request)
    }

    private func notifications(_ request: OCSRequest) -> Answer {
        guard manner.notifications == .listed else { return Answer(.noContent) }
        let all = hints.notifications
        // The ETag covers the ids alone.
        let etag = "\"" + all.map { "\($0.id)" }.joined(separator: "-") + "\""
        if manner.notificationsNotModified, request.fields[.ifNoneMatch] == etag { return Answer(.notModified) }
        var answer = OCSReply(
            .list(
                all.reversed().map { notification in
                    .object([
                        ("notification_id", .number(notification.id)), ("app", .text(notification.app)),
                        ("user", .text(user)), ("datetime", .text("2026-01-01T00:00:00+00:00")),
                        ("object_type", .text(notification.objectType)), ("object_id", .text(notification.objectID)),
                        ("subject", .text(notification.subject)), ("message", .text("")), ("actions", .list([])),
                    ])
                })
        ).answer(to: request)
        answer.fields[.eTag] = etag
        return answer
    }

    private func activities(_ request: OCSRequest) -> Answer {
        if manner.activityUnused { return Answer(.noContent) }
        let all = hints.activities
        let since = request.query["since"].flatMap { Int($0) } ?? 0
        let isAscending = request.query["sort"] == "asc"
        let limit = max(1, request.query["limit"].flatMap { Int($0) } ?? 50)
        let fitting = isAscending ? all.filter { $0.id > since } : all.reversed().filter { since == 0 || $0.id < since }
        let given = fitting.prefix(limit)
        var fields = HTTPFields()
        // A client that asks from an activity that no longer exists has missed some activities.
        if since > 0, !all.contains(where: { $0.id == since }), let first = all.first {
            fields[named: "X-Activity-First-Known"] = "\(first.id)"
        }
        if let last = given.last {
            fields[named: "X-Activity-Last-Given"] = "\(last.id)"
            if given.count < fitting.count {
                fields[named: "Link"] =
                    "<\(request.origin)/ocs/v\(request.version).php\(request.path)?since=\(last.id)&limit=\(limit)"
                    + "&sort=\(isAscending ? "asc" : "desc")>; rel=\"next\""
            }
        }
        var answer = Answer(.notModified)
        if !given.isEmpty {
            answer = OCSReply(
                .list(
                    given.map { activity in
                        .object([
                            ("activity_id", .number(activity.id)), ("app", .text("files_sharing")),
                            ("type", .text(activity.type)), ("user", .text(user)), ("subject", .text(activity.subject)),
                            ("object_type", .text("files")), ("object_name", .text(activity.objectName)),
                            ("datetime", .text("2026-01-01T00:00:00+00:00")),
                        ])
                    })
            ).answer(to: request)
        }
        answer.fields.append(contentsOf: fields)
        return answer
    }

    private func stream() -> Answer {
        var answer = Answer(.ok)
        answer.fields[.contentType] = "text/event-stream"
        answer.fields[.cacheControl] = "no-cache"
        answer.body = .chunks { sink in
            for await chunk in hints.open() { try await sink(chunk) }
        }
        return answer
    }
}
