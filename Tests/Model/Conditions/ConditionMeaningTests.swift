import Model
import Testing

@Suite struct ConditionMeaningTests {
    // spec: Q1
    @Test(
        "Q1: every operator does what it says",
        arguments: [
            "size > 1199", "size >= 1200", "size < 1201", "size <= 1200", "size == 1200", "size != 1199", "-1 < size",
            "size in [1, 1200]", "!(size in [])", "path.startsWith('/Docs/')", "path.endsWith('.txt')",
            "path.contains('% a')", "removed || favorite", "!removed && favorite", "!(removed && favorite)",
            "!!favorite",
            "favorite == true", "removed != favorite", "type == 'file'", "type in ['file', 'folder']",
            "cloudStatus == 'localCopy'", "cloudStatus.startsWith('local')", "remoteVersion == 'newer'",
            "downloadTrigger == 'user'", "parentPath == '/Docs'", "owner in ['ada', 'bob']",
            "'uploading' in syncActivity && 'updating' in syncActivity && !('downloading' in syncActivity)",
            "etag == 'abc'", "fileID == '00000042oc'", "localID == '1f'",
            "mimeType.startsWith('text/')", "name == '100% a_b.txt'", "name < path || path < name",
            "lastUsed < now - duration('168h')", "!(lastUsed < now - duration('168h2s'))", "lastModified > lastUsed",
            "now - lastModified == duration('1h')", "lastModified + duration('1h') == now",
            "duration('30m') + duration('30m') == now - lastModified",
            "now - lastUsed > duration('7d')".replacing("7d", with: "168h"),
            "lastModified < timestamp('2026-11-21T13:00:00+01:00')", "true", "!false", "1 < 2", "'a' < 'b'",
            "null == null",
        ])
    func operators(_ text: String) throws {
        #expect(try holds(text))
        #expect(try !holds("!(\(text))"))
    }

    @Test("Q3: text is literal, byte by byte: no wildcards, no case folding, no normalisation")
    func literalText() throws {
        let odd = Item(localID: LocalID("o"), fileID: nil, path: ItemPath(unchecked: "/a%_\\'\"\nZ\u{e9}"), kind: .file)
        #expect(try holds(#"path == "/a%_\\'\"\nZ\u00e9""#, odd))
        #expect(try holds(#"name.startsWith("a%_\\")"#, odd))
        #expect(try holds(#"name.contains('\'"\n')"#, odd))
        for text in [
            #"name.startsWith("A")"#, #"name.startsWith("ab")"#, #"name.contains("%%")"#, #"name.endsWith("e\u0301")"#,
            #"name.contains("e\u0301")"#, #"name == "a%_\\'\"\nZe\u0301""#, #"name.endsWith("z\u00e9")"#,
        ] {
            #expect(try !holds(text, odd), "\(text)")
        }
        // The code point after U+FFFF sorts after U+FFFF in UTF-8, but not in UTF-16.
        #expect(try holds(#""\uffff" < "\U00010000""#))
        #expect(try !holds(#""e\u0301" == "\u00e9""#))
    }

    @Test(
        "Q4: an absent value equals only null; every other comparison and method with it is false",
        arguments: [
            "size", "mimeType", "etag", "fileID", "lastModified", "lastUsed", "downloadTrigger", "owner",
            "remoteVersion",
        ])
    func absent(_ property: String) throws {
        let value =
            switch property {
            case "size": "1"
            case "lastModified", "lastUsed": "now"
            case "remoteVersion": "'newer'"
            default: "'x'"
            }
        #expect(try holds("\(property) == null && !(\(property) != null)", bare))
        #expect(try holds("\(property) != null && !(\(property) == null)", report))
        #expect(try holds("\(property) != \(value) && !(\(property) == \(value))", bare))
        #expect(try holds("\(property) in [\(value), null] && !(\(property) in [\(value)])", bare))
        guard property != "remoteVersion" else { return }
        for relation in ["<", "<=", ">", ">="] {
            #expect(try holds("!(\(property) \(relation) \(value)) && !(\(value) \(relation) \(property))", bare))
            #expect(try !holds("\(property) \(relation) null", report))
        }
        guard value == "'x'" else { return }
        for test in ["startsWith", "endsWith", "contains"] {
            #expect(try holds("!\(property).\(test)('') && !'x'.\(test)(\(property))", bare))
        }
    }

    @Test("Q4: the root has no parent; the folders below it have")
    func rootsParent() throws {
        let root = Item(localID: LocalID("r"), fileID: nil, path: .root, kind: .folder)
        #expect(try holds("parentPath == null && parentPath != '/' && !parentPath.startsWith('/')", root))
        #expect(try holds("parentPath == '/' && parentPath != null && parentPath.startsWith('')", bare))
    }

    @Test("Q4: a time that is computed of an absent one is absent")
    func absentTimes() throws {
        #expect(try holds("!(lastUsed + duration('1h') > lastUsed) && !(now - lastUsed < duration('1h'))", bare))
        #expect(try holds("now - lastUsed == null && now - lastUsed != duration('1h')", bare))
    }

    @Test("Q5: an empty group is true for all of, false for any of")
    func emptyGroups() throws {
        #expect(!Condition.anyOf([]).matches(report, now: noon))
        #expect(Condition.allOf([]).matches(report, now: noon))
        #expect(Condition.anyOf([]).text == "false")
        #expect(Condition.allOf([]).text == "true")
    }

    @Test("Times beyond what 64 bits hold stay at their end")
    func saturation() throws {
        let last = "timestamp('2262-04-11T23:47:16.854775807Z')"
        #expect(try holds("\(last) + duration('1h') == \(last)"))
        #expect(try holds("\(last) - (now - now - duration('1h')) == \(last)"))
        #expect(error("size == 1 && lastUsed < timestamp('2263-01-01T00:00:00Z')")?.column == 35)
    }
}
