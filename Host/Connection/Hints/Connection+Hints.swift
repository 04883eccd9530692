public import Model

extension Connection {
    /// Listens to the server's announcements until the stream is dropped or the task that reads the stream is
    /// cancelled.
    ///
    /// A hint says where to check now. It never says what happened there. OpenCloud sends hints as events. Events
    /// before the connection are lost, so each connection begins with a hint for everything. Nextcloud is asked for its
    /// notifications and activities. Other servers are asked once a day whether they have become one of these. Hints
    /// that nobody has taken yet are merged into one.
    public func hints() -> AsyncStream<HintSet> {
        let (stream, continuation) = AsyncStream.makeStream(of: HintSet.self, bufferingPolicy: .bufferingNewest(1))
        let listener = HintListener(connection: self, emit: HintEmitter(continuation))
        // The stream owns the task, so the task ends with the stream.
        let task = Task { await listener.listen() }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
