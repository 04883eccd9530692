import Core
import Model
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
            "  scans      each lists every folder, because a folder had its old ETag after a change in it"
        #expect(StatusText(status, plugins: []).lines.contains(line) == wrong)
        #expect(JSONValue(status, plugins: []).text.contains(#""pausedUntil":null,"etagsWereWrong":\#(wrong),"#))
        #expect(!StatusText(status, plugins: []).lines.contains { $0.contains("until the ETags") })
        status.etagDaysLeft = 7
        let hope = "             until the ETags have told of every change for 7 more days"
        #expect(StatusText(status, plugins: []).lines.contains(hope) == wrong)
    }

    @Test("C2: the status says why a server is not asked any more, and until when")
    func refused() {
        var status = AccountStatus(account: "home")
        status.isRunning = true
        let since = Timestamp(seconds: 1_800_000_000)
        status.refusal = AuthenticationFailure(message: "it says no", since: since, nextTry: since + .seconds(30))
        #expect(
            StatusText(status, plugins: []).lines[1]
                == "  rejected   it says no, since 2027-01-15T08:00:00Z; tried again at 2027-01-15T08:00:30Z")
        #expect(
            JSONValue(status, plugins: []).text.contains(
                #""refused":{"message":"it says no","since":"2027-01-15T08:00:00Z","nextTry":"2027-01-15T08:00:30Z"}"#))
        status.refusal?.nextTry = nil
        #expect(
            StatusText(status, plugins: []).lines[1].hasSuffix(
                "; tried again when the secret's source has changed"))
        status.isRunning = false
        #expect(StatusText(status, plugins: []).lines[1].hasSuffix("; tried again by the next `larder run`"))
    }

    @Test("I3: the status says which kind of server was found, and why")
    func server() {
        var status = AccountStatus(account: "home")
        status.server = ServerReport(
            kind: .ownCloudFamily, product: "OpenCloud", version: "7.0", root: "https://h/dav/spaces/a/",
            because: "it has capabilities, and items have oc:id")
        #expect(
            StatusText(status, plugins: []).lines[1]
                == "  server     ownCloud family (OpenCloud 7.0): it has capabilities, and items have oc:id")
        #expect(
            JSONValue(status, plugins: []).text.contains(#""server":{"kind":"ownCloudFamily","product":"OpenCloud""#))
    }
}
