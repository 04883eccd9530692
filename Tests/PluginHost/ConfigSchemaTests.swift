import Model
import Testing

@testable import PluginHost

@Suite struct ConfigSchemaTests {
    private static let text = """
        {"properties": {"years": {"type": "integer", "minimum": 1, "maximum": 99, "default": 5, "description": "how \
        long"},
        "keep": {"type": "boolean"}, "share": {"type": "number"},
        "mode": {"type": "string", "enum": ["slow", "fast"], "default": "slow"}}}
        """

    @Test("Settings are checked against the schema, and defaults are filled in")
    func settings() throws {
        let schema = try ConfigSchema(parsing: Self.text)
        #expect(try schema.settings(from: "{}").text == #"{"years":5,"mode":"slow"}"#)
        #expect(
            try schema.settings(from: #"{"mode": "fast", "keep": true, "share": 0.5, "years": 7}"#).text
                == #"{"years":7,"keep":true,"share":0.5,"mode":"fast"}"#)
    }

    @Test(
        "All that is wrong with settings is said at once",
        arguments: [
            (
                #"{"years": 0, "mode": "x", "yeras": 1}"#,
                """
                `yeras` is unknown: the plugin takes `years`, `keep`, `share`, `mode`; \
                `years` must be at least 1; `mode` must be one of "slow", "fast"
                """
            ),
            (#"{"years": 100}"#, "`years` must be at most 99"),
            (#"{"years": "5"}"#, "`years` must be of type integer"),
            (#"{"keep": 1}"#, "`keep` must be of type boolean"),
            ("[]", "not an object"),
            ("{", "not JSON: a name in quotes is missing"),
        ])
    func wrong(settings: String, problem: String) throws {
        let schema = try ConfigSchema(parsing: Self.text)
        #expect(Self.reason(settings, schema) == "settings: " + problem)
    }

    /// Returns the reason why the settings are refused; nil if they are accepted.
    private static func reason(_ settings: String, _ schema: ConfigSchema) -> String? {
        do {
            _ = try schema.settings(from: settings)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("Of each mistake it is known which setting it is in, and which settings there are")
    func places() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"events": {"type": "object", "properties": {"url": {"type": "string"},
                  "every": {"type": "integer", "minimum": 1}}}, "keep": {"type": "boolean"}}}
                """)
        let settings = #"{"kep": true, "events": {"ulr": "/e", "every": 0}, "keep": 1}"#
        #expect(
            throws: Refusal.settings([
                SettingProblem(["kep"], .unknown(among: ["events", "keep"])),
                SettingProblem(["events", "ulr"], .unknown(among: ["url", "every"])),
                SettingProblem(["events", "every"], .wrong("must be at least 1")),
                SettingProblem(["keep"], .wrong("must be of type boolean")),
            ])
        ) { try schema.settings(from: settings) }
        #expect(
            throws: Refusal.settings([SettingProblem(["years"], .unknown(among: []))])
        ) { try ConfigSchema.none.settings(from: #"{"years": 5}"#) }
        #expect(
            Self.reason(#"{"years": 5}"#, .none) == "settings: `years` is unknown: the plugin takes no settings")
    }

    @Test(
        "A schema that promises a check that is not made is refused",
        arguments: [
            "", "{}", #"{"properties": {"a": {}}}"#, #"{"properties": {"a": {"type": "array"}}}"#,
            #"{"properties": {"a": {"type": "string", "minLength": 1}}}"#,
            #"{"properties": {"a": {"type": "string", "pattern": "("}}}"#,
            #"{"properties": {"a": {"type": "integer", "pattern": "1"}}}"#,
            #"{"properties": {"a": {"type": "string", "pattern": "^b$", "default": "a"}}}"#,
            #"{"properties": {"a": {"type": "string", "format": "color"}}}"#,
            #"{"properties": {"a": {"type": "integer", "format": "size"}}}"#,
            #"{"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}"#,
            #"{"properties": {"a": {"type": "string", "format": "duration", "default": "soon"}}}"#,
            #"{"properties": {"a": {"type": "integer", "default": "x"}}}"#, #"{"properties": {}, "required": []}"#,
            #"{"properties": {"a": {"type": "integer", "format": "condition"}}}"#,
            #"{"properties": {"a": {"type": "string", "format": "condition", "default": "sise > 1"}}}"#,
            #"{"properties": {"a": {"type": "array", "items": "string"}}}"#,
            #"{"properties": {"a": {"type": "array", "items": {"type": "object"}}}}"#,
            #"{"properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": {}}}}}}"#,
            #"{"properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}, "minItems": 1}}}}"#,
            #"{"properties": {"a": {"type": "object", "properties": {}, "required": ["b"]}}}"#,
            #"{"properties": {"a": {"type": "string", "required": []}}}"#,
            #"{"properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}}, "#
                + #""heeded-as": "ignored-readers"}}}"#,
        ])
    func schemas(text: String) { #expect(throws: Refusal.self) { try ConfigSchema(parsing: text) } }

    @Test("A setting may hold settings of its own, which are checked and filled in like those around it")
    func objects() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"events": {"type": "object", "properties": {"url": {"type": "string"},
                  "every": {"type": "string", "format": "duration", "default": "1s"}}}}}
                """)
        #expect(try schema.settings(from: "{}").text == "{}")
        #expect(
            try schema.settings(from: #"{"events": {"url": "/e"}}"#).text == #"{"events":{"url":"/e","every":1000}}"#)
        #expect(
            Self.reason(#"{"events": {"ulr": "/e"}}"#, schema)
                == "settings: `events.ulr` is unknown: `events` takes `url`, `every`")
        #expect(Self.reason(#"{"events": "/e"}"#, schema) == "settings: `events` must hold settings")
    }

    @Test("A list may hold objects, each checked and filled in; a problem names the object's position and its name")
    func listsOfObjects() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"rules": {"type": "array", "default": [], "items": {"type": "object",
                  "required": ["name", "match"], "properties": {"name": {"type": "string"},
                  "match": {"type": "string", "format": "condition"},
                  "after": {"type": "string", "format": "duration", "default": "1s"}}}},
                  "one": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}}
                """)
        #expect(try schema.settings(from: "{}").text == #"{"rules":[]}"#)
        #expect(
            try schema.settings(
                from:
                    #"{"rules": [{"match": "size > 5", "name": "a"}, {"name": "b", "match": "favorite", "after": "2m"}]}"#
            )
            .text
                == #"{"rules":[{"name":"a","match":"size > 5","after":1000},"#
                + #"{"name":"b","match":"favorite","after":120000}]}"#)
        #expect(
            throws: Refusal.settings([
                SettingProblem(["rules", "[1]", "mach"], .unknown(among: ["name", "match", "after"])),
                SettingProblem(["rules", "[1]", "match"], .wrong(#"of "a" is missing"#)),
                SettingProblem(["rules", "[2]", "name"], .wrong("is missing")),
                SettingProblem(
                    ["rules", "[2]", "match"],
                    .wrong("is not a condition: column 1: there is no property 'sise'; did you mean size?")),
                SettingProblem(["rules", "[3]"], .wrong("must hold settings")),
                SettingProblem(["rules", "[4]", "match"], .wrong(#"of "c" must be of type string"#)),
                SettingProblem(["one", "a"], .wrong("is missing")),
            ])
        ) {
            try schema.settings(
                from: """
                    {"rules": [{"name": "a", "mach": "size > 5"}, {"match": "sise > 5"}, "x", {"name": "c", "match": 1}],
                    "one": {}}
                    """)
        }
        #expect(Self.reason(#"{"rules": {"name": "a"}}"#, schema) == "settings: `rules` must be a list")
        #expect(
            Self.reason(#"{"rules": [{"name": "a", "match": "claimed"}]}"#, schema)?
                .hasPrefix("settings: `rules[1].match` of \"a\" is not a condition: column 1: a policy cannot") == true)
        #expect(
            Self.reason(#"{"rules": [{"name": "a", "match": "true", "x": 1}]}"#, schema)
                == "settings: `rules[1].x` is unknown: `rules[1]` takes `name`, `match`, `after`")
    }

    @Test("A text has to match its pattern; what is wrong is told in the words of the description")
    func patterns() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"when": {"type": "string", "pattern": "^(soon|[1-9][0-9]* weeks)$",
                  "description": "soon, or N weeks"}, "id": {"type": "string", "pattern": "x"}}}
                """)
        #expect(
            try schema.settings(from: #"{"when": "12 weeks", "id": "axb"}"#).text == #"{"when":"12 weeks","id":"axb"}"#)
        for text in ["", "0 weeks", "soon ", "2 weeks\\nsoon"] {
            #expect(
                Self.reason(#"{"when": "\#(text)", "id": "x"}"#, schema)
                    == "settings: `when` is not as it has to be: soon, or N weeks")
        }
        #expect(Self.reason(#"{"id": "a"}"#, schema) == "settings: `id` must match x")
        #expect(Self.reason(#"{"id": 1}"#, schema) == "settings: `id` must be of type string")
    }

