/* Sockets: what Swift's Glibc module hides. */
#ifndef CLINUX_SOCKETS_H
#define CLINUX_SOCKETS_H

#include <sys/types.h>

/* Accepts a connection, which does not block and ends with the program (accept4(2)). Returns it, or -1 with errno. */
int linux_accept(int descriptor);

/* Returns the user of the process at the other end of a connection of this machine (SO_PEERCRED, unix(7)), or -1 with
 * errno. */
uid_t linux_peer_user(int descriptor);

#endif
