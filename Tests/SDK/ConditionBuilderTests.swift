import LarderSDK
import Testing

import enum Model.Condition
import struct Model.Timestamp

/// What the SDK's builder writes is what the host reads.
@Suite struct ConditionBuilderTests {
    typealias Built = LarderSDK.Condition

    static let samples: [(Built, String)] = [
        (!.removed && .type == .file, #"!removed && type == "file""#),
        ((.type == .folder || .favorite) && .size > 5, #"(type == "folder" || favorite) && size > 5"#),
        (!(.path == "/a" || .removed), #"!(path == "/a" || removed)"#),
        (!(.size <= 1), "!(size <= 1)"),
        (
            .cloudStatus == .localCopy && .remoteVersion == .newer,
            #"cloudStatus == "localCopy" && remoteVersion == "newer""#
        ),
        (.any(of: []), "false"), (.all(of: []), "true"), (.any(of: [.favorite]), "favorite"),
        (
            .downloadTrigger != "user" && ItemProperty.name.ends(with: ".jpg"),
            #"downloadTrigger != "user" && name.endsWith(".jpg")"#
        ),
        (Built(text: "removed || favorite") && .removed, "(removed || favorite) && removed"),
        (.path == "/a\"b\\c\nd\te\u{1}\u{2028}", #"path == "/a\"b\\c\nd\te\u0001\u2028""#),
    ]

    @Test("SDK: conditions are written as the host writes them, and read by it", arguments: samples.indices)
    func written(_ index: Int) throws {
        let (built, text) = Self.samples[index]
        #expect(built.text == text)
        #expect(try Model.Condition(parsing: text).text == text)
    }

    @Test("SDK: ten thousand alternatives are one condition that the host reads")
    func many() throws {
        let ids = (0..<10_000).map { number -> Built in .localID == "id-\(number)" }
        let text = (!.removed && !.any(of: ids)).text
        guard case .all(let terms) = try Model.Condition(parsing: text), case .not(.any(let parts)) = terms.last else {
            Issue.record("the condition has another shape")
            return
        }
        #expect(parts.count == 10_000)
    }
}
