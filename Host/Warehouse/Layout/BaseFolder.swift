/// The names in a storage's base folder. A project's folder is named by its id; all else is hidden.
///
///     <base>/.lock              held by whoever writes
///     <base>/.staging/          what is being made or taken away; nothing refers to what lies here
///     <base>/.moving/           for each source of assets that is being moved, where it came from
///     <base>/<PROJECT>/         a project, see ProjectFolder
struct BaseFolder: Sendable {
    let path: Path

    var lock: Path { path.entry(".lock") }
    var staging: Path { path.entry(".staging") }

    var moving: Path { path.entry(".moving") }

    func project(_ id: ProjectID) -> ProjectFolder { ProjectFolder(path: path.entry(id.description)) }

    /// - Returns: nil if the name is no project's.
    static func projectID(_ name: [CChar]) -> ProjectID? {
        let text = Path(bytes: name + [0]).text
        guard let id = ProjectID(text), id.description == text else { return nil }
        return id
    }
}
