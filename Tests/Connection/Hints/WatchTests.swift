import Model
import Testing
import Transfer

@testable import Connection

struct WatchTests {
    @Test("O06: another ETag of the notifications is news, the first is not; 204 lowers the rate to hourly")
    func notifications() throws {
        var watch = NotificationWatch()
        func take(_ status: Int, _ tag: String? = nil) -> (HintSet, HintPause)? {
            watch.take(status: status, tag.map { ["ETag": $0] } ?? [:]).map { ($0.hints, $0.pause) }
        }
        let steps: [(Int, String?, HintSet, HintPause)] = [
            (200, "\"a\"", [], .short), (200, "\"a\"", [], .short), (304, nil, [], .short),
            (200, "W/\"a\"", [], .short),
            (200, "\"b\"", [.shares, .account], .short), (204, nil, [], .hour), (200, "\"b\"", [], .short),
            (404, nil, [], .day),
            (401, nil, [], .refused), (200, nil, [], .day),
        ]
        for (index, (status, tag, hints, pause)) in steps.enumerated() {
            let told = try #require(take(status, tag))
            #expect(told == (hints, pause), "step \(index)")
        }
        #expect(take(500) == nil)
    }

    private static func page(_ activities: [(Int, String)]) -> [UInt8] {
        let list = activities.map { #"{"activity_id":\#($0.0),"type":"\#($0.1)","x":null}"# }.joined(separator: ",")
        return Array(#"{"ocs":{"meta":{"statuscode":200},"data":[\#(list)]}}"#.utf8)
    }

    private static let next: HTTPHeaders = ["Link": "<https://h/x?since=9>; rel=\"next\""]

    @Test("O07: activities are read from the newest on, oldest first, page by page; 304 is no error")
    func activities() throws {
        var watch = ActivityWatch()
        #expect(watch.query == "format=json&limit=1&sort=desc")
        let first = watch.take(status: 200, Self.next, Self.page([(7, "file_changed")]))
        #expect(first?.hints == [] && first?.next == .pause(.short) && watch.newest == 7)
        #expect(watch.query == "format=json&since=7&limit=50&sort=asc")
        let second = watch.take(status: 304, [:], [])
        #expect(second?.hints == [] && second?.next == .pause(.short) && watch.newest == 7)
        var headers = Self.next
        headers.add(name: "X-Activity-Last-Given", value: "9")
        let third = watch.take(status: 200, headers, Self.page([(8, "shared"), (9, "file_created")]))
        #expect(third?.hints == [.items, .shares] && third?.next == .page && watch.newest == 9)
        // An identical page ends the paging.
        #expect(watch.take(status: 200, headers, Self.page([(9, "shared")]))?.next == .pause(.short))
        for page in 0..<49 {
            #expect(watch.take(status: 200, Self.next, Self.page([(10 + page, "shared")]))?.next == .page)
        }
        #expect(watch.take(status: 200, Self.next, Self.page([(99, "shared")]))?.next == .pause(.short))
    }

    @Test("O07: when what was known last is not there any more, everything is to be looked at")
    func gap() throws {
        for status in [200, 304] {
            var watch = ActivityWatch()
            _ = watch.take(status: 200, [:], Self.page([(7, "shared")]))
            let told = watch.take(status: status, ["X-Activity-First-Known": "90"], Self.page([(90, "shared")]))
            #expect(told?.hints == .everything && told?.next == .pause(.short))
            #expect(watch.newest == (status == 200 ? 90 : nil))
        }
        var foreign = ActivityWatch()
        _ = foreign.take(status: 200, [:], Self.page([(7, "shared")]))
        #expect(foreign.take(status: 403, [:], [])?.hints == .everything && foreign.newest == nil)
    }

    @Test("a server without activities, or a user who wants none, is left alone")
    func none() {
        var watch = ActivityWatch()
        #expect(watch.take(status: 304, [:], [])?.next == .pause(.short) && watch.newest == 0)
        #expect(watch.take(status: 204, [:], [])?.next == .pause(.hour))
        for (status, pause) in [(401, HintPause.refused), (403, .day), (404, .day)] {
            var watch = ActivityWatch()
            #expect(watch.take(status: status, [:], [])?.next == .pause(pause))
        }
        #expect(watch.take(status: 200, [:], Array("<html>".utf8)) == nil && watch.take(status: 500, [:], []) == nil)
    }
}
