import HTTP
import HTTPTypes
import Model
import Threads

/// A part that answers requests.
package protocol Answering: Sendable {
    /// Returns the answer to a request.
    /// - Parameter asked: The request. It holds its body afterwards if the body was read.
    func answer(to asked: inout Asked) async throws -> Answer

    /// Notes that an answer was sent, with the number of bytes of its body. It is called before the last byte is sent.
    /// The status is 0 if the connection is closed without an answer.
    func sent(_ bytes: Int, status: Int, to asked: Asked)
}

/// Thrown in place of an answer to close the connection.
package struct Hangup: Error {
    package init() {}
}

/// Reads the requests of a connection, has them answered, and sends the answers.
struct Responder: Sendable {
    let site: Site
    let answering: any Answering

    /// Answers requests until the client or the answering part ends the connection.
    func serve(_ socket: PolledSocket) async {
        let reader = HTTPReader(socket)
        do {
            do {
                while let head = try await reader.head() {
                    guard try await answer(head, reader, socket) else { break }
                    try await reader.skip()
                }
            } catch is Failure {
                // What came is no request.
                let fields = ["Content-Length": "0", "Connection": "close"]
                try await socket.write(HTTPHead(line: "HTTP/1.1 400 Bad Request", fields: fields).bytes)
            }
            // The client gets to read the answer before it hears that the connection is closed.
            socket.endWriting()
            while try await !socket.read(atMost: 65_536).isEmpty { await Task.yield() }
        } catch {}
        socket.end()
    }

    /// - Returns: Whether another request may follow.
    private func answer(_ head: HTTPHead, _ reader: HTTPReader, _ socket: PolledSocket) async throws -> Bool {
        let words = head.words
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { throw HTTPHead.nonsense }
        reader.begin(try HTTPBody(after: head, isRequest: true), isWaiting: head.isWaiting)
        var asked = Asked(head, reader, site: site)
        let answer: Answer
        do {
            answer = try await answering.answer(to: &asked)
        } catch let error as Hangup {
            answering.sent(0, status: 0, to: asked)
            throw error
        } catch is Asked.TooLong {
            answer = Answer(.contentTooLarge)
        }
        let isNew = words[2] != "HTTP/1.0"
        let wishes = head.fields["connection"]?.lowercased() ?? ""
        let delivery = Delivery(
            answer: answer, socket: socket, isHead: words[0] == "HEAD", takesPieces: isNew,
            isLast: wishes.contains("close") || !isNew && !wishes.contains("keep-alive")
        ) { [asked] bytes in
            answering.sent(bytes, status: answer.status.code, to: asked)
        }
        return try await delivery.send()
    }
}
