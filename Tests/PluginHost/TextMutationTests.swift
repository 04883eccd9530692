import CLarder
import Model
import TestSupport
import Testing

@testable import PluginHost

@Suite struct TextMutationTests {
    private static let schema = """
        {"properties": {"years": {"type": "integer", "minimum": 1, "maximum": 99, "default": 5, \
        "description": "how long"},
          "keep": {"type": "boolean"}, "share": {"type": "number", "default": 1.5e-3},
          "mode": {"type": "string", "enum": ["slow", "f\\u00e4st\\n\\\\"], "default": "slow"}}}
        """
    private static let words = [
        "{", "}", "[", "]", ":", ",", "\"", "\\u", "\\ud800", "\\", "null", "true", "1e999", "-0",
        "9223372036854775808", "0.1e",
        "\"type\"", "\"default\"", "\"properties\"",
    ]

    @Test("A schema or settings in which a key comes twice are refused, as readers understand them differently")
    func twice() throws {
        for text in [
            #"{"properties": {"share": {"type": "number", "default": 1.99, "default": 5}}}"#,
            #"{"properties": {"a": {"type": "string"}, "a": {"type": "boolean"}}}"#,
            #"{"properties": {}, "properties": {}}"#,
        ] { #expect(throws: Refusal.self, "\(text)") { try ConfigSchema(parsing: text) } }
        let schema = try ConfigSchema(parsing: Self.schema)
        #expect(throws: Refusal.self) { try schema.settings(from: #"{"years": 3, "years": 4}"#) }
    }

    @Test("A schema and settings with mistakes are read, and written the same again, or refused")
    func schemas() {
        var mutator = Mutator(words: Self.words)
        var read = 0
        for _ in 0..<SeededGenerator.rounds() {
            let text = mutator.mutate(Self.schema)
            if let value = try? JSONValue(parsing: text) {
                #expect((try? JSONValue(parsing: value.text)) == value, "\(text) LARDER_TEST_SEED=\(mutator.seed)")
                read += 1
            }
            guard let schema = try? ConfigSchema(parsing: text), let settings = try? schema.settings(from: "{}").text
            else {
                continue
            }
            #expect((try? schema.settings(from: settings).text) == settings, "\(text) LARDER_TEST_SEED=\(mutator.seed)")
        }
        #expect(read > 0 && read < SeededGenerator.rounds())
    }

    @Test("Text that crosses the ABI is UTF-8 as it was given, or nothing")
    func texts() {
        var mutator = Mutator()
        for _ in 0..<SeededGenerator.rounds() {
            let bytes = mutator.mutate("caf\u{e9} \u{1F30D} e\u{301}".utf8)
            let text = bytes.withUnsafeBufferPointer { larder_str(borrowing: $0).text }
            if let text {
                #expect(text.utf8.elementsEqual(bytes), "LARDER_TEST_SEED=\(mutator.seed)")
            } else {
                #expect(
                    bytes.isEmpty || !String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes),
                    "LARDER_TEST_SEED=\(mutator.seed)")
            }
        }
    }

    @Test("G12: a table of any size and content is read as far as it goes and is known, or refused")
    func tables() {
        var mutator = Mutator()
        var read = 0
        for _ in 0..<SeededGenerator.rounds() {
            let size = UInt32.random(in: 0...512, using: &mutator)
            // The table is as long as it says, and its functions point anywhere.
            var bytes = (0..<Int(max(size, 4))).map { _ in UInt8.random(in: 0...2, using: &mutator) }
            withUnsafeBytes(of: size) { for (index, byte) in $0.enumerated() { bytes[index] = byte } }
            bytes.withUnsafeBytes { table in
                if let copy = try? larder_instance.copy(table.baseAddress) {
                    #expect(size >= 48 && copy.struct_size == size, "LARDER_TEST_SEED=\(mutator.seed)")
                    read += 1
                }
            }
        }
        #expect(read > 0 && read < SeededGenerator.rounds())
    }
}
