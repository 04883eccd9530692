import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension TransportError {
    /// Creates the error for an error of async-http-client or SwiftNIO. Passes on their texts only where these cannot
    /// hold a header's value.
    init(_ error: any Error, before stage: Stage) {
        switch error {
        case let error as TransportError: self = error
        case is CancellationError: self = .cancelled
        case let error as HTTPClientError: self = Self.meaning(of: error, stage)
        case let error as NIOConnectionError: self = Self.meaning(of: error)
        case let error as NIOSSLError: self = Self.meaning(of: error)
        case let error as BoringSSLError: self = ClientIdentity.refusal(in: "\(error)") ?? .closed
        case let error as NIOSSLExtraError:
            self =
                error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch
                ? .certificate(reason: "it is not valid for this host name", fingerprint: nil) : .tls("\(error)")
        case let error as HTTPParserError:
            self = error == .invalidEOFState ? .closed : .notHTTP("\(error)")
        case let error as ChannelError:
            if case .connectTimeout = error { self = .timedOut(.connecting) } else { self = .closed }
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, ENETDOWN, EACCES:
                self = .cannotConnect(Self.text(errno: error.errnoCode))
            case ETIMEDOUT: self = .timedOut(stage)
            default: self = .closed
            }
        default:
            // This is mostly an error of HTTP/2: the server ended a stream or a connection.
            self = .closed
        }
    }

    private static func meaning(of error: HTTPClientError, _ stage: Stage) -> TransportError {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout: .timedOut(.connecting)
        case .readTimeout, .writeTimeout: .timedOut(stage)
        case .deadlineExceeded: .timedOut(.head)
        case .cancelled: .cancelled
        case .alreadyShutdown: .shutDown
        case .remoteConnectionClosed, .uncleanShutdown, .requestStreamCancelled: .closed
        case .bodyLengthMismatch: .notHTTP(error.shortDescription)
        case .invalidURL, .emptyHost, .emptyScheme: .badRequest(error.shortDescription)
        default:
            switch error.shortDescription {
            case "Invalid header field names", "Invalid header field values", "Unsupported scheme":
                .badRequest(error.shortDescription)
            default: .notHTTP(error.shortDescription)
            }
        }
    }

    private static func meaning(of error: NIOConnectionError) -> TransportError {
        if let failure = error.connectionErrors.first {
            if let cause = failure.error as? IOError { return .cannotConnect(text(errno: cause.errnoCode)) }
            if case ChannelError.connectTimeout = failure.error { return .timedOut(.connecting) }
            return .cannotConnect("connecting failed")
        }
        return .unknownHost(error.host)
    }

    private static func meaning(of error: NIOSSLError) -> TransportError {
        switch error {
        case .handshakeFailed(let cause):
            let text = "\(cause)"
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                return .certificate(reason: "no trusted authority signed it, or it has expired", fingerprint: nil)
            }
            if let refusal = ClientIdentity.refusal(in: text) { return refusal }
            if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
                return .notTLS
            }
            return .tls(
                "the server and Larder have no TLS version and cipher in common, or the server closed the connection")
        case .noCertificateToValidate, .unableToValidateCertificate:
            return .certificate(reason: "it could not be checked", fingerprint: nil)
        default: return .closed
        }
    }

    private static func text(errno code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "connection refused"
        case ENETUNREACH, ENETDOWN: "no network"
        case EHOSTUNREACH: "no route to the host"
        default: String(cString: strerror(code))
        }
    }
}
