/// The names in a storage's base folder. The name of a project's folder is the project's id; all other names are
/// hidden.
///
///     <base>/.lock              locked by the writer at work
///     <base>/.staging/          what is being created or removed; nothing refers to its content
///     <base>/.moving/           the origin of each source of assets that is being moved
///     <base>/<PROJECT>/         a project, see ProjectFolder
struct BaseFolder: Sendable {
    let path: Path

    var lock: Path { path.entry(".lock") }
    var staging: Path { path.entry(".staging") }

    var moving: Path { path.entry(".moving") }

    func project(_ id: ProjectID) -> ProjectFolder { ProjectFolder(path: path.entry(id.description)) }

    /// Returns the id of the project whose folder has a name.
    /// - Returns: The id; nil if the name is not that of a project.
    static func projectID(_ name: [CChar]) -> ProjectID? {
        let text = Path(bytes: name + [0]).text
        guard let id = ProjectID(text), id.description == text else { return nil }
        return id
    }
}
