import Model

extension Issue {
    /// Creates an issue without its choices.
    init(_ row: RawStatement, id: IssueID) {
        self.init(
            id: id, record: row.integer(1).map(SyncRecordID.init), code: row.text(2) ?? "", subject: row.text(3) ?? "",
            message: row.text(4) ?? "", choices: [], created: Timestamp(nanoseconds: row.integer(5) ?? 0),
            failure: row.integer(6).flatMap { Failure.Kind(rawValue: Int32(clamping: $0)) } ?? .failed)
    }
}
