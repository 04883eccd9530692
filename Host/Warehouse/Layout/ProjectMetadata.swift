import FoundationEssentials

/// The small parts of a project's data.
struct ProjectMetadata: Hashable, Sendable {
    static let format = 1

    var bundleID: String
    var stepCursor: Int
    var created: ProjectDate
    var modified: ProjectDate

    private struct Stored: Codable {
        var format: Int
        var bundleID: String
        var stepCursor: Int
        /// In nanoseconds since 1970.
        var created: Int64
        var modified: Int64
    }

    private struct Format: Decodable { var format: Int }

    private struct Original: Decodable {
        var bundleID: String
        var stepCursor: Int
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try Array(
            encoder.encode(
                Stored(
                    format: Self.format, bundleID: bundleID, stepCursor: stepCursor, created: created.nanoseconds,
                    modified: modified.nanoseconds)))
    }

    /// Reads metadata in JSON.
    /// - Throws: ``ProjectProblem/newerFormat(_:)``, or ``ProjectProblem/damaged(path:why:)`` if the bytes are not
    ///   valid metadata.
    init(_ bytes: [UInt8], path: Path) throws(ProjectProblem) {
        let stored: Stored
        do {
            let format = try JSONDecoder().decode(Format.self, from: Data(bytes)).format
            if format > ProjectMetadata.format { throw ProjectProblem.newerFormat(format) }
            stored = try JSONDecoder().decode(Stored.self, from: Data(bytes))
        } catch let problem as ProjectProblem {
            throw problem
        } catch {
            throw ProjectProblem.damaged(path: path.text, why: "it does not contain metadata")
        }
        bundleID = stored.bundleID
        stepCursor = stored.stepCursor
        created = ProjectDate(nanoseconds: stored.created)
        modified = ProjectDate(nanoseconds: stored.modified)
    }

    /// Reads metadata in the original's layout.
    /// - Throws: ``ProjectProblem/damaged(path:why:)`` if the bytes are not valid metadata.
    init(original bytes: [UInt8], path: Path, created: ProjectDate, modified: ProjectDate) throws(ProjectProblem) {
        do {
            let original = try PropertyListDecoder().decode(Original.self, from: Data(bytes))
            self.init(
                bundleID: original.bundleID, stepCursor: original.stepCursor, created: created, modified: modified)
        } catch {
            throw ProjectProblem.damaged(
                path: path.text, why: "it is not a property list with a cursor and a bundle id")
        }
    }

    init(bundleID: String, stepCursor: Int, created: ProjectDate, modified: ProjectDate) {
        self.bundleID = bundleID
        self.stepCursor = stepCursor
        self.created = created
        self.modified = modified
    }
}
