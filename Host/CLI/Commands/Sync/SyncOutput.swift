public import ArgumentParser
public import Model

extension Console {
    /// Prints what happened to a sync record.
    func report(_ id: SyncRecordID, _ what: String, _ global: GlobalOptions) {
        print(global.isJSON ? JSONValue.object(["id": .id(id)]).text : "record \(id): \(what)")
    }
}

extension SyncRecordID: ExpressibleByArgument {
    public init?(argument: String) {
        guard let number = Int64(argument) else { return nil }
        self.init(number)
    }
}
