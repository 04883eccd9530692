private import CCrypto

/// A message digest of bytes, computed by libcrypto while the bytes stream in. A copy is an earlier state: what is added
/// to one does not change the other.
///
///     var digest = MessageDigest(.sha256)
///     digest.update(Array("abc".utf8))
///     hexadecimal(digest.value)  // ba7816bf…
package struct MessageDigest: Sendable {
    package enum Algorithm: String, CaseIterable, Sendable {
        /// SHA-256 (FIPS 180-4): 32 bytes.
        case sha256 = "SHA256"
        /// SHA-1 (FIPS 180-4): 20 bytes. It proves nothing against somebody who wants two contents to be taken for one.
        case sha1 = "SHA1"
        /// MD5 (RFC 1321): 16 bytes. It proves as little as SHA-1.
        case md5 = "MD5"
    }

    private var context: DigestContext

    package init(_ algorithm: Algorithm) { context = DigestContext(algorithm) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
        context.update(bytes)
    }

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The digest of the bytes so far. More bytes can follow.
    package var value: [UInt8] { DigestContext(copying: context).end() }

    /// Puts the digest of the bytes so far into memory, and begins anew.
    /// - Parameter memory: As many bytes as the digest has.
    package mutating func take(into memory: UnsafeMutableRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
        context.take(into: memory)
    }

    /// Drops the bytes so far.
    package mutating func restart() {
        if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
        context.restart()
    }

    /// Returns the digest of bytes that are in memory.
    package static func of(_ bytes: [UInt8], _ algorithm: Algorithm = .sha256) -> [UInt8] {
        let context = DigestContext(algorithm)
        bytes.withUnsafeBytes { context.update($0) }
        return context.end()
    }
}

/// A context of libcrypto's. Only its one owner changes it: ``MessageDigest`` copies a context that has two.
private final class DigestContext: @unchecked Sendable {
    private let context: OpaquePointer

    init(_ algorithm: MessageDigest.Algorithm) {
        context = Self.make()
        Self.check(EVP_DigestInit_ex2(context, Algorithms.all[algorithm]?.method, nil))
    }

    init(copying other: DigestContext) {
        context = Self.make()
        Self.check(EVP_MD_CTX_copy_ex(context, other.context))
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        Self.check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// Returns the digest. The context takes no more bytes.
    func end() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { bytes, count in
            var length: UInt32 = 0
            Self.check(EVP_DigestFinal_ex(context, bytes.baseAddress, &length))
            count = Int(length)
        }
    }

    func take(into memory: UnsafeMutableRawBufferPointer) {
        precondition(memory.count >= Int(EVP_MD_get_size(EVP_MD_CTX_get0_md(context))))
        var length: UInt32 = 0
        Self.check(EVP_DigestFinal_ex(context, memory.bindMemory(to: UInt8.self).baseAddress, &length))
        restart()
    }

    func restart() { Self.check(EVP_DigestInit_ex2(context, nil, nil)) }

    private static func make() -> OpaquePointer {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("There is no memory for a digest") }
        return context
    }

    /// With the algorithms at hand, libcrypto's functions fail for lack of memory alone.
    private static func check(_ result: Int32) { precondition(result == 1, "libcrypto could not compute a digest") }
}

/// The algorithms, looked up once. They come from a library context of their own, which reads no config of the system:
/// SHA-1 and MD5 are there on a machine whose config leaves only approved algorithms, since servers ask for them.
private struct Algorithms: @unchecked Sendable {
    static let all: [MessageDigest.Algorithm: Algorithms] = {
        // libcrypto would else free what threads may still use while the process exits.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        let library = OSSL_LIB_CTX_new()
        return Dictionary(
            uniqueKeysWithValues: MessageDigest.Algorithm.allCases.map { algorithm in
                guard let method = EVP_MD_fetch(library, algorithm.rawValue, nil) else {
                    preconditionFailure("libcrypto has no \(algorithm.rawValue)")
                }
                return (algorithm, Algorithms(method: method))
            })
    }()

    let method: OpaquePointer
}
