import Model
import Transfer

/// The known state of a server's notifications. Nextcloud's list has an ETag that changes with the ids in the list.
struct NotificationWatch: Equatable {
    /// The ETag of the list; nil before the first answer.
    private(set) var version: String?

    static let path = "ocs/v2.php/apps/notifications/api/v2/notifications"

    /// Takes an answer.
    ///
    /// Compares the ETags itself: servers since Nextcloud 22 answer 200 whatever the request's condition.
    /// - Returns: The hints that follow from the answer, and the pause before the next request; nil if the answer says
    ///   nothing.
    mutating func take(status: Int, _ headers: HTTPHeaders) -> (hints: HintSet, pause: HintPause)? {
        switch status {
        case 200:
            guard let tag = headers.first(name: "ETag").flatMap({ ETag(field: $0) }) else { return ([], .day) }
            let isNews = version.map { !$0.hasSameBytes(as: tag.opaque) } ?? false
            version = tag.opaque
            return (isNews ? [.shares, .account] : [], .short)
        case 304: return ([], .short)
        // Nothing on the server sends notifications, so asking once an hour is enough.
        case 204: return ([], .hour)
        case 401: return ([], .refused)
        case 400..<500: return ([], .day)
        default: return nil
        }
    }
}
