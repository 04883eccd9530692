import Model
import TestSupport
import Testing
import Transfer

@testable import Connection

/// What a server says about a refusal, and the names that its capabilities forbid.
struct ServerSentenceTests {
    private func sabre(_ message: String) -> [UInt8] {
        Array(
            #"<?xml version="1.0"?><d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:exception>E</s:exception>"#
                .utf8) + Array("<s:message>\(message)</s:message></d:error>".utf8)
    }

    @Test("S40: the server's sentence is read from Sabre's and from OCS's documents, and from no other")
    func read() {
        #expect(ServerSentence.read(sabre("\"&lt;\" is not allowed")) == "\"<\" is not allowed")
        #expect(ServerSentence.read(Array(sabre("told before the cut").dropLast(10))) == "told before the cut")
        let ocs = "<ocs><meta><status>failure</status><message>Wrong path</message></meta><data/></ocs>"
        #expect(ServerSentence.read(Array(ocs.utf8)) == "Wrong path")
        let json = #" {"ocs":{"meta":{"status":"failure","statuscode":404,"message":"No share"},"data":[]}}"#
        #expect(ServerSentence.read(Array(json.utf8)) == "No share")
        for other in ["", "<html><message>x</message></html>", "{\"message\":\"x\"}", "<!DOCTYPE html><p>x", "text"] {
            #expect(ServerSentence.read(Array(other.utf8)) == nil, "\(other)")
        }
    }

    @Test("S40: a sentence is one line without control characters, and a long one is cut")
    func line() {
        #expect(ServerSentence.line(" a\r\n\tb\u{1b}[31m c\u{202e}d\u{2028}e ") == "a b [31m c d e")
        #expect(ServerSentence.line("\n \u{7}") == nil)
        let long = ServerSentence.line(String(repeating: "e\u{301}", count: 5_000))
        #expect(long?.count == ServerSentence.longest + 1 && long?.hasSuffix("e\u{301}…") == true)
        // A document of any size is read only so far.
        #expect(ServerSentence.read(sabre(String(repeating: "x", count: 100_000)))?.count == ServerSentence.longest + 1)
    }

    @Test("S40: a refusal and an error have the server's sentence, unless it repeats the credentials")
    func told() async throws {
        let capabilities = #"{"ocs":{"data":{"capabilities":{}}}}"#
        let status = #"{"installed":true,"maintenance":false,"version":"32.0.1.2","versionstring":"32.0.1"}"#
        for (code, message, expected) in [
            (400, "Filename is a reserved word", " (the server says: Filename is a reserved word)"),
            (500, "Could not write", " (the server says: Could not write)"), (400, "YWRhOnNlY3JldA==", ""),
        ] {
            let document = String(decoding: sabre(message), as: UTF8.self)
            let transport = ScriptedTransport { request, number throws(TransportError) in
                if number == 0 { return .status(200, [:], status) }
                if request.address.path.hasSuffix("capabilities") { return .status(200, [:], capabilities) }
                if request.method == "PROPFIND" {
                    return .status(207, [:], Document.multistatus([request.address.path]))
                }
                return .status(code, [:], document)
            }
            let connection = Connection("https://h/remote.php/dav/files/ada/", over: transport)
            _ = try await connection.connect()
            let text: String
            do {
                guard
                    case .refused(let refusal) = try await connection.writes.put(
                        path("/.x"), UploadRequest(base: .new, size: 3), from: MemorySource("abc"))
                else { throw SetupError("done") }
                #expect(refusal.meaning == .invalid)
                text = refusal.failure(of: .put(path("/.x"))).message
            } catch let error as ConnectionError {
                text = error.message
            }
            #expect(text.hasSuffix(expected) && text.contains("(the server says: ") == !expected.isEmpty, "\(text)")
        }
    }

    @Test("S40: a lock of somebody else's is a failure that passes, and no lack of a right")
    func locked() {
        let failure = WriteRefusal.explained(.locked(owner: nil), by: "x").failure(of: .put(path("/a")))
        #expect(
            failure.kind == .failed
                && failure.message == "uploading /a was refused: /a is locked by somebody "
                    + "(the server says: x)"
        )
    }

    private let document = """
        {"ocs":{"data":{"capabilities":{"files":{"blacklisted_files":["old"],"forbidden_filenames":[".htaccess","Thumbs.DB"],\
        "forbidden_filename_basenames":["con","lpt1",".git"],"forbidden_filename_characters":["\\\\",":","\u{e9}",""],\
        "forbidden_filename_extensions":[".filepart"," ","."]}}}}}
        """

    @Test("S40: names, first parts and endings are forbidden without regard to case, characters as they are")
    func forbidden() {
        let names = ForbiddenNames(json: Array(document.utf8))
        for name in [
            ".htaccess", ".HTaccess", "thumbs.db", "CON", "con.txt", "Con.tar.gz", "a\\b", "a:b", "caf\u{e9}",
            "x.FilePart", "x ", "x.", ".git", ".Git.txt",
        ] {
            #expect(names.objection(to: name) != nil, "\(name)")
        }
        // Before its first dot a hidden name has nothing, and a part of another word is no word.
        for name in [
            "htaccess", ".htaccess2", "old", ".con", "icon", "conx.txt", "cafe\u{301}", "filepart", "x.filepart2",
        ] {
            #expect(names.objection(to: name) == nil, "\(name): \(names.objection(to: name) ?? "")")
        }
    }

    @Test("S40: an older server's list is read, and what cannot be read forbids nothing")
    func olderNames() {
        let older =
            #"{"ocs":{"data":{"capabilities":{"files":{"blacklisted_files":[".htaccess"],"bigfilechunking":true}}}}}"#
        #expect(ForbiddenNames(json: Array(older.utf8)).objection(to: ".htaccess") != nil)
        let odd =
            #"{"ocs":{"data":{"capabilities":{"files":{"forbidden_filenames":7,"forbidden_filename_characters":["?"]}}}}}"#
        #expect(ForbiddenNames(json: Array(odd.utf8)).objection(to: "a?") != nil)
        for document in ["", "<html>", "{}", #"{"ocs":{"data":[]}}"#] {
            #expect(ForbiddenNames(json: Array(document.utf8)) == ForbiddenNames(), "\(document)")
        }
    }
}
