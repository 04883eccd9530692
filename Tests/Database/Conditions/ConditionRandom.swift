import Model
import TestSupport

/// A generator of items and conditions that uses few, unusual values, so that items and conditions often match.
struct ConditionRandom {
    var generator = SeededGenerator()
    let now = Timestamp(seconds: 1_795_262_400)

    mutating func one<T>(of choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &generator)] }
    mutating func count(upTo most: Int) -> Int { Int.random(in: 1...most, using: &generator) }
    private mutating func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < part }

    // MARK: Items

    private static let names = [
        "a", "A", "ab", "a_b", "axb", "100%", "%", "_", "\\", "a\\b", "'", "\"", "it's", "new\nline", "tab\t", "é",
        "e\u{301}",
        "É", "😀", "\u{ffff}", "\u{10ffff}", "\u{d7ff}", "\u{e000}", "", "file", "folder", "0", " ", "?", "--", "*", "/",
        "x\u{0}y", "x", "ß", "ss", "\u{7f}\u{80}", "NULL", "1",
    ]

    private mutating func text() -> String {
        chance(0.3) ? one(of: Self.names) + one(of: Self.names) : one(of: Self.names)
    }

    private mutating func number() -> Int64 { one(of: [0, 1, -1, 2, 10, 1000, .max, .min, .max - 1, .min + 1]) }

    private mutating func time() -> Timestamp {
        let near = now + .seconds(one(of: [0, -1, 1, -3600, 3600, -604_800]))
        return chance(0.8) ? near : Timestamp(nanoseconds: number())
    }

    mutating func item(_ number: Int) -> Item {
        let folder = chance(0.3)
        let path =
            "/"
            + [text(), text()].filter { !$0.isEmpty && !$0.contains("/") && !$0.contains("\0") }.joined(separator: "/")
        // Each path has one item at a time. The root is the only item without a parent.
        let unique = number % 10 == 0 && chance(0.5) ? "/" : path + (path == "/" ? "" : "/") + "\(number)"
        let etag = chance(0.7) ? ETag(opaque: text(), strength: one(of: [.strong, .weak, .substitute])) : nil
        let status = one(of: CloudStatus.allCases)
        let mark = FileMark(inode: 1, size: 1, modified: now, changed: now, recorded: now)
        let copy = LocalCopy(
            etag: chance(0.5) ? etag ?? ETag(opaque: text(), strength: .weak) : ETag(opaque: text(), strength: .strong),
            digest: [UInt8](repeating: 1, count: 32), mark: mark)
        return Item(
            localID: LocalID(text() + "\(number)"), fileID: chance(0.7) ? FileID(text()) : nil,
            path: ItemPath(unchecked: unique), kind: folder ? .folder : .file, size: chance(0.7) ? self.number() : nil,
            mimeType: chance(0.7) ? text() : nil, etag: etag, lastModified: chance(0.7) ? time() : nil,
            isFavorite: chance(0.5), owner: chance(0.5) ? text() : nil, removedAt: chance(0.3) ? time() : nil,
            cloudStatus: status,
            copy: status == .localCopy || status == .locallyModified ? copy : nil,
            downloadTrigger: chance(0.5) ? DownloadTrigger(text()) : nil, lastUsed: chance(0.7) ? time() : nil,
            syncActivity: SyncActivity(rawValue: one(of: [0, 0, 1, 2, 3, 64, 127])))
    }

    // MARK: Policies and claims

    /// Returns a policy that keeps some of the items here, most often of the kind that `pin` makes.
    mutating func policy(among items: [Item]) -> ItemPolicy {
        let item = one(of: items)
        let path = chance(0.5) ? item.path : item.path.parent
        var policy = ItemPolicy(
            kind: .availableOffline, condition: chance(0.7) ? Condition.at(orBelow: path).text : condition(depth: 1))
        policy.path = chance(0.8) ? path : nil
        policy.localID = chance(0.5) ? one(of: items).localID : nil
        return policy
    }

    /// Returns a claim on one of the items. Process 1 lives in ``world``, and process 2 does not.
    mutating func claim(_ number: Int, among items: [Item]) -> Claim {
        Claim(
            id: ClaimID("\(number)"), item: one(of: items).localID, kind: one(of: Claim.Kind.allCases),
            validity: validity(depth: 2))
    }

    private mutating func validity(depth: Int) -> ClaimValidity {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &generator) {
        case 0: .explicit
        case 1, 2: .until(now + .seconds(one(of: [-1, 0, 1, 3600])))
        case 3: .process(ProcessIdentity(pid: one(of: [1, 2]), started: 0, boot: ""))
        case 4: .not(validity(depth: depth - 1))
        case 5: .all((0..<one(of: [0, 1, 2])).map { _ in validity(depth: depth - 1) })
        default: .any((0..<one(of: [0, 1, 2])).map { _ in validity(depth: depth - 1) })
        }
    }

    static func world(at time: Timestamp) -> ClaimWorld { ClaimWorld(now: time) { $0.pid == 1 } }

    // MARK: Conditions, as texts of the language

    /// Whether conditions ask about what policies and claims decide.
    var asksForDecisions = false

    mutating func condition(depth: Int) -> String {
        guard depth > 0, chance(0.75) else { return asksForDecisions && chance(0.6) ? decision() : leaf() }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return "!(\(condition(depth: depth - 1)))"
        case 1, 2:
            return (0..<Int.random(in: 2...4, using: &generator)).map { _ in "(\(condition(depth: depth - 1)))" }
                .joined(separator: " || ")
        default:
            return (0..<Int.random(in: 2...4, using: &generator)).map { _ in "(\(condition(depth: depth - 1)))" }
                .joined(separator: " && ")
        }
    }

    private mutating func leaf() -> String {
        let relation = one(of: Condition.Relation.allCases).rawValue
        let sameness = one(of: ["==", "!="])
        switch Int.random(in: 0..<13, using: &generator) {
        case 12: return "'\(one(of: ["downloading", "uploading", "updating", "moving"]))' in syncActivity"
        case 0: return one(of: ["true", "false", "removed", "favorite", "!removed", "!favorite"])
        case 1:
            return
                "\(one(of: ["removed", "favorite"])) \(sameness) "
                + "\(one(of: ["true", "false", "null", "removed", "favorite"]))"
        case 2:
            let property = one(of: Condition.Property.allCases.filter(\.isSortable))
            return "\(property.rawValue) \(one(of: ["==", "!=", "in ["])) null".closingList
        case 3: return known()
        case 4: return "\(integer()) \(relation) \(integer())"
        case 5:
            return
                "\(one(of: ["size", "-1"])) in [\((0..<3).map { _ in integer(isFixed: true) }.joined(separator: ", "))]"
        case 6: return "\(moment()) \(relation) \(moment())"
        case 7: return "\(span()) \(relation) \(span())"
        case 8: return "\(phrase()) \(relation) \(phrase())"
        case 9:
            return
                "\(phrase()) in "
                + "[\((0..<3).map { _ in chance(0.2) ? "null" : literal(text()) }.joined(separator: ", "))]"
        case 10: return "\(anyText()).\(one(of: Condition.TextPlace.allCases).rawValue)(\(anyText()))"
        default: return "\(property()).\(one(of: Condition.TextPlace.allCases).rawValue)(\(literal(beginning())))"
        }
    }

    /// Returns a term about what policies and claims decide.
    private mutating func decision() -> String {
        let sameness = one(of: ["==", "!="])
        let level = one(of: ["'none'", "'direct'", "'indirect'", "null", "mimeType", "availableOffline"])
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return one(of: ["claimed", "!claimed"])
        case 1: return "claimed \(sameness) \(one(of: ["true", "false", "null", "favorite", "removed"]))"
        case 2: return "favorite \(sameness) claimed"
        case 3: return "claimed in [\(one(of: ["true", "false", "null", "true, false"]))]"
        case 4: return "availableOffline in [\(one(of: ["'direct', 'indirect'", "'none', null", ""]))]"
        case 5:
            let place = one(of: Condition.TextPlace.allCases).rawValue
            return "availableOffline.\(place)('\(one(of: ["direct", "in", "e", ""]))')"
        default: return "availableOffline \(sameness) \(level)"
        }
    }

    private mutating func known() -> String {
        let property = one(of: [Condition.Property.type, .cloudStatus, .remoteVersion])
        let values = (property.knownTexts ?? []).map { "'\($0)'" } + ["null"]
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return "\(property.rawValue) in [\(one(of: values)), \(one(of: values))]"
        case 1:
            return
                "\(property.rawValue).\(one(of: Condition.TextPlace.allCases).rawValue)"
                + "('\(one(of: ["local", "er", "f", ""]))')"
        case 2: return "\(property.rawValue) \(one(of: ["==", "!="])) \(one(of: ["name", "type", "mimeType"]))"
        default: return "\(property.rawValue) \(one(of: ["==", "!="])) \(one(of: values))"
        }
    }

    private mutating func property() -> String {
        one(of: ["path", "name", "mimeType", "etag", "fileID", "localID", "downloadTrigger", "parentPath", "owner"])
    }

    private mutating func phrase() -> String { chance(0.7) ? property() : chance(0.1) ? "null" : literal(beginning()) }
    private mutating func anyText() -> String {
        chance(0.2) ? one(of: ["type", "cloudStatus", "remoteVersion"]) : phrase()
    }

    private mutating func beginning() -> String { chance(0.4) ? "/" + one(of: Self.names) : text() }

    private mutating func integer(isFixed: Bool = false) -> String {
        chance(0.1) ? "null" : chance(0.6) && !isFixed ? "size" : String(number())
    }

    private mutating func moment() -> String {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: "now"
        case 1: "timestamp('\(max(time(), Timestamp(nanoseconds: .min + 1_000_000_000)))')"
        case 2: "null"
        case 3: "\(one(of: ["now", "lastUsed"])) + \(span(isSimple: true))"
        case 4: "\(one(of: ["now", "lastModified"])) - (\(span(isSimple: true)))"
        case 5: "(\(one(of: ["lastModified", "lastUsed", "removedAt"])) - \(span(isSimple: true)))"
        default: one(of: ["lastModified", "lastUsed", "removedAt"])
        }
    }

    private mutating func span(isSimple: Bool = false) -> String {
        let duration = "duration('\(one(of: ["1h", "0s", "-1h", "168h", "1ms", "2562000h", "-2562000h"]))')"
        if isSimple || chance(0.4) { return duration }
        return one(of: [
            "lastUsed - lastModified", "now - lastUsed", "lastUsed - now + \(duration)", "\(duration) - \(duration)",
            "\(duration) + \(duration)", "now - (lastModified + \(duration))",
        ])
    }

    private mutating func literal(_ text: String) -> String {
        var literal = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "'": literal += "\\\(Character(scalar))"
            case "\n": literal += "\\n"
            case "\0": literal += "\\x00"
            default:
                let digits = String(scalar.value, radix: 16)
                if chance(0.1) {
                    literal += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
                } else {
                    literal.unicodeScalars.append(scalar)
                }
            }
        }
        return "'\(literal)'"
    }
}

extension String {
    /// The text with its list closed if a list is open.
    fileprivate var closingList: String { contains("in [") ? self + "]" : self }
}
