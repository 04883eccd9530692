import CCurl
import Glibc

extension TransferClient {
    /// Returns the error for a request that the library ended with a code. Passes on the library's own words only where
    /// these cannot hold a header's value.
    func error(of code: CURLcode, _ transfer: Exchange) -> TransportError {
        if let problem = transfer.problem { return problem }
        guard let easy = transfer.easy else { return .closed }
        let words = easy.problem
        // The library connects anew after a connection that was kept is closed without an answer. An error of that
        // second connection says nothing about what became of the request on the first.
        if transfer.mayHaveBeenSent, Self.ofConnecting.contains(code) { return .closed }
        if let error = proxyError(of: code, easy, words) { return error }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return .unknownHost(words.split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? "the server")
        case CURLE_COULDNT_CONNECT: return .cannotConnect(Self.text(easy))
        case CURLE_OPERATION_TIMEDOUT: return .timedOut(.connecting)
        case CURLE_PEER_FAILED_VERIFICATION:
            return trust.problem ?? .certificate(reason: "it is not valid for this host name", fingerprint: nil)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT:
            if let refusal = Self.refusal(in: words) { return refusal }
            // Before TLS 1.3 no alert says that a certificate is missing (RFC 5246, section 7.4.6).
            if trust.wasAskedForIdentity, words.contains("alert handshake failure") { return .clientCertificate(nil) }
            if words.contains("alert no application protocol") {
                return .tls("the server does not offer HTTP/1.1, and Larder speaks nothing newer")
            }
            if ["wrong version number", "http request", "packet length too long"].contains(where: words.contains) {
                return .notTLS
            }
            return .tls(
                "the server and Larder have no TLS version and cipher in common, or the server closed the connection")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR: return Self.refusal(in: words) ?? .closed
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_WRITE_ERROR:
            return .notHTTP("its answer cannot be understood")
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
            // The library uses the same code for a head that begins with a continuation.
            return transfer.mayHaveBeenSent
                ? .notHTTP("its answer cannot be understood") : .badRequest("its address is not one")
        default: return .closed
        }
    }

    /// The codes of connections that were not established.
    private static let ofConnecting: Set<CURLcode> = [
        CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
        CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
        CURLE_PROXY,
    ]

    /// Returns the error for a proxy that does not pass requests on; nil for any other.
    private func proxyError(of code: CURLcode, _ easy: EasyHandle, _ words: String) -> TransportError? {
        guard let proxy = settings.proxy else { return nil }
        func failed(_ problem: TransportError.ProxyProblem) -> TransportError { .proxy(proxy.name, problem) }
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY: return failed(.unreachable("it has no address"))
        case CURLE_COULDNT_CONNECT: return failed(.unreachable(Self.text(easy)))
        case CURLE_OPERATION_TIMEDOUT: return failed(.unreachable("connecting took too long"))
        case CURLE_PROXY:
            let problem = ccurl_get_long(easy.handle, CURLINFO_PROXY_ERROR)
            switch CURLproxycode(UInt32(problem)) {
            case CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_UNKNOWN_FAIL:
                return failed(.wantsLogin(hasLogin: proxy.login != nil))
            case CURLPX_BAD_VERSION, CURLPX_BAD_ADDRESS_TYPE, CURLPX_UNKNOWN_MODE:
                return failed(.unreachable("it does not speak SOCKS5"))
            case CURLPX_REPLY_NOT_ALLOWED: return failed(.refuses("it is not allowed"))
            case CURLPX_REPLY_NETWORK_UNREACHABLE: return failed(.refuses("no network"))
            case CURLPX_REPLY_HOST_UNREACHABLE:
                return failed(.refuses("the server cannot be reached or its name is unknown"))
            case CURLPX_REPLY_CONNECTION_REFUSED: return failed(.refuses("connection refused"))
            case CURLPX_REPLY_TTL_EXPIRED: return failed(.refuses("the server took too long"))
            case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED:
                return failed(.refuses("the proxy does not take this kind of address"))
            case CURLPX_CLOSED, CURLPX_RECV_CONNECT, CURLPX_RECV_AUTH, CURLPX_RECV_ADDRESS, CURLPX_RECV_REQACK:
                return failed(.unreachable("it does not speak SOCKS5"))
            default: return failed(.refuses("the proxy failed"))
            }
        default:
            let status = ccurl_get_long(easy.handle, CURLINFO_HTTP_CONNECTCODE)
            if status == 407 { return failed(.wantsLogin(hasLogin: proxy.login != nil)) }
            if status >= 300 { return failed(.refuses(nil)) }
            return nil
        }
    }

    private static func text(_ easy: EasyHandle) -> String {
        let code = Int32(truncatingIfNeeded: ccurl_get_long(easy.handle, CURLINFO_OS_ERRNO))
        return switch code {
        case 0: "connecting failed"
        case ECONNREFUSED: "connection refused"
        case ENETUNREACH, ENETDOWN: "no network"
        case EHOSTUNREACH: "no route to the host"
        default: String(cString: strerror(code))
        }
    }

    /// Returns the error for a server that ends the connection because of the account's certificate (RFC 8446, section
    /// 6.2); nil for any other words.
    private static func refusal(in words: String) -> TransportError? {
        if words.contains("alert certificate required") { return .clientCertificate(nil) }
        let reasons = [
            "alert unknown ca": "it does not know the authority that signed it",
            "alert certificate expired": "it calls it expired", "alert certificate revoked": "it was revoked",
            "alert bad certificate": "it calls it wrong", "alert certificate unknown": "it does not accept it",
            "alert unsupported certificate": "it does not take certificates of this kind",
            "alert access denied": "it does not let its owner in",
        ]
        return reasons.first { words.contains($0.key) }.map { .clientCertificate($0.value) }
    }
}
