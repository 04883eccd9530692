/// One action of the sync engine, as it lies in the journal.
public struct SyncRecord: Hashable, Sendable {
    /// How far the engine has come with a record. The raw values are the journal's.
    public enum State: Int, Sendable, CaseIterable {
        /// In the journal, its preflight not done.
        case pending = 0
        /// May be scheduled as soon as its lane and the budgets let it.
        case ready = 1
        /// Scheduled: a request is under way or its result is being handled.
        case processing = 2
        /// Done; goes with the next transaction.
        case completed = 3
        /// Can never be done; an issue says why.
        case failed = 4

        public var name: String {
            switch self {
            case .pending: "pending"
            case .ready: "ready"
            case .processing: "processing"
            case .completed: "completed"
            case .failed: "failed"
            }
        }
    }

    /// What is to be done, with its parameters.
    public enum Action: Hashable, Sendable {
        case download
        /// With `unusedSince` a copy that somebody uses, or has used since then, is passed over; otherwise it is waited for.
        case removeLocalCopy(restoringFormerTrigger: Bool, unusedSince: Timestamp? = nil)
        /// Of an item that is no longer on the server: its copy goes, and then its row.
        case purge

        public var kind: Kind {
            switch self {
            case .download: .download
            case .removeLocalCopy: .removeLocalCopy
            case .purge: .purge
            }
        }

        /// An action without its parameters, by the name that the journal and people know it by.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            case download, removeLocalCopy, purge

            /// Whether it takes a copy away, and so needs no server.
            public var isRemoval: Bool {
                switch self {
                case .removeLocalCopy, .purge: true
                case .download: false
                }
            }
        }
    }

    public var id: SyncRecordID
    public var action: Action
    public var state: State
    public var localID: LocalID
    /// The item's path when the record was written, or after a move.
    public var path: ItemPath
    /// Who asked: `user`, `availableOffline`, or a plugin's id.
    public var reason: DownloadTrigger
    public var key: String?
    public var since: Timestamp
    /// How often it was tried.
    public var attempts: Int
    public var wait: WaitCondition?

    /// How often new metadata was waited for.
    public var rounds: Int
    /// A download that is complete and on its way into the tree.
    public var landing: Landing?
    /// The changed file that a person has agreed to lose to this download, by its looks when that was agreed.
    public var overwrites: FileMark?
    /// Of a download: whether it is dropped when the policies of who asked no longer cover the item.
    public var whileCovered: Bool

    public init(
        id: SyncRecordID = .none, action: Action, state: State = .pending, localID: LocalID, path: ItemPath,
        reason: DownloadTrigger, key: String? = nil, since: Timestamp, attempts: Int = 0, wait: WaitCondition? = nil,
        rounds: Int = 0, landing: Landing? = nil, overwrites: FileMark? = nil, whileCovered: Bool = false
    ) {
        self.id = id
        self.action = action
        self.state = state
        self.localID = localID
        self.path = path
        self.reason = reason
        self.key = key
        self.since = since
        self.attempts = attempts
        self.wait = wait
        self.rounds = rounds
        self.landing = landing
        self.overwrites = overwrites
        self.whileCovered = whileCovered
    }

    /// Whether what comes later about the same item, or along its path, is done after it. A download that waits for its place or for a
    /// person is out of the way of what is to leave that place.
    public var holdsLane: Bool {
        switch (action, wait) {
        case (.download, .place), (.download, .issue): false
        default: true
        }
    }
}

/// What is known of a complete download before it is put in place, so that its file is known again after a crash.
public struct Landing: Hashable, Sendable {
    /// The version whose bytes these are.
    public var etag: ETag
    /// SHA-256, 32 bytes.
    public var digest: [UInt8]
    /// In bytes.
    public var size: Int64
    /// The server's modification time, which the copy gets.
    public var modified: Timestamp?

    public init(etag: ETag, digest: [UInt8], size: Int64, modified: Timestamp?) {
        self.etag = etag
        self.digest = digest
        self.size = size
        self.modified = modified
    }
}

/// What a record waits for before it is tried again.
public enum WaitCondition: Hashable, Sendable {
    /// Back-off or `Retry-After`.
    case until(Timestamp)
    /// New metadata of the item, since the server has another version than the one that was asked for; given up then.
    case newVersion(since: ETag, until: Timestamp)
    /// That a copy goes which lies at its place, as it does in vacuum's time; looked at again then, and after each scan.
    case place
    /// An answer to the issue with this id.
    case issue(IssueID)
}

/// Something that waits for a person.
public struct Issue: Hashable, Sendable {
    /// What a choice does to data.
    public enum Impact: String, Sendable { case nonDestructive, dataLoss }

    /// An answer that a person may give.
    public struct Choice: Hashable, Sendable {
        /// What `issue resolve` takes.
        public var id: String
        public var label: String
        public var impact: Impact

        public init(id: String, label: String, impact: Impact) {
            self.id = id
            self.label = label
            self.impact = impact
        }
    }

    public var id: IssueID
    /// The record that waits for the answer, if one does.
    public var record: SyncRecordID?
    /// A stable name of the kind of issue, such as `download.retry`.
    public var code: String
    /// What it is about: an item's path, an href, a host's name. With the code it makes the issue the same one.
    public var subject: String
    public var message: String
    public var choices: [Choice]
    public var created: Timestamp
    /// The exit code's class that the issue stands for.
    public var failure: Failure.Kind

    public init(
        id: IssueID = .none, record: SyncRecordID? = nil, code: String, subject: String, message: String,
        choices: [Choice],
        created: Timestamp, failure: Failure.Kind = .failed
    ) {
        self.id = id
        self.record = record
        self.code = code
        self.subject = subject
        self.message = message
        self.choices = choices
        self.created = created
        self.failure = failure
    }
}
