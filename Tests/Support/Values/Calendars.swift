public import Model

/// The id of the calendar loops' plugin.
public let calendarLoops = PluginID(shortOrFull: "calendar-loop")
/// The key of the record of Ada's calendar `work`.
public let work = RecordKey("/ada/work/")
/// The key of the event loop of Ada's calendar `work`.
public let workLoop = LoopKey(kind: LoopKind("calendar"), id: LoopID("/ada/work/"))
/// The collection of the objects of Ada's calendar `work`.
public let workObjects = RecordCollection.calendars.of(work)

/// Returns the record of a calendar with a name.
public func calendar(_ key: RecordKey, name: String) -> Record {
    Record(key: key, version: "ctag", value: #"{"name":"\#(name)","href":"\#(key)"}"#)
}

/// Returns the record of an object in Ada's calendar `work`.
public func object(_ name: String, _ content: String?, etag: String = "1") -> Record {
    Record(
        key: RecordKey("/ada/work/\(name)"), version: etag, value: #"{"uid":"\#(name)"}"#,
        content: content.map { Array($0.utf8) })
}
