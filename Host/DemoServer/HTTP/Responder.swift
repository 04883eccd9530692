import HTTPTypes
import Hummingbird
import NIOCore

/// Gives requests their answers.
package protocol Answering: Sendable {
    /// - Parameter asked: has its body afterwards if that was read.
    func answer(to asked: inout Asked) async throws -> Answer

    /// An answer went out: so many bytes of its body. Comes before the last of them.
    func sent(_ bytes: Int, status: Int, to asked: Asked)
}

/// What a request comes with besides itself: its connection, which is closed when the answer cannot be ended.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Takes requests apart, has them answered, and sends the answers.
struct Responder<Answers: Answering>: HTTPResponder {
    let site: Site
    let answering: Answers

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        var asked = Asked(request, site: site)
        let answer = try await answering.answer(to: &asked)
        let delivery = Delivery(answer: answer, channel: context.channel) { [asked] bytes in
            answering.sent(bytes, status: answer.status.code, to: asked)
        }
        return delivery.response(isHead: request.method == .head)
    }
}
