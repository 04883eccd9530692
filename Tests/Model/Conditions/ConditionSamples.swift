import Model

/// The moment that `now` stands for in these tests.
let noon = Timestamp(seconds: 1_795_262_400)

/// A file that has a value for every property that a condition can test.
let report = Item(
    localID: LocalID("1f"), fileID: FileID("00000042oc"), path: ItemPath(unchecked: "/Docs/100% a_b.txt"), kind: .file,
    size: 1200, mimeType: "text/plain", etag: ETag(opaque: "abc", strength: .weak),
    lastModified: noon - .seconds(3600), isFavorite: true, owner: "ada", cloudStatus: .localCopy,
    copy: LocalCopy(
        etag: ETag(opaque: "abd", strength: .strong), digest: [],
        mark: FileMark(inode: 1, size: 1200, modified: noon, changed: noon, recorded: noon)),
    downloadTrigger: .user, lastUsed: noon - .seconds(7 * 86_400 + 1), syncActivity: [.uploading, .updating])

/// A file with few known properties.
let bare = Item(localID: LocalID("2f"), fileID: nil, path: ItemPath(unchecked: "/bare"), kind: .file)

func holds(_ text: String, _ item: Item = report) throws -> Bool {
    try Condition(parsing: text).matches(item, now: noon)
}

/// Returns the error of a text that is not a condition; nil if the text is a condition.
func error(_ text: String) -> ConditionError? {
    do throws(ConditionError) {
        _ = try Condition(parsing: text)
        return nil
    } catch {
        return error
    }
}
