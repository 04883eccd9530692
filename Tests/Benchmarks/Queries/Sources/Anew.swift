import GRDB

/// Prints the milliseconds in which the list of all items is fetched, the median of three times.
@main enum Anew {
    static func main() throws {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: CommandLine.arguments[1], configuration: configuration)
        let times = try (0..<3).map { _ in
            try database.read { db in
                let clock = ContinuousClock()
                return try clock.measure {
                    let rows = try Row.fetchAll(
                        db, sql: "SELECT * FROM items WHERE removedAt IS NULL ORDER BY path")
                    precondition(!rows.isEmpty)
                }
            }
        }
        print(times.sorted()[1] / .milliseconds(1))
    }
}
