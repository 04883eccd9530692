public import Model

/// An event of an account's change feed.
public struct FeedEvent: Sendable {
    /// How something changed, for the reader who is told of it.
    public enum Change: String, Hashable, Sendable { case added, updated, removed }

    /// What an event tells.
    public enum Content: Sendable {
        /// The newest state of an item. Of an item whose row was deleted only the path, the type and the local id are
        /// known.
        case item(Change, ItemReport)
        /// The newest state of a sync record. The lane and the progress are not looked for.
        case record(Change, SyncRecordReport)
        /// A sync record that left the journal, with the action and the path that it had.
        case recordGone(SyncRecordID, action: String, path: String)
        /// The newest state of an issue.
        case issue(Change, Issue)
        /// An issue that is over, with the code that it had.
        case issueGone(IssueID, code: String)
        /// The newest state of an event loop.
        case loop(Change, LoopState)
        /// An event loop that its plugin does not offer any more.
        case loopGone(LoopKey)
        /// The state in which the host found a plugin.
        case plugin(PluginID, state: String, reason: String?)
        /// Changes that are not known any more: everything must be listed anew.
        case gap(from: ChangePosition, to: ChangePosition)
        /// Nothing but the position.
        case bookmark
    }

    /// The position from which a reader goes on that has this event and all before it. A reader that goes on from it may
    /// be told again of what one transaction changed, and misses nothing.
    public var position: ChangePosition
    /// What the event tells.
    public var content: Content

    /// Creates an event.
    public init(position: ChangePosition, content: Content) {
        self.position = position
        self.content = content
    }
}
