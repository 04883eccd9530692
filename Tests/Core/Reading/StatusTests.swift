import Core
import Testing

@testable import larder

@Suite("An account's status, as it is printed")
struct StatusTests {
    @Test(
        "I3: an account whose folder ETags are not believed any more says so, others do not", arguments: [false, true])
    func distrustedETags(wrong: Bool) {
        var status = AccountStatus(account: "home")
        status.etagsWereWrong = wrong
        let line =
            "  scans      list every folder, every time: one had its old ETag although something in it had changed"
        #expect(StatusText(status, plugins: []).lines.contains(line) == wrong)
        #expect(JSON(status, plugins: []).rendered.hasSuffix(#""nextPoll":null,"etagsWereWrong":\#(wrong)}"#))
    }
}
