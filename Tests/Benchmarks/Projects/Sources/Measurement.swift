import Glibc
import Warehouse

/// The measurements on one project.
struct Measurement {
    private let steps: Int
    private var rows: [(what: String, time: Timing, bare: Timing?)] = []

    init(_ storage: ProjectStorage, steps: Int, rounds: Int) throws {
        self.steps = steps
        let data = [UInt8](repeating: 7, count: 200)
        let id = try storage.createProject()
        var made = Timing()
        try made.measure {
            _ = try storage.updateProject(
                ProjectUpdateRequest(
                    projectID: id, stepCursor: steps,
                    stepsToAdd: (0..<steps).map { _ in StepContent(userData: data) }, userData: data))
        }
        rows.append(("add all of them at once", made, nil))

        let folder = try storage.fetchProject(id).assets
        var bare = try BareSyncs(in: folder, steps: steps)
        var (added, undone) = (Timing(), Timing())
        var (addedBare, undoneBare) = (Timing(), Timing())
        for _ in 0..<rounds {
            addedBare.add(try bare.round(stepIDs: (steps + 1) * 16, metadata: 140))
            _ = try added.measure {
                try storage.updateProject(id, .stepIDs) { .addStep(StepContent(userData: data), to: $0) }
            }
            undoneBare.add(try bare.round(stepIDs: nil, metadata: 140))
            _ = try undone.measure { try storage.updateProject(id, []) { .undo($0) } }
            try storage.updateProject(id, .stepIDs) { project in
                let last = Array((project.stepIDs ?? []).suffix(1))
                return ProjectUpdateRequest(projectID: id, stepIDsToDelete: last)
            }
        }
        rows.append(("add a step", added, addedBare))
        rows.append(("undo", undone, undoneBare))

        let fetches: [(String, ProjectFetchOptions)] = [
            ("fetch", []), ("fetch with user data", .userData), ("fetch with step ids", .stepIDs),
            ("fetch with all", .all),
        ]
        for (what, options) in fetches {
            var time = Timing()
            for _ in 0..<rounds { _ = try time.measure { try storage.fetchProject(id, options) } }
            rows.append((what, time, nil))
        }
        guard let last = try storage.fetchProject(id, .stepIDs).stepIDs?.last else { return }
        var time = Timing()
        for _ in 0..<rounds { _ = try time.measure { try storage.fetchStep(last, of: id) } }
        rows.append(("fetch a step", time, nil))
    }

    func print() {
        for (what, time, bare) in rows {
            let range = time.rounds.count > 1 ? "\(text(time.quantile(0.1)))–\(text(time.quantile(0.9)))" : "–"
            let comparison = bare.map { "\(text($0.median)) | \(text(time.median / $0.median))" } ?? "– | –"
            Swift.print("| \(steps) | \(what) | \(text(time.median)) | \(range) | \(comparison) |")
        }
    }
}
