import Glibc
import NIOCore

/// The options that connections get beyond the library's defaults.
enum SocketOptions {
    /// The number of bytes beyond which the kernel takes no more of what the network has not room for yet. What lies
    /// there counts as sent, and goes out although the request was given up. Without a limit it grows to many
    /// megabytes.
    private static let mostUnsent: SocketOptionValue = 262_144

    static func set(on channel: any Channel) -> EventLoopFuture<Void> {
        // The received bytes are taken before more are read. For downloads, one large buffer is better than several
        // smaller ones of the same total size. For other connections larger buffers gain nothing.
        let isForDownloads = channel.eventLoop !== NetworkThread.common.loop
        let reads = AdaptiveRecvByteBufferAllocator(
            minimum: 4_096, initial: 32_768, maximum: isForDownloads ? 262_144 : 65_536)
        let settings = [
            // With these probes a peer that vanished is noticed within 30 s + 3 × 10 s, however long its answer may
            // take.
            channel.setOption(.socketOption(.so_keepalive), value: 1),
            channel.setOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: 30),
            channel.setOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: 10),
            channel.setOption(.tcpOption(.init(rawValue: TCP_KEEPCNT)), value: 3),
            // Some systems that run Linux programs do not know this option.
            channel.setOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: mostUnsent).recover { _ in },
            channel.setOption(.recvAllocator, value: reads),
            channel.setOption(.maxMessagesPerRead, value: 1),
        ]
        return EventLoopFuture.andAllSucceed(settings, on: channel.eventLoop)
    }
}
