import Model

/// The columns of the journal, in the order in which they are read and written.
enum SyncRecordColumns {
    static let names = [
        "id", "action", "parameters", "state", "localID", "path", "reason", "key", "since", "attempts", "rounds",
        "waitUntil", "waitVersion", "waitVersionStrength", "waitIssue", "landingETag", "landingETagStrength",
        "landingDigest", "landingSize", "landingModified", "whileCovered", "waitPlace", "otherPath", "mayHaveArrived",
        "evidence",
    ]
    static let selection = names.joined(separator: ", ")
    /// All columns except the id, which SQLite assigns.
    static let written = Array(names.dropFirst())
}

/// The conversion between a record and its row.
extension SyncRecord {
    /// Creates a record from its row; nil if the row's action or state is unknown.
    /// - Parameter first: The number of the first of the record's columns.
    init?(_ row: RawStatement, from first: Int32 = 0) {
        guard
            let action = SyncRecord.Action(
                name: row.text(first + 1), parameters: row.text(first + 2),
                otherPath: row.text(first + 22).map(ItemPath.init(unchecked:))),
            let state = row.integer(first + 3).flatMap({ SyncRecord.State(rawValue: Int($0)) })
        else { return nil }
        let until = row.integer(first + 11).map(Timestamp.init(nanoseconds:))
        let wait: WaitCondition? =
            if let issue = row.integer(first + 14).map(IssueID.init) {
                until.map { .retry(at: $0, issue) } ?? .issue(issue)
            } else if let version = ETag(row.text(first + 12), strength: row.integer(first + 13)), let until {
                .newVersion(since: version, until: until)
            } else if row.integer(first + 21) == 1 {
                .place
            } else {
                until.map(WaitCondition.until)
            }
        self.init(
            id: row.id(first + 0), action: action, state: state, localID: LocalID(row.text(first + 4) ?? ""),
            path: ItemPath(unchecked: row.text(first + 5) ?? ""), reason: DownloadTrigger(row.text(first + 6) ?? ""),
            key: row.text(first + 7), since: Timestamp(nanoseconds: row.integer(first + 8) ?? 0),
            attempts: row.count(first + 9), wait: wait,
            rounds: row.count(first + 10), landing: Landing(row, from: first),
            overwrites: action == .download ? row.text(first + 2).flatMap { FileMark(parameters: $0) } : nil,
            whileCovered: row.integer(first + 20) == 1, mayHaveArrived: row.integer(first + 23) == 1,
            evidence: row.text(first + 24).flatMap { ChangeEvidence(json: $0) } ?? ChangeEvidence())
    }

    /// Binds the values of the columns ``SyncRecordColumns/written``.
    func bind(to statement: RawStatement) {
        statement.bind(1, action.kind.rawValue)
        statement.bind(2, overwrites?.parameters ?? action.parameters)
        statement.bind(3, Int64(state.rawValue))
        statement.bind(4, localID.text)
        statement.bind(5, path.text)
        statement.bind(6, reason.text)
        statement.bind(7, key)
        statement.bind(8, since.nanoseconds)
        statement.bind(9, Int64(attempts))
        statement.bind(10, Int64(rounds))
        switch wait {
        case .until(let time): statement.bind(11, time.nanoseconds)
        case .newVersion(let version, let until):
            statement.bind(11, until.nanoseconds)
            statement.bind(12, version.opaque)
            statement.bind(13, Int64(version.strength.rawValue))
        case .place: statement.bind(21, Int64(1))
        case .issue(let id): statement.bind(14, id)
        case .retry(let time, let id):
            statement.bind(11, time.nanoseconds)
            statement.bind(14, id)
        case nil: break
        }
        statement.bind(15, landing?.etag.opaque)
        statement.bind(16, landing.map { Int64($0.etag.strength.rawValue) })
        statement.bind(17, landing?.digest)
        statement.bind(18, landing?.size)
        statement.bind(19, landing?.modified?.nanoseconds)
        statement.bind(20, Int64(whileCovered ? 1 : 0))
        statement.bind(22, action.otherPath?.text)
        statement.bind(23, Int64(mayHaveArrived ? 1 : 0))
        statement.bind(24, evidence.json)
    }
}

extension Landing {
    fileprivate init?(_ row: RawStatement, from first: Int32) {
        guard
            let etag = ETag(row.text(first + 15), strength: row.integer(first + 16)), let digest = row.blob(first + 17),
            let size = row.integer(first + 18)
        else { return nil }
        self.init(
            etag: etag, digest: digest, size: size, modified: row.integer(first + 19).map(Timestamp.init(nanoseconds:)))
    }
}

extension FileMark {
    /// Reads a JSON array of numbers, as ``parameters`` writes it.
    fileprivate init?(parameters: String) {
        let numbers = parameters.dropFirst().dropLast().split(separator: ",").compactMap { Int64($0) }
        guard numbers.count == 5 else { return nil }
        self.init(
            inode: UInt64(bitPattern: numbers[0]), size: numbers[1], modified: Timestamp(nanoseconds: numbers[2]),
            changed: Timestamp(nanoseconds: numbers[3]), recorded: Timestamp(nanoseconds: numbers[4]))
    }

    fileprivate var parameters: String {
        let inode = Int64(bitPattern: inode)
        return "[\(inode),\(size),\(modified.nanoseconds),\(changed.nanoseconds),\(recorded.nanoseconds)]"
    }
}