    @Test("Durations and sizes are written with units, and the plugin gets numbers; lists hold texts")
    func formats() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"after": {"type": "string", "format": "duration", "default": "7d"},
                  "room": {"type": "string", "format": "size"},
                  "names": {"type": "array", "items": {"type": "string"}, "default": []}}}
                """)
        #expect(try schema.settings(from: "{}").text == #"{"after":604800000,"names":[]}"#)
        #expect(
            try schema.settings(from: #"{"after": "-90s", "room": "16GiB", "names": ["a", "b"]}"#).text
                == #"{"after":-90000,"room":17179869184,"names":["a","b"]}"#)
        for (settings, problem) in [
            (#"{"after": 60}"#, "`after` is not a duration: write it like 500ms, 90s, 10m, 24h or 7d"),
            (#"{"after": "99999999999999d"}"#, "`after` is not a duration: write it like 500ms, 90s, 10m, 24h or 7d"),
            (#"{"room": "20 GB"}"#, "`room` is not a size: write it like 700MB, 20GB or 16GiB"),
            (#"{"room": "GB"}"#, "`room` is not a size: write it like 700MB, 20GB or 16GiB"),
            (#"{"names": "a"}"#, "`names` must be a list"), (#"{"names": [1]}"#, "`names` must be a list of texts"),
        ] {
            #expect(Self.reason(settings, schema) == "settings: " + problem)
        }
    }

    @Test("The host heeds of any plugin's settings what their schema says, whatever they are called")
    func heeded() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"deaf-to": {"type": "array", "items": {"type": "string"}, "default": ["restic"],
                    "heeded-as": "ignored-readers"},
                  "ignore-readers": {"type": "array", "items": {"type": "string"}},
                  "rest": {"type": "string", "format": "duration", "heeded-as": "poll-interval"}}}
                """)
        func heeded(_ settings: String) throws -> HeededSettings {
            HeededSettings(schema, try schema.settings(from: settings))
        }
        #expect(try heeded("{}").ignoredReaders == ["restic"])
        #expect(try heeded("{}").pollInterval == nil)
        let given = try heeded(#"{"deaf-to": ["a", "", "b"], "ignore-readers": ["c"], "rest": "10m"}"#)
        #expect(given.ignoredReaders == ["a", "b"] && given.pollInterval == .seconds(600))
        #expect(try heeded(#"{"rest": "0s"}"#).pollInterval == .seconds(1))
    }

    @Test("What settings that are left out hold is told as the schema writes it, and as the plugin gets it")
    func defaults() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"after": {"type": "string", "format": "duration", "default": "7d"}, "none": {"type": \
                "integer"},
                "events": {"type": "object", "properties": {"every": {"type": "string", "format": "size", "default": \
                "1kB"},
                "url": {"type": "string"}}},
                "deep": {"type": "object", "default": {"b": 2}, "properties": {"a": {"type": "integer", "default": 1},
                "b": {"type": "integer", "default": 1}}}}}
                """)
        for (given, defaults, filled) in [
            ("{}", #"{"after":"7d","deep":{"b":2,"a":1}}"#, #"{"after":604800000,"deep":{"a":1,"b":2}}"#),
            (
                #"{"after":"1s","events":{"url":"/e"},"deep":{"a":5}}"#, #"{"events":{"every":"1kB"},"deep":{"b":1}}"#,
                #"{"after":1000,"events":{"every":1000,"url":"/e"},"deep":{"a":5,"b":1}}"#
            ),
            (#"{"after":"1s","deep":{"a":5,"b":6}}"#, "{}", #"{"after":1000,"deep":{"a":5,"b":6}}"#),
        ] {
            #expect(try schema.defaults(beside: given).text == defaults)
            #expect(try schema.settings(from: given).text == filled)
        }
    }

    @Test("The bounds of a duration and of a size are in the plugin's units, and are told as they are written")
    func boundsOfQuantities() throws {
        let schema = try ConfigSchema(
            parsing: """
                {"properties": {"every": {"type": "string", "format": "duration", "minimum": 1000},
                  "room": {"type": "string", "format": "size", "maximum": 2000}}}
                """)
        #expect(try schema.settings(from: #"{"every": "1s", "room": "2kB"}"#).text == #"{"every":1000,"room":2000}"#)
        #expect(
            Self.reason(#"{"every": "999ms", "room": "2001B"}"#, schema)
                == "settings: `every` must be at least 1000ms; `room` must be at most 2000B")
        #expect(throws: Refusal.self) {
            try ConfigSchema(
                parsing:
                    #"{"properties": {"a": {"type": "string", "format": "duration", "#
                    + #""minimum": 1000, "default": "1ms"}}}"#
            )
        }
    }

    @Test("JSON is read as RFC 8259 has it, and what is none is refused")
    func json() throws {
        let text = #"{"a": [1, -2.5, "x\n\u00e9\ud83d\ude00", true, null], "b": {}}"#
        #expect(
            try JSONValue(parsing: text)["a"]
                == .array([.integer(1), .number(-2.5), .string("x\né😀"), .bool(true), .null]))
        for wrong in [
            "{\"a\": }", "[1,]", "\"\\ud83d\"", "\"\u{1}\"", "01x", "tru", "1 2", "1e999", "\"x",
            String(repeating: "[", count: 100),
        ] {
            #expect(throws: JSONValue.ParsingError.self, "\(wrong)") { try JSONValue(parsing: wrong) }
        }
    }
}
