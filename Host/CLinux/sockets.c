#define _GNU_SOURCE
#include "sockets.h"

#include <stddef.h>
#include <sys/socket.h>

int linux_accept(int descriptor) { return accept4(descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

uid_t linux_peer_user(int descriptor) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.uid : (uid_t)-1;
}
