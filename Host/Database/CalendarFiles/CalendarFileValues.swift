package import Model

/// The folder of a calendar's files.
package struct MirrorFolderRow: Hashable {
    package var calendar: RecordKey
    package var name: MirrorName
    package var title: MirrorName
    package var formerName: MirrorName?

    package init(calendar: RecordKey, name: MirrorName, title: MirrorName, formerName: MirrorName? = nil) {
        (self.calendar, self.name, self.title, self.formerName) = (calendar, name, title, formerName)
    }
}

/// The file of a calendar's object.
package struct MirrorFileRow: Hashable {
    package var key: RecordKey
    package var name: MirrorName
    package var contentID: CalendarContentID
    package var inode: UInt64
    /// The size in bytes.
    package var size: Int64
    /// The modification time in nanoseconds since 1970.
    package var modified: Int64
    /// The SHA-256 of what was written; nil if an older Larder wrote the file.
    package var digest: [UInt8]?
    /// The SHA-256 of the file that Larder wrote before. That file stays in place until the new file is put in place.
    package var formerDigest: [UInt8]?

    package init(
        key: RecordKey, name: MirrorName, contentID: CalendarContentID, inode: UInt64, size: Int64, modified: Int64,
        digest: [UInt8]?, formerDigest: [UInt8]? = nil
    ) {
        (self.key, self.name, self.contentID) = (key, name, contentID)
        (self.inode, self.size, self.modified) = (inode, size, modified)
        (self.digest, self.formerDigest) = (digest, formerDigest)
    }
}

/// A record of a calendar that changed after the files were last written.
package struct MirrorChange: Hashable {
    package var number: Int64
    /// The calendar's key.
    package var calendar: RecordKey
    /// The object's key; nil for the calendar itself.
    package var object: RecordKey?
}
