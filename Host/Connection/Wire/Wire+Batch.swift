import Model
import Transfer

extension Wire {
    /// What all requests of a batch have in common.
    struct BatchWay {
        var root: ServerAddress
        var transport: any HTTPTransport
        var generation: Int
        var authorization: Authorization
        /// The fields of each request.
        var headers: HTTPHeaders {
            var headers: HTTPHeaders = [
                "User-Agent": "Larder/\(Product.version)", "Accept-Encoding": "identity",
            ]
            if let field = authorization.field { headers.add(name: "Authorization", value: field) }
            return headers
        }
    }

    /// Returns the way of a batch; nil if files cannot go in batches now.
    /// - Parameter bandwidth: The bandwidth of the files' direction.
    func batchWay(_ bandwidth: BandwidthQueue) -> BatchWay? {
        do throws(ConnectionError) {
            guard !bandwidth.isLimited else { return nil }
            let root = try root()
            let transport = try usableTransport()
            let generation = try usableCredentials()
            if let plain = Approval.plainHTTP(root.origin) { try approvals.check(plain) }
            guard transport.sendsBatches, let authorization = try login(generation, { $0.sameForAll }) else {
                return nil
            }
            return BatchWay(root: root, transport: transport, generation: generation, authorization: authorization)
        } catch {
            return nil
        }
    }

    func turns(_ kind: RequestGate.Kind) -> BatchTurns {
        BatchTurns(
            take: { [gate = gate(kind)] in gate.tryEnter(kind) },
            leave: { [gate = gate(kind)] in
                gate.leave(kind, noting: $0.map { .answered(head: $0.head, body: $0.body) })
            },
            wait: { [gate = gate(kind)] body in
                Task {
                    // A task that nobody cancels gets its turn.
                    do { try await gate.enter(kind).handOver() } catch { return }
                    body()
                }
            })
    }

    /// Whether requests with the credentials of a generation may be sent.
    func maySend(_ generation: Int) -> Bool {
        (try? usableTransport()) != nil && (try? usableCredentials()) == generation
    }
}
