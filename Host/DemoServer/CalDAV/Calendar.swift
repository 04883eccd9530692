import Digests

/// A calendar with its objects, and the log of its changes.
package struct Calendar: Sendable {
    package struct Object: Sendable {
        package var text: String
        /// The ETag, made of the text as in sabre/dav: the same text has the same ETag.
        package var etag: String

        init(_ text: String) {
            self.text = text
            etag = "\"" + hexadecimal(MessageDigest.of(Array(text.utf8), .md5)) + "\""
        }
    }

    /// A change: an object was written or removed.
    package struct Change: Sendable {
        package var number: Int
        package var object: String
    }

    /// The last part of the path of the home that holds the calendar.
    package let home: String
    package let id: String
    package var name: String?
    package var components: [String]
    package var isReadOnly = false
    package private(set) var objects: [String: Object] = [:]
    /// The number of the last change; sync tokens are made of it.
    package private(set) var version = 1
    package private(set) var log: [Change] = []
    /// The number up to which changes are no longer reported.
    package var forgotten = 1

    package init(home: String, id: String, name: String?, components: [String], isReadOnly: Bool = false) {
        (self.home, self.id, self.name, self.components) = (home, id, name, components)
        self.isReadOnly = isReadOnly
    }

    package mutating func put(_ name: String, _ text: String) {
        objects[name] = Object(text)
        note(name)
    }

    package mutating func remove(_ name: String) {
        guard objects.removeValue(forKey: name) != nil else { return }
        note(name)
    }

    private mutating func note(_ name: String) {
        version += 1
        log.append(Change(number: version, object: name))
    }
}

/// All calendars, in the order in which they were created.
package struct CalendarState: Sendable {
    package var calendars: [Calendar] = []

    package func index(of id: String) -> Int? { calendars.firstIndex { $0.id == id } }

    package func calendar(_ id: String) -> Calendar? { calendars.first { $0.id == id } }

    package func index(of id: String, home: String) -> Int? {
        calendars.firstIndex { $0.id == id && $0.home == home }
    }
}
