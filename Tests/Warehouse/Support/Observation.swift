import TestSupport

@testable import Warehouse

/// Everything that a reader can observe of a base folder, except the ids, which differ from run to run.
struct Observation: Hashable {
    struct SeenStep: Hashable {
        var userData: [UInt8]
        var assets: [String: [UInt8]]
    }

    struct SeenProject: Hashable {
        var bundleID: String
        var created: ProjectDate
        var modified: ProjectDate
        var stepCursor: Int
        var userData: [UInt8]?
        var steps: [SeenStep]
        var assets: [String: [UInt8]]
    }

    var projects: [SeenProject: Int] = [:]

    init(_ storage: ProjectStorage) throws {
        for id in try storage.projectIDs() {
            let project = try storage.fetchProject(id, .all)
            let steps = try (project.stepIDs ?? []).map { step in
                let step = try storage.fetchStep(step, of: id)
                return SeenStep(userData: step.userData, assets: try Self.files(step.assets))
            }
            let seen = SeenProject(
                bundleID: project.bundleID, created: project.creationDate, modified: project.modificationDate,
                stepCursor: project.stepCursor, userData: project.userData, steps: steps,
                assets: try Self.files(project.assets))
            projects[seen, default: 0] += 1
        }
    }

    static func files(_ folder: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for path in try Files.filesBelow(folder) { files[path] = try Files.read("\(folder)/\(path)") }
        return files
    }
}

extension StorageFixture {
    /// Returns the paths in the base folder that belong to no listed project.
    func leftovers(_ storage: ProjectStorage) throws -> [String] {
        var known: Set<String> = [".lock", ".staging", ".moving"]
        var leftovers = try Files.names(in: "\(base)/.staging").map { ".staging/\($0)" }
        if Files.exists("\(base)/.moving") {
            leftovers += try Files.names(in: "\(base)/.moving").map { ".moving/\($0)" }
        }
        for id in try storage.projectIDs() {
            known.insert("\(id)")
            leftovers += try Files.names(in: "\(base)/\(id)").filter { $0.hasPrefix(".") }.map { "\(id)/\($0)" }
            let steps = try Set(storage.stepIDs(of: id).map(\.description))
            leftovers += try stepFolders(of: id).filter { !steps.contains($0) }.map { "\(id)/steps/\($0)" }
        }
        return leftovers + (try Files.names(in: base)).filter { !known.contains($0) }
    }
}
