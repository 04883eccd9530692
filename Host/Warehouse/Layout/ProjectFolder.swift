/// The names in a project's folder.
///
///     data/metadata         JSON: format, bundle id, cursor, dates
///     data/stepIDs          16 bytes for each step, in order
///     data/userData         the program's own bytes
///     data/matadata.old     the metadata in the original's layout, if the project was created in that layout
///     assets/               the program's own folder
///     steps/<STEP>/         data/userData and assets/, as above; the folder `steps` appears with the first step
///
/// The files in `data` never change: an update creates another folder and exchanges it with `data`. In the original's
/// layout the metadata are a property list in `data/matadata` (sic), and the dates are those of the project's folder.
struct ProjectFolder: Sendable {
    static let metadata = "metadata"
    static let originalMetadata = "matadata"
    static let keptMetadata = "matadata.old"
    static let stepIDs = "stepIDs"
    static let userData = "userData"

    let path: Path

    var data: Path { path.entry("data") }
    /// The path of the old data while the new data take their place, on file systems that cannot exchange.
    var oldData: Path { path.entry(".data.old") }
    /// The path of the new data before they take their place, on file systems that cannot exchange.
    var newData: Path { path.entry(".data.new") }
    var assets: Path { path.entry("assets") }
    var steps: Path { path.entry("steps") }

    func step(_ id: StepID) -> StepFolder { StepFolder(path: steps.entry(id.description)) }
}

/// The names in a step's folder.
struct StepFolder: Sendable {
    let path: Path

    var data: Path { path.entry("data") }
    var userData: Path { data.entry(ProjectFolder.userData) }
    var assets: Path { path.entry("assets") }
}
