import Model
import Transfer

/// What a connection knows of its server. A value without I/O: it learns one ``Fact`` after another, and answers what
/// follows from all of them.
struct ServerKnowledge: Sendable {
    /// The address of the account's files; nil while it is unknown.
    private(set) var root: ServerAddress?
    /// Whether the server keeps files.
    private(set) var hasFiles = false
    private(set) var isFamily = false
    /// The facts that outlive the connection; nil if there are none to keep.
    private(set) var kept: KnownServer?
    /// What the account's root says that it can do; nil if it was not asked.
    private(set) var rootClasses: Set<String>?
    /// What is known of the server's resumable uploads.
    private(set) var tus = TusKnowledge()
    /// What is known of the server's uploads in parts that are put together.
    private(set) var chunks = ChunkKnowledge()
    /// What folders told of their quotas.
    private(set) var quotas = QuotaMemory()
    /// The product that the server's answers name.
    private var product: String?
    /// Whether the server has overwritten something in spite of a condition.
    private var ignoresConditions = false
    /// The names that the server does not take, as it told this connection; nil if it was not asked.
    private var toldNames: ForbiddenNames?
    /// Whether an item in the root's last listing had a property of the ownCloud family.
    private var rootHasFamilyProperties = true
    /// The server's clock at the last listing, and the time of that listing on the monotonic clock; nil if
    /// ``takeServersClock()`` has been called since.
    private var serversClock: (date: Timestamp, at: Duration)?

    /// What may be learned of a server.
    enum Fact {
        /// The account's files are at this address. The server may offer other things than before.
        case root(ServerAddress, hasFiles: Bool, isFamily: Bool)
        /// The address of the account's files must be found anew.
        case rootIsOpen
        /// These facts hold and are kept; nil if those that were kept no longer do.
        case kept(KnownServer?)
        /// The fields of the answer to a listing of the root.
        case rootAnswer(HTTPHeaders)
        /// Whether an item in the root's listing had a property of the ownCloud family.
        case rootProperties(areOfFamily: Bool)
        /// What the account's root says that it can do.
        case rootClasses(Set<String>)
        /// What a capabilities document says.
        case capabilities(TusSupport?, ChunkOffer?, ForbiddenNames)
        /// The server was asked for its capabilities, whatever it said.
        case askedForCapabilities
        /// The server told of no names that it does not take.
        case noForbiddenNames
        /// The wait between two polls that the server asks for, in milliseconds; 0 if the server names none.
        case pollWish(Int64)
        /// The homes of a service; nil if the server does not offer the service.
        case homes(DAVHomes?, of: DAVService)
        /// The home at a path is gone.
        case homeIsGone(String)
        /// The server has overwritten something in spite of a condition.
        case ignoredCondition
        /// The server's resumable uploads do not work, whatever it announces.
        case tusFails
        /// The server's uploads in parts do not work, whatever it announces.
        case chunksFail
        /// A body of this size in bytes was refused as too large.
        case refusedBody(Int64)
        /// The bytes that may be stored in a folder, nil if it told no quota, at a time on the monotonic clock.
        case quota(Int64?, of: ItemPath, at: Duration)
        /// The server has taken an upload of this size in bytes.
        case upload(Int64, into: ItemPath)
        /// The server had no room for an upload.
        case noRoom(in: ItemPath)
        /// The server's clock, at a time on the monotonic clock.
        case clock(Timestamp, at: Duration)
    }

    /// Adds a fact to what is known.
    mutating func learn(_ fact: Fact) {
        switch fact {
        case .root(let root, let hasFiles, let isFamily):
            (self.root, self.hasFiles, self.isFamily) = (root, hasFiles, isFamily)
            tus.forget()
            chunks.forget()
            rootClasses = nil
        case .rootIsOpen: root = nil
        case .kept(let kept):
            if kept?.ignoresConditions == true { ignoresConditions = true }
            self.kept = kept
            if ignoresConditions { self.kept?.ignoresConditions = true }
        case .rootAnswer(let headers):
            product = headers.first(name: "Server")
            tus.announced = TusOffer(headers)
        case .rootProperties(let areOfFamily): rootHasFamilyProperties = areOfFamily
        case .rootClasses(let classes): rootClasses = classes
        case .capabilities(let support, let offer, let names):
            (tus.support, tus.hasCapabilities, chunks.told) = (support, true, offer)
            learn(names)
        case .askedForCapabilities: tus.hasCapabilities = true
        case .noForbiddenNames: learn(ForbiddenNames())
        case .pollWish(let milliseconds): kept?.pollWish = milliseconds
        case .homes(let homes, let service):
            kept?.homes[service.rawValue] = .init(principal: homes?.principal, homes: homes?.homes ?? [])
        case .homeIsGone(let path):
            let homes = kept?.homes ?? [:]
            kept?.homes = homes.filter { !$0.value.homes.contains { $0.hasSameBytes(as: path) } }
        case .ignoredCondition:
            ignoresConditions = true
            kept?.ignoresConditions = true
        case .tusFails: tus.isRefused = true
        case .chunksFail: chunks.isRefused = true
        case .refusedBody(let size): chunks.refused(size)
        case .quota(let available, let folder, let time): quotas.told(available, by: folder, at: time)
        case .upload(let size, let folder): quotas.took(size, in: folder)
        case .noRoom(let folder): quotas.lacksRoom(in: folder)
        case .clock(let date, let time): serversClock = (date, time)
        }
    }

    private mutating func learn(_ names: ForbiddenNames) {
        toldNames = names
        kept?.forbiddenNames = names
    }

    /// Returns the server's clock at the last listing, and the time of that listing on the monotonic clock, and forgets
    /// both.
    mutating func takeServersClock() -> (date: Timestamp, at: Duration)? { serversClock.take() }

    /// The names that the server does not take; nil if it was not asked.
    var forbiddenNames: ForbiddenNames? { toldNames ?? kept?.forbiddenNames }

    /// Whether requests for the properties of the ownCloud family make sense.
    var mayHaveFamilyProperties: Bool { isFamily || rootHasFamilyProperties }

    /// What the server does differently when something is written, as far as it is known.
    var manners: WritingManners {
        var manners = WritingManners(
            server: product, isFamily: isFamily, isModDav: WritingManners.namesModDav(rootClasses ?? []))
        if ignoresConditions { manners.heedsConditions = false }
        return manners
    }

    /// Whether the answer to a question decides how something is written.
    var mannersAreOpen: Bool { !isFamily && rootClasses == nil && WritingManners.mayBeModDav(product) }

    /// Tells whether a 401 at an address certainly concerns the account's credentials.
    func concernsAccount(_ address: ServerAddress) -> Bool {
        root.map { address.path.utf8.starts(with: $0.path.utf8) } ?? true
    }
}
