import CLarder
import LarderFakeHost
import Testing

/// Tests of the records that the core loop makes of the shares that OCS lists.
@Suite struct CoreLoopShareTests {
    private static let mine =
        """
        {"id":"12","share_type":3,"uid_owner":"ada","share_with":"***redacted***","path":"/Photos",\
        "permissions":"1","expiration":"2026-12-31 00:00:00","url":"https://s/x","token":"t","item_source":44,\
        "file_target":"/Photos"}
        """
    private static let theirs =
        #"{"id":13,"share_type":0,"uid_owner":"bob","share_with":"ada","path":"/From Bob","permissions":31,"state":0}"#

    private func account(_ byMe: [String] = [mine], _ withMe: [String] = [theirs]) throws -> CoreAccount {
        let account = try CoreAccount()
        account.server.byMe = byMe
        account.server.withMe = withMe
        #expect(account.poll() == LARDER_OK)
        return account
    }

    @Test(
        "O01: shares by me and with me are listed, whichever of its two words for success the server has",
        arguments: [100, 200])
    func bothWays(_ code: Int) throws {
        let account = try CoreAccount()
        account.server.okCode = code
        account.server.byMe = [Self.mine]
        account.server.withMe = [Self.theirs]
        #expect(account.poll() == LARDER_OK)
        #expect(
            account.share("12")
                == """
                {"direction":"byMe","path":"/Photos","shareType":3,"owner":"ada","permissions":1,\
                "expiration":"2026-12-31 00:00:00","url":"https://s/x","itemID":"44"}
                """
        )
        #expect(
            account.share("13")
                == """
                {"direction":"withMe","path":"/From Bob","shareType":0,"owner":"bob","sharedWith":"ada",\
                "permissions":31,"state":"accepted"}
                """
        )
        #expect(
            account.asked.contains("GET apps/files_sharing/api/v1/shares?format=json&shared_with_me=true&state=all"))
    }

    @Test(
        "Where there are spaces, a share has a path only in the account's own, in whatever form ids come",
        arguments: [
            ("/dav/spaces/s1$p1/", true), ("/remote.php/dav/spaces/s1%24p1/", true), ("/dav/spaces/p1/", true),
            ("/dav/spaces/s1$p2/", false), ("/dav/spaces/s2$p1/", false),
        ])
    func spaces(_ home: String, _ isHere: Bool) throws {
        for source in [#""item_source":"s1$p1!i""#, #""space_id":"s1$p1","item_source":"i""#] {
            let account = try CoreAccount()
            larder_fake_files_home(account.fixture.fake, home)
            account.server.byMe = [#"{"id":"1","path":"/Docs",\#(source)}"#, #"{"id":"2","path":"/Docs"}"#]
            account.server.withMe = [#"{"id":"3","path":"/Shares/x","item_source":"s9$p9!i"}"#]
            #expect(account.poll() == LARDER_OK)
            #expect(account.share("1").contains(#""path":"/Docs""#) == isHere)
            for id in ["2", "3"] { #expect(!account.share(id).contains("path")) }
        }
    }

    @Test("In a home, what is shared out of a project space has no path, and what is mounted there has")
    func home() throws {
        let account = try CoreAccount()
        larder_fake_files_home(account.fixture.fake, "/remote.php/dav/files/ada/")
        larder_fake_answer_dav(account.fixture.fake, "PROPFIND", "/remote.php/dav/files/ada/", 207)
        larder_fake_response(account.fixture.fake, "/remote.php/dav/files/ada/", 200, nil)
        larder_fake_property(account.fixture.fake, "{http://owncloud.org/ns}id", "s1$me!me")
        account.server.byMe = [
            #"{"id":"1","path":"/Docs","item_source":"s1$me!a"}"#,
            #"{"id":"2","path":"/Docs","item_source":"s1$p1!b"}"#,
        ]
        account.server.withMe = [#"{"id":"3","path":"/Shares/x","item_source":"s9$p9!i"}"#]
        account.poll()
        #expect(account.share("1").contains(#""path":"/Docs""#) && account.share("3").contains("/Shares/x"))
        #expect(!account.share("2").contains("path"))
    }

    @Test("O02: a share that comes or changes is stored; another order of members, or a number as text, is no change")
    func diff() throws {
        let account = try account()
        account.fixture.forget()
        account.server.withMe = [
            """
            {"state":"0","permissions":"31","path":"/From Bob","share_with":"ada","uid_owner":"bob",\
            "share_type":"0","id":"13"}
            """
        ]
        account.poll()
        #expect(account.fixture.recordsAsked == [])
        account.server.withMe = [
            #"{"id":13,"share_type":0,"uid_owner":"bob","share_with":"ada","path":"/From Bob","permissions":1}"#
        ]
        account.server.byMe.append(#"{"id":14,"share_type":1,"path":"/New"}"#)
        account.poll()
        #expect(account.fixture.recordsAsked == ["put shares 13", "put shares 14"])
    }

    @Test("O03: sharing that is switched off removes nothing, and is said once")
    func disabled() throws {
        let account = try account()
        account.server.isSharingEnabled = false
        for _ in 0..<3 { #expect(account.poll() == LARDER_OK) }
        #expect(account.shares.count == 2 && !account.share("12").contains("missing"))
        #expect(account.fixture.logLines.filter { $0.contains("sharing is switched off") }.count == 1)
        account.server.isSharingEnabled = true
        account.setDay(1)
        account.poll()
        account.server.isSharingEnabled = false
        account.poll()
        #expect(account.fixture.logLines.filter { $0.contains("sharing is switched off") }.count == 2)
    }

    @Test("O04: a share that is missing is counted, over two readings of the lists each time, and stays")
    func missing() throws {
        let account = try account()
        account.server.withMe = []
        account.fixture.forget()
        account.poll()
        #expect(account.share("13").hasSuffix(#","missing":1}"#))
        #expect(account.asked.filter { $0.contains("shared_with_me") }.count == 2)
        for _ in 0..<3 { account.poll() }
        #expect(account.share("13").hasSuffix(#","missing":2}"#) && account.shares.count == 2)
        account.server.withMe = [Self.theirs]
        account.poll()
        #expect(!account.share("13").contains("missing"))
    }

    @Test("O04: a share that is missing from one reading only, or whose listing fails, is not counted")
    func flicker() throws {
        let account = try account()
        let target = "/ocs/v2.php/apps/files_sharing/api/v1/shares?format=json&shared_with_me=true&state=all"
        larder_fake_answer(account.fixture.fake, "GET", target, 200, #"{"ocs":{"meta":{"statuscode":200},"data":[]}}"#)
        #expect(account.poll() == LARDER_OK && !account.share("13").contains("missing"))
        for body in [#"{"ocs":{"meta":{"statuscode":996},"data":[]}}"#, "<html>", #"{"ocs":"#] {
            larder_fake_answer(account.fixture.fake, "GET", target, 500, body)
            #expect(account.poll() == LARDER_IO)
        }
        larder_fake_answer(account.fixture.fake, "GET", target, 200, #"{"ocs":{"meta":{"statuscode":200},"data":[{"#)
        #expect(account.poll() == LARDER_IO)
        larder_fake_answer(
            account.fixture.fake, "GET", target, 403, #"{"ocs":{"meta":{"statuscode":403},"data":null}}"#)
        #expect(account.poll() == LARDER_DENIED)
        account.server.hasOCS = false
        account.fixture.stop()
        account.fixture.start("org.larder.core-loop")
        #expect(account.poll() == LARDER_IO, "shares that were there are not believed to be offered no more")
        #expect(account.shares.allSatisfy { !$0.value.contains("missing") } && account.shares.count == 2)
    }

    @Test("O05: a pending share is told by ownCloud's state and by Nextcloud's list of them", arguments: [true, false])
    func pending(_ isOwnCloud: Bool) throws {
        let account = try CoreAccount()
        let pending = #"{"id":20,"share_type":0,"uid_owner":"bob","share_with":"ada","path":"/P","permissions":1"#
        if isOwnCloud {
            account.server.withMe = [pending + #","state":1}"#, #"{"id":21,"share_type":0,"path":"/R","state":2}"#]
        } else {
            account.server.hasPending = true
            account.server.pending = [pending + "}"]
        }
        account.poll()
        #expect(account.share("20").hasSuffix(#""state":"pending"}"#))
        #expect(account.fixture.recordsAsked.contains("put shares 20"))
        if isOwnCloud { #expect(account.share("21").hasSuffix(#""state":"rejected"}"#)) }
        account.server.pending = []
        account.server.withMe = [pending + (isOwnCloud ? #","state":0}"# : "}")]
        account.poll()
        #expect(account.share("20").hasSuffix(#""state":"accepted"}"#))
    }

    @Test("A share of another server has an id of its own kind")
    func remote() throws {
        let account = try CoreAccount()
        account.server.hasFederation = true
        account.server.byMe = [Self.mine]
        account.server.remote = [
            #"{"id":12,"remote":"https://far/","owner":"eve","user":"ada","mountpoint":"/Far","accepted":1}"#
        ]
        account.poll()
        #expect(account.shares.map(\.key) == ["12", "remote-12"])
        #expect(
            account.share("remote-12")
                == """
                {"direction":"withMe","path":"/Far","owner":"eve","sharedWith":"ada","state":"accepted",\
                "remote":true}
                """
        )
        #expect(account.fixture.requests.filter { $0.target.contains("remote_shares/pending") }.count == 1)
    }
}
