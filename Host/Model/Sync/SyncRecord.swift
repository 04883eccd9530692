/// A record of one action of the sync engine in the journal.
public struct SyncRecord: Hashable, Sendable {
    /// The state of a record. The raw values are stored in the journal.
    public enum State: Int, Codable, Sendable, CaseIterable {
        /// In the journal, before its turn can come.
        case pending = 0
        /// Ready to be scheduled as soon as its lane and the budgets allow it.
        case ready = 1
        /// Scheduled: a request is under way, or its result is being handled.
        case processing = 2
        /// Done, but for what it brings to its place here. The next transaction removes the record.
        case completed = 3
        /// Impossible to do without a person. An issue tells the reason.
        case failed = 4

        /// The state's name.
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

    /// An action with its parameters.
    public enum Action: Hashable, Sendable {
        case download
        /// The removal of an item's copy. With `unusedSince` the copy stays if somebody uses it, or has used it since
        /// then. Otherwise the removal waits for the end of the use.
        case removeLocalCopy(restoringFormerTrigger: Bool, unusedSince: Timestamp? = nil)
        /// The removal of the copy of an item that is no longer on the server, and then of the item's row.
        case purge
        /// The creation of a folder on the server. The record's item is the folder's placeholder.
        case createFolder
        /// The deletion of an item on the server, with everything below. With `isForced`, the item is also deleted if
        /// the server has another version than the one that was seen.
        case delete(isForced: Bool = false)
        /// The move of an item to another path on the server.
        case move(to: ItemPath)
        /// The copy of what is at a path to the record's path, on the server. The record's item is the placeholder of
        /// the copy.
        case copy(from: ItemPath)
        /// The change of the mark that makes an item a favorite of the account.
        case setFavorite(Bool)
        /// The change of a file's modification time. `former` is the time before, which the file shows again if the
        /// change is taken back.
        case setModificationTime(Timestamp, former: Timestamp?)
        /// The upload of a file. The record's item is the file, or its placeholder if the file is new.
        case upload(Upload)

        /// The kind of action.
        public var kind: Kind {
            switch self {
            case .download: .download
            case .removeLocalCopy: .removeLocalCopy
            case .purge: .purge
            case .createFolder: .createFolder
            case .delete: .delete
            case .move: .move
            case .copy: .copy
            case .setFavorite: .setFavorite
            case .setModificationTime: .setModificationTime
            case .upload: .upload
            }
        }

        /// The second path of an action about two places: the target of a move, or the source of a copy.
        public var otherPath: ItemPath? {
            switch self {
            case .move(let target): target
            case .copy(let source): source
            case .download, .removeLocalCopy, .purge, .createFolder, .delete, .setFavorite, .setModificationTime,
                .upload:
                nil
            }
        }

        /// An action without its parameters. The raw value is the name in the journal and for people.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            case download, removeLocalCopy, purge, createFolder, delete, move, copy, setFavorite, setModificationTime
            case upload

            /// Whether the action removes a copy, and so needs no server.
            public var isRemoval: Bool {
                switch self {
                case .removeLocalCopy, .purge: true
                case .download, .createFolder, .delete, .move, .copy, .setFavorite, .setModificationTime, .upload: false
                }
            }

            /// Whether the action changes something on the server.
            public var changesServer: Bool {
                switch self {
                case .createFolder, .delete, .move, .copy, .setFavorite, .setModificationTime, .upload: true
                case .download, .removeLocalCopy, .purge: false
                }
            }
        }
    }

    /// The record's id.
    public var id: SyncRecordID
    /// The action.
    public var action: Action
    /// The state.
    public var state: State
    /// The state as it is told: ``state``, and what the record's wait and landing say more. A record that waits for a
    /// time, a place or a listing is pending, one that waits for a person has failed, and one whose download is complete
    /// and about to be in its place is completed.
    public var toldState: State {
        switch wait {
        case .issue: .failed
        case .until, .newVersion, .place, .retry: .pending
        case nil: landing == nil ? state : .completed
        }
    }
    /// The item's id.
    public var localID: LocalID
    /// The item's path when the record was written, or after a later move. For an action that changes the server: the
    /// path that the item has on the server when the record's turn comes.
    public var path: ItemPath
    /// The requester: `user`, `availableOffline`, or a plugin's id.
    public var reason: DownloadTrigger
    /// The idempotency key of the request, if it had one.
    public var key: String?
    /// The time of the request.
    public var since: Timestamp
    /// The number of failed tries.
    public var attempts: Int
    /// The condition for which the record waits, if any.
    public var wait: WaitCondition?

