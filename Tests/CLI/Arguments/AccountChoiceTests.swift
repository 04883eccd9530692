import Model
import Testing

@testable import larder

@Suite struct AccountChoiceTests {
    @Test("H1: with several accounts one is named, or all are meant")
    func choice() throws {
        let text = """
            accounts:
            - { name: a, url: 'https://a.example', vault: /a }
            - { name: b, url: 'https://b.example', vault: /b }
            """
        var config = try Config.decode(text, file: "/c.yaml")
        #expect(try config.namedAccounts().count == 2)
        #expect(throws: Failure.self) { _ = try config.oneAccount() }
        config.accountName = "b"
        #expect(try config.oneAccount().bookmark.name == "b")
        config.accountName = "c"
        #expect(throws: Failure.self) { _ = try config.namedAccounts() }
    }
}
