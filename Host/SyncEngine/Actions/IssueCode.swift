import Model

/// The kinds of issues that the sync engine files, with their choices. The first choice is the one by which nothing is
/// lost.
enum IssueCode: String, Hashable, CaseIterable, Sendable {
    /// A download that failed too often, or for a reason that does not go away by itself.
    case retry = "download.retry"
    /// A person's request for a file that was changed here.
    case overwrite = "download.overwrite"
    /// Something in the way of a file.
    case place = "download.place"
    /// A change that the server does not make.
    case change = "change.refused"
    /// A change about which the server does not show whether it was made.
    case uncertain = "change.uncertain"
    /// An upload that the server does not take.
    case upload = "upload.refused"
    /// A new file that was put in place of something that nobody here has seen.
    case replaced = "upload.replaced"
    /// A copy whose version the server lists with another size. The scan files it.
    case contradicted = "copy.contradicted"
    /// An upload where the server has another version than the upload follows.
    case conflict = "upload.conflict"
    /// A deletion of something that has changed on the server since.
    case deletion = "delete.changed"
    /// A plugin's deletions on the server that are too many to be made without a person.
    case pluginDeletions = "plugin.deletions"
    /// Changes that were asked for at another address of the account's.
    case address = "change.address"
    /// A file that was to be uploaded, and whose upload is not known any more.
    case found = "upload.found"
    /// A folder of copies that cannot be read.
    case unreadable = "tree.unreadable"
    /// Downloads for which there is no room.
    case room = "disk.room"
    /// An account whose password or token the server rejects.
    case authentication = "connection.authentication"

    /// Whether several records may wait for the answer.
    var isAboutSeveral: Bool { self == .pluginDeletions || self == .address }

    var choices: [Issue.Choice] {
        switch self {
        case .retry, .place:
            [Self.tryAgain, .init(id: "cancel", label: "Cancel the download", impact: .nonDestructive)]
        case .overwrite:
            [
                .init(id: "keep", label: "Keep the changed file, and do not download", impact: .nonDestructive),
                .init(
                    id: "overwriteModifiedFile", label: "Replace the changed file by the server's version",
                    impact: .dataLoss),
            ]
        case .change:
            [Self.tryAgain, .init(id: "cancel", label: "Take the change back", impact: .nonDestructive)]
        case .uncertain:
            [
                .init(id: "retry", label: "Look again", impact: .nonDestructive),
                .init(id: "cancel", label: "Take what is on the server as it is", impact: .nonDestructive),
            ]
        case .upload: [Self.tryAgain, Self.keeping, Self.givingUp]
        case .conflict:
            [
                .init(id: "keepBoth", label: "Upload the file under another name", impact: .nonDestructive),
                Self.keeping,
                .init(id: "replace", label: "Replace the server's version by the file", impact: .dataLoss),
                Self.givingUp,
            ]
        case .deletion:
            [
                .init(id: "cancel", label: "Keep it, and see what is new", impact: .nonDestructive),
                .init(id: "force", label: "Delete it all the same", impact: .dataLoss),
            ]
        case .pluginDeletions:
            [
                .init(id: "reject", label: "Keep everything, and drop the plugin's requests", impact: .nonDestructive),
                .init(id: "approve", label: "Delete the items on the server", impact: .dataLoss),
            ]
        case .address:
            [
                .init(
                    id: "keep", label: "Take the changes back, and keep the files here that were to be uploaded",
                    impact: .nonDestructive),
                .init(
                    id: "continue", label: "Make the changes: it is the same server under another address",
                    impact: .nonDestructive),
            ]
        case .found:
            [
                .init(id: "upload", label: "Upload the file to its path", impact: .nonDestructive), Self.keeping,
                Self.givingUp,
            ]
        case .authentication: [Self.tryAgain]
        case .unreadable, .room, .replaced, .contradicted: [Self.dismissal]
        }
    }

    private static let keeping = Issue.Choice(
        id: "keep", label: "Keep the file here, and do not upload it", impact: .nonDestructive)

    private static let givingUp = Issue.Choice(
        id: "cancel", label: "Give the upload up, and remove the snapshot that was taken of the file",
        impact: .dataLoss)

    /// The choice of an issue without a record. The issue comes again if nothing has changed.
    static let dismissal = Issue.Choice(id: "dismiss", label: "Remove the issue from the list", impact: .nonDestructive)

    private static let tryAgain = Issue.Choice(id: "retry", label: "Try again", impact: .nonDestructive)
}
