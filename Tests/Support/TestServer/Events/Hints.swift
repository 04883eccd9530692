import Threads

/// The hints of changes that a server gives its clients: notifications, activities, and a stream of events.
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
        var streams: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var opened = 0
        /// The number of times that all listeners and waiters were released.
        var closings = 0
    }

    private let state = Monitor(Contents())

    init() {}

    /// Adds a notification.
    /// - Returns: the notification's id.
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

    /// Removes all notifications.
    public func removeNotifications() { state.change { $0.notifications = [] } }

    /// Adds an activity.
    /// - Returns: the activity's id.
    @discardableResult public func addActivity(_ type: String, _ subject: String, objectName: String = "") -> Int {
        state.change { state in
            state.last += 1
            state.activities.append(
                Activity(id: state.last, type: type, subject: subject, objectName: objectName))
            return state.last
        }
    }

    /// Drops the activities before an id, as servers drop old activities.
    public func forgetActivities(before id: Int) { state.change { $0.activities.removeAll { $0.id < id } } }

    /// Sends an event to all open streams.
    /// - Parameter data: the event's data, JSON on one line.
    public func send(_ event: String, data: String = "{}") { send(text: "event: \(event)\ndata: \(data)\n\n") }

    /// Sends text unchanged to all open streams, such as `: keep-alive` and an empty line.
    public func send(text: String) {
        let streams = state.change { Array($0.streams.values) }
        for stream in streams { stream.yield(Array(text.utf8)) }
    }

    /// Closes all streams of events.
    public func cutStreams() {
        let streams = state.change { Array($0.streams.values) }
        for stream in streams { stream.finish() }
    }

    /// The number of streams opened since the server started.
    public var streamsOpened: Int { state.change { $0.opened } }

    /// Waits until at least `count` streams have been opened since the server started, or until the server stops.
    public func untilStreamsOpened(_ count: Int) async {
        let closings = state.with(\.closings)
        await state.wait { $0.opened >= count || $0.closings > closings }
    }

    var notifications: [Notification] { state.change { $0.notifications } }

    var activities: [Activity] { state.change { $0.activities } }

    /// Opens a stream of the events from now on, until the streams are cut.
    func open() -> AsyncStream<[UInt8]> {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
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

    /// Ends all streams and releases everybody that waits for one.
    func close() {
        cutStreams()
        state.change { $0.closings += 1 }
    }
}
