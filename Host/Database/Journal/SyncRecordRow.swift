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
    init?(_ row: RawStatement) {
        guard
            let action = SyncRecord.Action(
                name: row.text(1), parameters: row.text(2),
                otherPath: row.text(22).map(ItemPath.init(unchecked:))),
            let state = row.integer(3).flatMap({ SyncRecord.State(rawValue: Int($0)) })
        else { return nil }
        let until = row.integer(11).map(Timestamp.init(nanoseconds:))
        let wait: WaitCondition? =
            if let issue = row.integer(14).map(IssueID.init) {
                until.map { .retry(at: $0, issue) } ?? .issue(issue)
            } else if let version = ETag(row.text(12), strength: row.integer(13)), let until {
                .newVersion(since: version, until: until)
            } else if row.integer(21) == 1 {
                .place
            } else {
                until.map(WaitCondition.until)
            }
        self.init(
            id: row.id(0), action: action, state: state, localID: LocalID(row.text(4) ?? ""),
            path: ItemPath(unchecked: row.text(5) ?? ""), reason: DownloadTrigger(row.text(6) ?? ""),
            key: row.text(7), since: Timestamp(nanoseconds: row.integer(8) ?? 0),
            attempts: row.count(9), wait: wait,
            rounds: row.count(10), landing: Landing(row),
            overwrites: action == .download ? row.text(2).flatMap { FileMark(parameters: $0) } : nil,
            whileCovered: row.integer(20) == 1, mayHaveArrived: row.integer(23) == 1,
            evidence: row.text(24).flatMap { ChangeEvidence(json: $0) } ?? ChangeEvidence())
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
    fileprivate init?(_ row: RawStatement) {
        guard
            let etag = ETag(row.text(15), strength: row.integer(16)), let digest = row.blob(17),
            let size = row.integer(18)
        else { return nil }
        self.init(etag: etag, digest: digest, size: size, modified: row.integer(19).map(Timestamp.init(nanoseconds:)))
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
