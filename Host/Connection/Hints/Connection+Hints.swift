public import Model

extension Connection {
    /// Listens to what the server announces, until the stream is dropped or the task that reads it is cancelled.
    ///
    /// Hints are where to look now, never what happened there. OpenCloud sends them as events; what happened while nobody listened
    /// is not known, so each connection begins with a hint for everything. Nextcloud is asked for its notifications and activities.
    /// Other servers are asked once a day whether they have become one of these. Hints that nobody has taken yet become one.
    public func hints() -> AsyncStream<HintSet> {
        let (stream, continuation) = AsyncStream.makeStream(of: HintSet.self, bufferingPolicy: .bufferingNewest(1))
        let listener = HintListener(connection: self, emit: HintEmitter(continuation))
        // The stream owns it: it ends with the stream.
        let task = Task { await listener.listen() }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
