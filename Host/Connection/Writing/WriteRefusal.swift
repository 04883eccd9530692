public import Model

/// The reason why a server does not do what a request asks for. Each case is one meaning, whatever status the server
/// has for it.
public indirect enum WriteRefusal: Hashable, Sendable {
    /// Something is at the place where something new was to be.
    case exists
    /// The item is not the expected version any more, or it is gone.
    case versionChanged
    /// The folder into which something was to go is not there.
    case parentMissing
    /// The item is not there. For a deletion that is the wanted state.
    case notFound
    /// The account may not do this.
    case forbidden
    /// Somebody has locked the item, or something in it. The owner as the server tells it, if it does.
    case locked(owner: String?)
    /// The file is larger than the server takes.
    case tooLarge
    /// The server does not take files of this kind.
    case unsupportedType
    /// The server understood the request and cannot do it, as some say of names that they do not keep.
    case unprocessable
    /// The server does not understand the request, as some say of names that they do not keep.
    case invalid
    /// The server would keep or list the item under another name, or under none. Nothing was sent.
    case nameNotKept
    /// The server's capabilities say that it does not take the name, for this reason. Nothing was sent.
    case nameForbidden(String)
    /// The bytes that arrived are not those of the checksum that was sent with them. They changed on the way, or while
    /// they were read.
    case checksumDiffers
    /// There is no room on the server, which has this number of bytes left, if it says so.
    case noRoom(available: Int64?)
    /// The server does not allow such a request here.
    case notAllowed
    /// The request does not fit the state of the server in a way that the server does not tell.
    case conflict
    /// A request about a folder was done in part. It stopped at this item for this reason.
    case partly(ItemPath, WriteRefusal)
    /// An answer with a status that has no meaning here.
    case other(status: Int)
    /// A refusal about which the server says this sentence.
    case explained(WriteRefusal, by: String)
}

extension WriteRefusal {
    /// The refusal without the server's own sentence.
    public var meaning: WriteRefusal { if case .explained(let refusal, _) = self { refusal.meaning } else { self } }

    /// Returns the refusal with the sentence of the server, if that tells more than the refusal does.
    func explained(by sentence: String?) -> WriteRefusal {
        guard let sentence else { return self }
        return switch self {
        case .exists, .versionChanged, .parentMissing, .notFound, .nameNotKept, .nameForbidden, .partly, .explained:
            self
        case .forbidden, .locked, .tooLarge, .unsupportedType, .unprocessable, .invalid, .checksumDiffers, .noRoom,
            .notAllowed, .conflict, .other:
            .explained(self, by: sentence)
        }
    }
}

extension WriteRefusal {
    /// Returns the refusal as it is told to a person.
    public func failure(of request: WriteRequest) -> Failure {
        let told = sentence(request)
        return Failure(kind, told.message, hint: told.hint)
    }

    private var kind: Failure.Kind {
        switch self {
        case .notFound, .parentMissing: .notFound
        case .forbidden, .notAllowed: .denied
        case .noRoom, .tooLarge: .cannotCreate
        case .unsupportedType, .unprocessable, .invalid, .nameNotKept, .nameForbidden: .badData
        case .other: .protocolViolation
        case .partly(_, let reason), .explained(let reason, _): reason.kind
        case .exists, .versionChanged, .locked, .checksumDiffers, .conflict: .failed
        }
    }

    private func sentence(_ request: WriteRequest) -> (message: String, hint: String) {
        let (path, target) = (request.path, request.target ?? request.path)
        let stopped = "\(request.doing) was refused"
        return switch self {
        case .exists:
            ("\(stopped): there is already something at \(target) on the server", "choose another name, or keep one")
        case .versionChanged:
            ("\(stopped): \(path) has changed on the server meanwhile", "look at both versions and choose")
        case .parentMissing:
            (
                "\(stopped): the folder \(target.parent) is not on the server",
                "create the folder, or choose another one"
            )
        case .notFound: ("\(stopped): \(path) is not on the server", "list the folder again")
        case .forbidden:
            ("\(stopped): the account is not allowed to do this", "check what the account may do on the server")
        case .locked(let owner):
            (
                "\(stopped): \(path) is locked"
                    + (owner.map { " by \(PercentCoding.printable($0))" } ?? " by somebody"),
                "wait until the lock is gone, or ask its owner to end it"
            )
        case .tooLarge:
            (
                "\(stopped): the file is larger than the server, or a proxy before it, takes",
                "raise the limit there, or keep the file here"
            )
        case .unsupportedType:
            ("\(stopped): the server does not take files of this kind", "check the server's rules for files")
        case .unprocessable:
            (
                "\(stopped): the server cannot do this with \(target)",
                "choose another name, without special characters, or check the server's log"
            )
        case .invalid:
            (
                "\(stopped): the server says that the request makes no sense",
                "choose another name, without special characters, or check the server's log"
            )
        case .nameNotKept:
            (
                "\(stopped): the server would not keep the name of \(target) as it is, so nothing was sent",
                "choose another name, without special characters and without a dot at its beginning"
            )
        case .nameForbidden(let why):
            ("\(stopped): the server \(why), so nothing was sent", "choose another name")
        case .checksumDiffers:
            (
                "\(stopped): other bytes arrived at the server than those that were sent",
                "try again; if it happens again, check the network and the memory of both machines"
            )
        case .noRoom(let available):
            (
                "\(stopped): there is no room on the server"
                    + (available.map { ", which has \($0) bytes left for the account" } ?? ""),
                "delete something on the server, or have the quota raised"
            )
        case .notAllowed:
            (
                "\(stopped): the server does not allow this here",
                "check that the server lets the account write, and the account's url"
            )
        case .conflict:
            (
                "\(stopped): it does not fit what is on the server at \(target)",
                "list the folder again, and check the server's log"
            )
        case .partly(let item, let reason):
            (
                "\(request.doing) was done in part, and stopped at \(item): "
                    + reason.sentence(.delete(item)).message.replacingStart("deleting \(item) was refused: "),
                reason.sentence(request).hint
            )
        case .other(let status):
            ("\(stopped): the server answered \(status), which makes no sense there", "check the server's log")
        case .explained(let reason, let sentence):
            (
                reason.sentence(request).message + " (the server says: \(sentence))", reason.sentence(request).hint
            )
        }
    }
}

extension String {
    /// Returns the text without this start, if it has it.
    fileprivate func replacingStart(_ start: String) -> String {
        utf8.starts(with: start.utf8) ? String(decoding: utf8.dropFirst(start.utf8.count), as: UTF8.self) : self
    }
}
