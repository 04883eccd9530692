/// What servers do differently when something is written. A value without I/O; the page about writing has the table.
public struct WritingManners: Hashable, Sendable {
    /// What an ETag of a file is made of.
    public enum ETags: Hashable, Sendable {
        /// Every write makes another one.
        case fine
        /// Two writes of the same size within a second have the same one.
        case ofSizeAndSecond
        /// Listings have none. Size and date stand for it.
        case none
    }

    /// Whether the server heeds `If-Match` and `If-None-Match` of PUT and `If-Match` of DELETE. Where it does not, or
    /// where it is unknown, the version is asked for just before the request; what somebody else writes between the two
    /// is overwritten.
    public internal(set) var heedsConditions = false
    /// Whether an upload that follows a version is refused if the file is gone. Where it is not, or where it is unknown,
    /// the server is asked before.
    public internal(set) var refusesMissingVersion = false
    /// What an ETag is made of.
    public internal(set) var etags = ETags.fine
    /// Whether MKCOL on what exists is refused. Where it is not, or where it is unknown, the server is asked before.
    public internal(set) var refusesExistingFolder = false
    /// Whether a PUT that was cut off leaves nothing of itself. Where it does not, it leaves its beginning, in place of
    /// what was there.
    public internal(set) var dropsCutOffUploads = false
    /// Whether MOVE and COPY into a folder that is missing make the folder.
    public internal(set) var makesMissingFolders = false
    /// Whether a MOVE or COPY to a name with a question mark, a semicolon, a tab or a line end ends at another name. It
    /// is not sent then.
    public internal(set) var cutsQuestionMarks = false
    /// Whether listings may leave out names that begin with a dot. If they do, nothing is written under such a name.
    public internal(set) var mayHideDotNames = false
    /// Whether `oc:favorite` can be set, and `OC-Checksum` and `X-OC-Mtime` are heeded.
    public internal(set) var isFamily = false

    /// Finds the manners of a server.
    ///
    /// The `Server` field proves nothing that a file's safety depends on: a proxy writes its own name there, also before
    /// a server that does otherwise.
    /// - Parameters:
    ///   - server: The `Server` field of its answers.
    ///   - isFamily: Whether the server is of the ownCloud family.
    ///   - isModDav: Whether Apache's mod_dav has shown itself (``namesModDav(_:)``).
    init(server: String?, isFamily: Bool, isModDav: Bool = false) {
        self.isFamily = isFamily
        if isFamily || isModDav {
            (heedsConditions, refusesMissingVersion, refusesExistingFolder, dropsCutOffUploads) = (
                true, true, true, true
            )
            return
        }
        switch Self.product(server) {
        case "wsgidav":
            (refusesExistingFolder, cutsQuestionMarks) = (true, true)
            etags = .ofSizeAndSecond
        case "nginx":
            (refusesExistingFolder, dropsCutOffUploads, makesMissingFolders) = (true, true, true)
            mayHideDotNames = true
            etags = .none
        // A proxy may have taken the name away.
        default: mayHideDotNames = true
        }
    }

    /// Tells whether it is worth while to ask a server whether it is Apache's mod_dav. A proxy may have the name too.
    static func mayBeModDav(_ server: String?) -> Bool { product(server) == "apache" }

    /// Tells whether a server's `DAV` field names mod_dav's own class, which a proxy passes on as the server behind it
    /// says it.
    static func namesModDav(_ classes: Set<String>) -> Bool {
        classes.contains { $0.hasPrefix("<http://apache.org/dav/propset/") }
    }

    private static func product(_ server: String?) -> String {
        (server ?? "").prefix { $0 != "/" && $0 != " " }.lowercased()
    }
}