    /// The number of times that the record waited for new metadata.
    public var rounds: Int
    /// The facts about a download that is complete and on its way into the tree.
    public var landing: Landing?
    /// The mark of the changed file that a person has agreed to lose to this download, taken when the person agreed.
    public var overwrites: FileMark?
    /// For a download: whether it is dropped when the requester's policies no longer cover the item.
    public var whileCovered: Bool
    /// For an action that changes the server: whether a request for the record may have reached the server.
    public var mayHaveArrived: Bool
    /// For an action that changes the server: what is known of its effect.
    public var evidence: ChangeEvidence

    /// Creates a record.
    public init(
        id: SyncRecordID = .none, action: Action, state: State = .pending, localID: LocalID, path: ItemPath,
        reason: DownloadTrigger, key: String? = nil, since: Timestamp, attempts: Int = 0, wait: WaitCondition? = nil,
        rounds: Int = 0, landing: Landing? = nil, overwrites: FileMark? = nil, whileCovered: Bool = false,
        mayHaveArrived: Bool = false, evidence: ChangeEvidence = ChangeEvidence()
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
        self.mayHaveArrived = mayHaveArrived
        self.evidence = evidence
    }

    /// Whether later records about the same item, or along its path, must wait for this record. A download that waits
    /// for its place, for a person or for a later try does not block the records that free the place.
    public var holdsLane: Bool {
        switch (action, wait) {
        case (.download, .place), (.download, .issue), (.download, .retry): false
        default: true
        }
    }
}

/// The facts about a complete download before it is put in place, so that its file is recognised after a crash.
public struct Landing: Hashable, Sendable {
    /// The version of the bytes.
    public var etag: ETag
    /// The SHA-256 digest, 32 bytes.
    public var digest: [UInt8]
    /// The size in bytes.
    public var size: Int64
    /// The server's modification time, which the copy gets.
    public var modified: Timestamp?

    /// Creates the facts.
    public init(etag: ETag, digest: [UInt8], size: Int64, modified: Timestamp?) {
        self.etag = etag
        self.digest = digest
        self.size = size
        self.modified = modified
    }
}

/// A condition for which a record waits before it is tried again.
public enum WaitCondition: Hashable, Sendable {
    /// The end of a back-off or of the server's `Retry-After`.
    case until(Timestamp)
    /// New metadata of the item, since the server has another version than the requested one. The wait is given up at
    /// `until`.
    case newVersion(since: ETag, until: Timestamp)
    /// The removal of a copy that lies at the record's place. Vacuum removes such a copy in time. The record is checked
    /// again when a copy is removed, and after each scan.
    case place
    /// An answer to the issue with this id.
    case issue(IssueID)
    /// The time of the next try, after failures of which the issue tells. The issue needs no answer.
    case retry(at: Timestamp, IssueID)

    /// The issue that tells why the record waits.
    public var issue: IssueID? {
        switch self {
        case .issue(let id), .retry(_, let id): id
        case .until, .newVersion, .place: nil
        }
    }
}

/// A question that waits for a person.
public struct Issue: Hashable, Codable, Sendable {
    /// The effect of a choice on data.
    public enum Impact: String, Codable, Sendable { case nonDestructive, dataLoss }

    /// An answer that a person may give.
    public struct Choice: Hashable, Codable, Sendable {
        /// The id that `issue resolve` takes.
        public var id: String
        /// The text of the choice for people.
        public var label: String
        /// The effect of the choice on data.
        public var impact: Impact

        /// Creates a choice.
        public init(id: String, label: String, impact: Impact) {
            self.id = id
            self.label = label
            self.impact = impact
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, record, code, message, choices
        case subject = "_subject"
        case created = "_created"
        case failure = "_failure"
    }

    /// The issue's id.
    public var id: IssueID
    /// The record that waits for the answer, if there is one.
    public var record: SyncRecordID?
    /// A stable name of the kind of issue, such as `download.retry`.
    public var code: String
    /// The subject: an item's path, an href, or a host's name. Issues with the same code and subject are the same
    /// issue.
    public var subject: String
    /// The description of the issue.
    public var message: String
    /// The choices that a person has.
    public var choices: [Choice]
    /// The time when the issue was filed.
    public var created: Timestamp
    /// The kind of failure, which selects the exit code.
    public var failure: Failure.Kind

    /// Creates an issue.
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
