import Model
import NIOHTTP1

/// What is known of a server's notifications: Nextcloud's list has an ETag that changes with the ids in it.
struct NotificationWatch: Equatable {
    /// The list's version; nil before it was seen first.
    private(set) var version: String?

    static let path = "ocs/v2.php/apps/notifications/api/v2/notifications"

    /// Takes an answer.
    ///
    /// The ETags are compared here: servers since Nextcloud 22 answer 200 whatever the condition.
    /// - Returns: what is to be looked at now, and when to ask again; nil if the answer says nothing.
    mutating func take(status: Int, _ headers: HTTPHeaders) -> (hints: HintSet, pause: HintPause)? {
        switch status {
        case 200:
            guard let tag = headers.first(name: "ETag").flatMap({ ETag(field: $0) }) else { return ([], .day) }
            let isNews = version.map { !$0.hasSameBytes(as: tag.opaque) } ?? false
            version = tag.opaque
            return (isNews ? [.shares, .account] : [], .short)
        case 304: return ([], .short)
        // Nothing on the server notifies: not more than once an hour.
        case 204: return ([], .hour)
        case 401: return ([], .refused)
        case 400..<500: return ([], .day)
        default: return nil
        }
    }
}
