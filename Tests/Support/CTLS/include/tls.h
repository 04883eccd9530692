#ifndef CTLS_TLS_H
#define CTLS_TLS_H

#include <stdint.h>

/* A relay that speaks TLS to clients and passes what they send to a server on 127.0.0.1 in the clear. */
typedef struct tls_relay tls_relay;

/* Starts a relay.
   certificate, key: the paths of PEM files.
   server: the server's port.
   port: the port on 127.0.0.1 at which the relay listens; 0 lets the system choose, and is replaced by its choice.
   Returns NULL if the files cannot be used or the port cannot be listened at. */
tls_relay *tls_relay_start(const char *certificate, const char *key, uint16_t server, uint16_t *port);

/* Closes all connections, waits for the relay's threads, and frees the relay. */
void tls_relay_stop(tls_relay *relay);

#endif
