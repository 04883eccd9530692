public import Model

public let calendarLoops = PluginID(shortOrFull: "calendar-loop")
public let work = RecordKey("/ada/work/")
public let workLoop = LoopKey(kind: LoopKind("calendar"), id: LoopID("/ada/work/"))
public let workObjects = RecordCollection.calendars.of(work)

public func calendar(_ key: RecordKey, name: String) -> Record {
    Record(key: key, version: "ctag", value: #"{"name":"\#(name)","href":"\#(key)"}"#)
}

public func object(_ name: String, _ content: String?, etag: String = "1") -> Record {
    Record(
        key: RecordKey("/ada/work/\(name)"), version: etag, value: #"{"uid":"\#(name)"}"#,
        content: content.map { Array($0.utf8) })
}
