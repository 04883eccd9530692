import Glibc
import Warehouse

/// The program that times updates and fetches of projects with few and many steps, each in turn with the `fsync` calls
/// that it needs.
@main struct Projects {
    static func main() {
        do {
            var words = CommandLine.arguments.dropFirst()
            var rounds = 200
            if words.first == "--rounds", let number = words.dropFirst().first.flatMap({ Int($0) }), number > 0 {
                rounds = number
                words = words.dropFirst(2)
            }
            guard words.count <= 1, words.first?.hasPrefix("-") != true else {
                print("usage: projects [--rounds N] [FOLDER]")
                exit(64)
            }
            let parent = words.first ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            try run(in: "\(parent)/larder-projects-\(getpid())", rounds: rounds)
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    /// Runs all measurements and prints a table.
    /// - Parameter folder: a folder on the disk that is measured; it is made, and removed at the end.
    private static func run(in folder: String, rounds: Int) throws {
        print("| steps | what | ms (median) | 10–90 % | needed fsyncs alone, ms | ratio |")
        print("|---|---|---|---|---|---|")
        let storage = ProjectStorage(base: folder, bundleID: "org.example.benchmark")
        for count in [10, 1_000, 100_000] { try Measurement(storage, steps: count, rounds: rounds).print() }
        for id in try storage.projectIDs() { try storage.deleteProject(id) }
        // Only the lock and the empty staging folder are left.
        unlink("\(folder)/.lock")
        rmdir("\(folder)/.staging")
        rmdir(folder)
    }
}
