#define _GNU_SOURCE
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

/* What goes in one direction: the bytes that were read and not yet written. */
typedef struct {
    char bytes[16384];
    int begin;
    int end;
    int is_over;
} direction;

/* The result of a step: 1 if bytes were passed on, 0 if that has to wait, -1 if the side is gone. */
static int step_of(SSL *tls, int result) {
    if (result > 0) return 1;
    const int error = SSL_get_error(tls, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static int step_of_call(ssize_t result) {
    return result > 0 ? 1 : result < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* Passes bytes in both directions, neither of which waits for the other, until both are over. A server that has said
   all gets no more, and its client may go on until it closes. */
static void pass(SSL *tls, int client, int server) {
    direction up = {.begin = 0}, down = {.begin = 0};
    while (!(up.is_over && down.is_over)) {
        int is_moving = 0, step, count;
        if (up.begin == up.end && !up.is_over) {
            ERR_clear_error();
            count = SSL_read(tls, up.bytes, sizeof up.bytes);
            step = step_of(tls, count);
            up.begin = 0;
            up.end = step > 0 ? count : 0;
            is_moving |= step;
            if (step < 0) {
                up.is_over = 1;
                shutdown(server, SHUT_WR);
            }
        }
        if (up.begin < up.end) {
            count = (int)write(server, up.bytes + up.begin, (size_t)(up.end - up.begin));
            step = step_of_call(count);
            if (step < 0) up.begin = up.end;
            if (step > 0) up.begin += count;
            is_moving |= step;
        }
        if (down.begin == down.end && !down.is_over) {
            count = (int)read(server, down.bytes, sizeof down.bytes);
            step = step_of_call(count);
            down.begin = 0;
            down.end = step > 0 ? count : 0;
            is_moving |= step;
            if (step < 0) {
                down.is_over = 1;
                SSL_shutdown(tls);
                shutdown(client, SHUT_WR);
            }
        }
        if (down.begin < down.end) {
            ERR_clear_error();
            count = SSL_write(tls, down.bytes + down.begin, down.end - down.begin);
            step = step_of(tls, count);
            if (step < 0) return;
            if (step > 0) down.begin += count;
            is_moving |= step;
        }
        if (is_moving) continue;
        struct pollfd sides[] = {{.fd = client}, {.fd = server}};
        if (up.begin < up.end) sides[1].events |= POLLOUT;
        else if (!up.is_over) sides[0].events |= POLLIN;
        if (down.begin < down.end) sides[0].events |= POLLOUT;
        else if (!down.is_over) sides[1].events |= POLLIN;
        /* A side of which nothing is wanted would be told as gone again and again. */
        for (int i = 0; i < 2; i++)
            if (!sides[i].events) sides[i].fd = -1;
        poll(sides, 2, -1);
    }
}

static void prepare(int descriptor) {
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

static void *serve(void *context) {
    connection *const own = context;
    tls_relay *const relay = own->relay;
    block_signals();
    const struct sockaddr_in address = loopback(relay->server);
    SSL *const tls = SSL_new(relay->context);
    if (tls && SSL_set_fd(tls, own->client) == 1 && SSL_accept(tls) == 1
        && connect(own->server, (const struct sockaddr *)&address, sizeof address) == 0) {
        SSL_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        prepare(own->client);
        prepare(own->server);
        pass(tls, own->client, own->server);
    }
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
        /* There may be no descriptor for the connection that waits. */
        if (client < 0) usleep(10000);
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
