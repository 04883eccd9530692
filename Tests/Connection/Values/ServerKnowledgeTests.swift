import FoundationEssentials
import Model
import Testing
import Transfer

@testable import Connection

@Suite("What is known of a server")
struct ServerKnowledgeTests {
    /// The facts as vaults have them.
    private static let stored = """
        {"evidence":"capabilities","foundAtNanoseconds":1700000000000000000,"hasFileIDs":true,"hasFiles":true,\
        "homes":{"caldav":{"homes":["/cal/ada/"],"principal":"/p/ada/"},"carddav":{"homes":[]}},\
        "ignoresConditions":true,"isStale":false,"pollWish":60000,"product":"Nextcloud",\
        "root":"https://h/remote.php/dav/files/ada/","url":"https://h/","username":"ada","version":"30.0.1"}
        """

    private static func kept() throws -> KnownServer {
        try JSONDecoder().decode(KnownServer.self, from: Data(stored.utf8))
    }

    @Test("The facts that are kept are read as vaults have them, and written the same way")
    func format() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(String(decoding: try encoder.encode(try Self.kept()), as: UTF8.self) == Self.stored)
    }

    @Test("What an upload, a question or an answer told is kept too, as long as there are facts to keep")
    func kept() throws {
        var knowledge = ServerKnowledge()
        knowledge.learn(.pollWish(1_000))
        knowledge.learn(.ignoredCondition)
        #expect(knowledge.kept == nil)
        var known = try Self.kept()
        known.ignoresConditions = nil
        knowledge.learn(.kept(known))
        #expect(knowledge.kept?.ignoresConditions == true && knowledge.kept?.pollWish == 60_000)
        knowledge.learn(.pollWish(0))
        knowledge.learn(.noForbiddenNames)
        knowledge.learn(.homeIsGone("/cal/ada/"))
        #expect(knowledge.kept?.pollWish == 0 && knowledge.kept?.forbiddenNames == ForbiddenNames())
        #expect(knowledge.kept?.homes.keys.sorted() == ["carddav"])
        knowledge.learn(.kept(nil))
        #expect(knowledge.kept == nil && knowledge.forbiddenNames == ForbiddenNames())
    }

    @Test("A server that is connected to anew may offer other things, and does not heed conditions again")
    func root() throws {
        let root = try ServerAddress("https://h/dav/")
        var knowledge = ServerKnowledge()
        knowledge.learn(.root(root, hasFiles: true, isFamily: true))
        knowledge.learn(.rootAnswer(["Server": "Apache", "Tus-Version": "1.0.0", "Tus-Extension": "creation"]))
        knowledge.learn(.rootClasses(["1", "2"]))
        #expect(knowledge.manners.heedsConditions && knowledge.tus.offer != nil)
        knowledge.learn(.tusFails)
        knowledge.learn(.refusedBody(5))
        knowledge.learn(.ignoredCondition)
        #expect(!knowledge.manners.heedsConditions && knowledge.tus.offer == nil)
        #expect(knowledge.chunks.refusedBody == 5 && !knowledge.mannersAreOpen)
        knowledge.learn(.root(root, hasFiles: true, isFamily: false))
        #expect(knowledge.tus.offer != nil && knowledge.chunks.refusedBody == nil && knowledge.mannersAreOpen)
        #expect(!knowledge.manners.heedsConditions && !knowledge.manners.isFamily)
    }
}
