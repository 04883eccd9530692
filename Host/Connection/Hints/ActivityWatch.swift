import FoundationEssentials
import Model
import Transfer

/// The state of reading a server's activities. Nextcloud's list is asked for the activities after an id, the oldest
/// first.
struct ActivityWatch: Equatable {
    /// The id of the newest activity that was read; nil before the first answer. The first request asks for the newest
    /// activity.
    private(set) var newest: Int64?
    /// The number of pages read in a row.
    private var pages = 0

    static let path = "ocs/v2.php/apps/activity/api/v2/activity"
    /// The largest number of pages in a row. A turn of an event loop has the same limit.
    private static let mostPages = 50

    enum Next: Equatable {
        case page
        case pause(HintPause)
    }

    var query: String {
        newest.map { "format=json&since=\($0)&limit=50&sort=asc" } ?? "format=json&limit=1&sort=desc"
    }

    /// Takes an answer.
    /// - Returns: The hints that follow from the answer, and the next request or the pause before it; nil if the answer
    ///   cannot be read.
    mutating func take(status: Int, _ headers: HTTPHeaders, _ body: [UInt8]) -> (hints: HintSet, next: Next)? {
        // The newest known activity is no longer in the list, so anything may have happened since.
        let hasGap = newest != nil && headers.contains(name: "X-Activity-First-Known")
        var hints: HintSet = hasGap ? .everything : []
        switch status {
        case 200:
            guard let page = Page(json: body) else { return nil }
            let isFirst = newest == nil
            let last =
                headers.first(name: "X-Activity-Last-Given").flatMap { Int64($0) } ?? page.ids.max() ?? newest ?? 0
            let isFurther = last > newest ?? -1
            newest = last
            if !isFirst { for type in page.types { hints.formUnion(HintSet(activity: type)) } }
            let hasMore = headers["Link"].contains { $0.contains("rel=\"next\"") }
            pages += 1
            guard !isFirst, hasMore, isFurther, pages < Self.mostPages else { return (hints, pause(.short)) }
            return (hints, .page)
        // There is nothing newer, or the list has ended.
        case 304:
            if hasGap || newest == nil { newest = hasGap ? nil : 0 }
            return (hints, pause(.short))
        // The user wants no activities listed.
        case 204: return (hints, pause(.hour))
        // The id belongs to another user by now: reading begins anew.
        case 403 where newest != nil:
            newest = nil
            return (.everything, pause(.short))
        case 401: return ([], pause(.refused))
        case 400..<500: return ([], pause(.day))
        default: return nil
        }
    }

    private mutating func pause(_ pause: HintPause) -> Next {
        pages = 0
        return .pause(pause)
    }

    /// The part of a list of activities that Larder reads.
    private struct Page: Decodable {
        private var ocs: OCS
        private struct OCS: Decodable { var data: [Activity] }
        private struct Activity: Decodable {
            var id: Int64?
            var type: String?

            private enum CodingKeys: String, CodingKey {
                case id = "activity_id"
                case type
            }
        }

        init?(json: [UInt8]) {
            do { self = try JSONDecoder().decode(Page.self, from: Data(json)) } catch { return nil }
        }

        var types: [String] { ocs.data.map { $0.type ?? "" } }
        var ids: [Int64] { ocs.data.compactMap(\.id) }
    }
}
