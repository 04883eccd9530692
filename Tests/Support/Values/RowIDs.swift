public import Model

extension ItemRowID: ExpressibleByIntegerLiteral {
    public init(integerLiteral number: Int64) { self.init(number) }
}

extension PolicyRowID: ExpressibleByIntegerLiteral {
    public init(integerLiteral number: Int64) { self.init(number) }
}

extension SyncRecordID: ExpressibleByIntegerLiteral, Strideable {
    public init(integerLiteral number: Int64) { self.init(number) }
    public func advanced(by count: Int) -> SyncRecordID { SyncRecordID(number + Int64(count)) }
    public func distance(to other: SyncRecordID) -> Int { Int(other.number - number) }
}

extension IssueID: ExpressibleByIntegerLiteral {
    public init(integerLiteral number: Int64) { self.init(number) }
}
