/// The result of a check of a vault's database and its backups.
public struct DatabaseCheck: Hashable, Sendable {
    /// The state of the database.
    public enum State: String, Sendable {
        case sound, damaged, missing
        /// A restore that began and did not end.
        case restoring
    }

    /// A backup, with the result of its check.
    public struct Backup: Hashable, Sendable {
        /// The absolute path of the file.
        public var path: String
        /// The time when the backup was made.
        public var made: Timestamp
        /// The problem of the backup, or nil if there is none.
        public var problem: String?
        /// Whether the problem is that the backup cannot be read. Its contents are not known then.
        public var isUnreadable = false
        /// The number of policies in the backup.
        public var policies: Int64
        /// The number of claims in the backup.
        public var claims: Int64

        /// Creates the result for a backup.
        public init(path: String, made: Timestamp, problem: String?, policies: Int64 = 0, claims: Int64 = 0) {
            self.path = path
            self.made = made
            self.problem = problem
            self.policies = policies
            self.claims = claims
        }
    }

    /// The absolute path of the database's file.
    public var path: String
    /// The state of the database.
    public var state: State
    /// The problem of the database, or nil if there is none.
    public var problem: String?
    /// The backups, the newest first.
    public var backups: [Backup]

    /// Creates a result.
    public init(path: String, state: State, problem: String?, backups: [Backup]) {
        self.path = path
        self.state = state
        self.problem = problem
        self.backups = backups
    }

    /// The backup that a restore takes, or nil if there is none. A restore then begins with an empty database.
    public var newestSound: Backup? { backups.first { $0.problem == nil } }
}
