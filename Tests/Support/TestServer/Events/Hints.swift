import NIOCore
import Threads

/// What a server tells those who want to know of changes: notifications, activities, and a stream of events.
public final class Hints: Sendable {
    struct Notification: Sendable {
        var id: Int
        var app: String
        var objectType: String
        var objectID: String
        var subject: String
    }

    struct Activity: Sendable {
        var id: Int
        var type: String
        var subject: String
        var objectName: String
    }

    private struct Contents: Sendable {
        var notifications: [Notification] = []
        var activities: [Activity] = []
        var last = 0
        var streams: [Int: AsyncStream<ByteBuffer>.Continuation] = [:]
        var opened = 0
        /// How often everybody was let go.
        var closings = 0
    }

    private let state = Monitor(Contents())

    init() {}

    /// Adds a notification.
    /// - Returns: its id.
    @discardableResult public func notify(
        _ subject: String, app: String = "files_sharing", objectType: String = "remote_share", objectID: String = "1"
    ) -> Int {
        state.change { state in
            state.last += 1
            state.notifications.append(
                Notification(
                    id: state.last, app: app, objectType: objectType, objectID: objectID, subject: subject))
            return state.last
        }
    }

    public func removeNotifications() { state.change { $0.notifications = [] } }

    /// Adds an activity.
    /// - Returns: its id.
    @discardableResult public func addActivity(_ type: String, _ subject: String, objectName: String = "") -> Int {
        state.change { state in
            state.last += 1
            state.activities.append(
                Activity(id: state.last, type: type, subject: subject, objectName: objectName))
            return state.last
        }
    }

    /// Drops the activities before one, as servers do with old ones.
    public func forgetActivities(before id: Int) { state.change { $0.activities.removeAll { $0.id < id } } }

    /// Sends an event to everybody who listens.
    /// - Parameter data: JSON on one line.
    public func send(_ event: String, data: String = "{}") { send(text: "event: \(event)\ndata: \(data)\n\n") }

    /// Sends text as it is, such as `: keep-alive` and an empty line.
    public func send(text: String) {
        let streams = state.change { Array($0.streams.values) }
        for stream in streams { stream.yield(ByteBuffer(string: text)) }
    }

    /// Closes all streams of events.
    public func cutStreams() {
        let streams = state.change { Array($0.streams.values) }
        for stream in streams { stream.finish() }
    }

    /// How many streams were ever opened.
    public var streamsOpened: Int { state.change { $0.opened } }

    /// Waits until so many streams were ever opened.
    public func untilStreamsOpened(_ count: Int) async {
        let closings = state.with(\.closings)
        await state.wait { $0.opened >= count || $0.closings > closings }
    }

    var notifications: [Notification] { state.change { $0.notifications } }

    var activities: [Activity] { state.change { $0.activities } }

    /// The events from now on, until the streams are cut.
    func open() -> AsyncStream<ByteBuffer> {
        let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
        state.change { state in
            state.opened += 1
            let number = state.opened
            state.streams[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.change { $0.streams[number] = nil }
            }
        }
        return stream
    }

    /// Lets go of everybody who listens or waits.
    func close() {
        cutStreams()
        state.change { $0.closings += 1 }
    }
}
