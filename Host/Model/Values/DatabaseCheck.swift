/// What a look at a vault's database and its backups found.
public struct DatabaseCheck: Hashable, Sendable {
    /// What became of the database.
    public enum State: String, Sendable {
        case sound, damaged, missing
        /// A restore began and did not end.
        case restoring
    }

    /// A backup, as it was found.
    public struct Backup: Hashable, Sendable {
        /// Where the file is, absolute.
        public var path: String
        /// When it was made.
        public var made: Timestamp
        /// What is wrong with it; nil: nothing.
        public var problem: String?
        /// Whether the problem is that it cannot be read: what it holds is not known then.
        public var isUnreadable = false
        public var policies: Int64
        public var claims: Int64

        public init(path: String, made: Timestamp, problem: String?, policies: Int64 = 0, claims: Int64 = 0) {
            self.path = path
            self.made = made
            self.problem = problem
            self.policies = policies
            self.claims = claims
        }
    }

    /// The database's file, absolute.
    public var path: String
    public var state: State
    /// What is wrong with it; nil: nothing.
    public var problem: String?
    /// The newest first.
    public var backups: [Backup]

    public init(path: String, state: State, problem: String?, backups: [Backup]) {
        self.path = path
        self.state = state
        self.problem = problem
        self.backups = backups
    }

    /// What a restore takes; nil: there is none, and it begins with an empty database.
    public var newestSound: Backup? { backups.first { $0.problem == nil } }
}
