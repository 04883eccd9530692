import FoundationEssentials
import Model
import NIOHTTP1

/// How far a server's activities were read: Nextcloud's list is asked for what came after an id, oldest first.
struct ActivityWatch: Equatable {
    /// The newest activity that was seen; nil: it is asked for first.
    private(set) var newest: Int64?
    /// Pages in a row.
    private var pages = 0

    static let path = "ocs/v2.php/apps/activity/api/v2/activity"
    /// As many as a turn of an event loop has.
    private static let mostPages = 50

    enum Next: Equatable {
        case page
        case pause(HintPause)
    }

    var query: String {
        newest.map { "format=json&since=\($0)&limit=50&sort=asc" } ?? "format=json&limit=1&sort=desc"
    }

    /// Takes an answer.
    /// - Returns: what is to be looked at now, and when to ask for what; nil if the answer makes no sense.
    mutating func take(status: Int, _ headers: HTTPHeaders, _ body: [UInt8]) -> (hints: HintSet, next: Next)? {
        // What was known last is not there any more: there may have been anything since.
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
        // Nothing newer, or the end.
        case 304:
            if hasGap || newest == nil { newest = hasGap ? nil : 0 }
            return (hints, pause(.short))
        // The user wants none listed.
        case 204: return (hints, pause(.hour))
        // The id is another user's by now: begin anew.
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

    /// What of a list of activities is of use.
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
