#define _GNU_SOURCE
#include "tls.h"

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct connection {
    tls_relay *relay;
    int client;
    int server;
    struct connection *next;
} connection;

struct tls_relay {
    SSL_CTX *context;
    int listener;
    uint16_t server;
    /* Below: what `lock` protects. */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int threads;
    int is_stopping;
    connection *connections;
};

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A client or a server that goes does not end the process, and no signal interrupts the thread. */
static void block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static int write_all(int descriptor, const char *bytes, ssize_t count) {
    while (count > 0) {
        const ssize_t written = write(descriptor, bytes, (size_t)count);
        if (written <= 0) return 0;
        bytes += written;
        count -= written;
    }
    return 1;
}

/* Passes bytes in both directions until one side closes. */
static void pass(SSL *tls, int client, int server) {
    char bytes[16384];
    struct pollfd sides[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    while (1) {
        const int is_pending = SSL_pending(tls) > 0;
        if (poll(sides, 2, is_pending ? 0 : -1) < 0) return;
        if (is_pending || sides[0].revents) {
            const int count = SSL_read(tls, bytes, sizeof bytes);
            if (count <= 0 || !write_all(server, bytes, count)) return;
        }
        if (sides[1].revents) {
            const ssize_t count = read(server, bytes, sizeof bytes);
            if (count <= 0) {
                SSL_shutdown(tls);
                return;
            }
            if (SSL_write(tls, bytes, (int)count) <= 0) return;
        }
    }
}

static void *serve(void *context) {
    connection *const own = context;
    tls_relay *const relay = own->relay;
    block_signals();
    const struct sockaddr_in address = loopback(relay->server);
    SSL *const tls = SSL_new(relay->context);
    if (tls && SSL_set_fd(tls, own->client) == 1 && SSL_accept(tls) == 1
        && connect(own->server, (const struct sockaddr *)&address, sizeof address) == 0)
        pass(tls, own->client, own->server);
    SSL_free(tls);
    ERR_clear_error();
    pthread_mutex_lock(&relay->lock);
    connection **place = &relay->connections;
    while (*place != own) place = &(*place)->next;
    *place = own->next;
    close(own->client);
    close(own->server);
    relay->threads--;
    pthread_cond_signal(&relay->ended);
    pthread_mutex_unlock(&relay->lock);
    free(own);
    return NULL;
}

/* Starts a thread, which is counted. The caller has the lock. */
static int start(tls_relay *relay, void *(*body)(void *), void *context) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, context) != 0) return 0;
    pthread_detach(thread);
    relay->threads++;
    return 1;
}

static void *listen_on(void *context) {
    tls_relay *const relay = context;
    block_signals();
    while (1) {
        const int client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_mutex_lock(&relay->lock);
        if (relay->is_stopping) {
            if (client >= 0) close(client);
            break;
        }
        connection *const new = client >= 0 ? malloc(sizeof *new) : NULL;
        if (new) {
            *new = (connection){relay, client, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), relay->connections};
            if (new->server >= 0 && start(relay, serve, new)) relay->connections = new;
            else {
                close(client);
                if (new->server >= 0) close(new->server);
                free(new);
            }
        } else if (client >= 0) close(client);
        pthread_mutex_unlock(&relay->lock);
    }
    relay->threads--;
    pthread_cond_signal(&relay->ended);
    pthread_mutex_unlock(&relay->lock);
    return NULL;
}

static int open_listener(uint16_t *port) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    struct sockaddr_in address = loopback(*port);
    socklen_t size = sizeof address;
    if (listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0
        && bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 128) == 0
        && getsockname(listener, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
        return listener;
    }
    if (listener >= 0) close(listener);
    return -1;
}

tls_relay *tls_relay_start(const char *certificate, const char *key, uint16_t server, uint16_t *port) {
    tls_relay *const relay = calloc(1, sizeof *relay);
    if (!relay) return NULL;
    *relay = (tls_relay){.context = SSL_CTX_new(TLS_server_method()), .listener = open_listener(port), .server = server};
    pthread_mutex_init(&relay->lock, NULL);
    pthread_cond_init(&relay->ended, NULL);
    pthread_mutex_lock(&relay->lock);
    const int is_started = relay->context && relay->listener >= 0
        && SSL_CTX_use_certificate_chain_file(relay->context, certificate) == 1
        && SSL_CTX_use_PrivateKey_file(relay->context, key, SSL_FILETYPE_PEM) == 1 && start(relay, listen_on, relay);
    pthread_mutex_unlock(&relay->lock);
    if (is_started) return relay;
    tls_relay_stop(relay);
    return NULL;
}

void tls_relay_stop(tls_relay *relay) {
    pthread_mutex_lock(&relay->lock);
    relay->is_stopping = 1;
    /* A thread that waits for a socket sees that it is shut down. The descriptors stay its own until it has ended. */
    if (relay->listener >= 0) shutdown(relay->listener, SHUT_RDWR);
    for (connection *each = relay->connections; each; each = each->next) {
        shutdown(each->client, SHUT_RDWR);
        shutdown(each->server, SHUT_RDWR);
    }
    while (relay->threads > 0) pthread_cond_wait(&relay->ended, &relay->lock);
    pthread_mutex_unlock(&relay->lock);
    if (relay->listener >= 0) close(relay->listener);
    SSL_CTX_free(relay->context);
    pthread_cond_destroy(&relay->ended);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}
