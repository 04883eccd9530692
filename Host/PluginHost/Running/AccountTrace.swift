public import Model

/// The trace of the calls into the plugins of an account: a file of the process, and whoever listens.
public struct AccountTrace: Sendable {
    /// The file; nil if there is none.
    let file: TraceWriter?
    private let feeds: TraceFeeds?
    private let account: String

    /// Creates a trace.
    /// - Parameters:
    ///   - file: The file; nil writes no file.
    ///   - feeds: The feeds of the process; nil if nobody can listen.
    ///   - account: The account's name.
    public init(to file: TraceWriter?, _ feeds: TraceFeeds?, of account: String) {
        (self.file, self.feeds, self.account) = (file, feeds, account)
    }

    /// Returns the trace of one plugin's calls.
    func calls(of plugin: PluginID) -> CallTrace {
        CallTrace(file: file, feed: feeds?.feed(of: plugin, in: account))
    }

    /// Writes that a request of a finished call is not carried out. May be called on any thread.
    /// - Parameters:
    ///   - action: The request, such as `download`.
    ///   - path: Returns the path of the item that the request is about. It is not called if there is no trace.
    ///   - plugin: The plugin that made the request.
    ///   - because: The reason, as a sentence.
    ///   - time: The time of the line.
    public func dropped(
        _ action: String, path: () throws -> String?, by plugin: PluginID, because: String, at time: Timestamp
    ) rethrows {
        let calls = calls(of: plugin)
        guard calls.isWanted else { return }
        calls.dropped(action, path: try path(), by: plugin, because: because, at: time)
    }
}

/// The trace of the calls into one plugin for one account.
struct CallTrace: TraceSink {
    let file: TraceWriter?
    let feed: TraceFeed?

    /// Whether there is a file, or somebody listens now.
    var isWanted: Bool { file != nil || feed?.isHeard == true }

    func write(_ members: String) {
        file?.write(members)
        feed?.write(members)
    }
}
