import Crypto

/// A calendar with its objects, and the log of what changed in it.
struct Calendar: Sendable {
    struct Object: Sendable {
        var text: String
        /// Of the text, as sabre/dav has it: the same text, the same ETag.
        var etag: String

        init(_ text: String) {
            self.text = text
            etag = "\"" + hexadecimal(Insecure.MD5.hash(data: Array(text.utf8))) + "\""
        }
    }

    /// That an object was written or removed.
    struct Change: Sendable {
        var number: Int
        var object: String
    }

    /// The last part of the path of the home that it is in.
    let home: String
    let id: String
    var name: String?
    var components: [String]
    var isReadOnly = false
    private(set) var objects: [String: Object] = [:]
    /// The number of the last change; sync tokens are made of it.
    private(set) var version = 1
    private(set) var log: [Change] = []
    /// Changes up to this number are no longer in the log.
    private(set) var forgotten = 1
    /// Objects that were removed and are not there again.
    private(set) var removed: Set<String> = []

    init(home: String, id: String, name: String?, components: [String], isReadOnly: Bool = false) {
        (self.home, self.id, self.name, self.components) = (home, id, name, components)
        self.isReadOnly = isReadOnly
    }

    mutating func put(_ name: String, _ text: String) {
        objects[name] = Object(text)
        removed.remove(name)
        note(name)
    }

    mutating func remove(_ name: String) {
        guard objects.removeValue(forKey: name) != nil else { return }
        removed.insert(name)
        note(name)
    }

    mutating func forgetChanges() {
        log = []
        forgotten = version
    }

    private mutating func note(_ name: String) {
        version += 1
        log.append(Change(number: version, object: name))
    }
}

/// All calendars, in the order in which they were made.
struct CalendarState: Sendable {
    var calendars: [Calendar] = []

    func index(of id: String) -> Int? { calendars.firstIndex { $0.id == id } }

    func calendar(_ id: String) -> Calendar? { calendars.first { $0.id == id } }

    func index(of id: String, home: String) -> Int? { calendars.firstIndex { $0.id == id && $0.home == home } }
}
