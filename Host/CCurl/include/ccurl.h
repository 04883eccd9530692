// Calls of libcurl and OpenSSL that Swift cannot make itself: functions with variable arguments, and macros.
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef size_t (*ccurl_data)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_progress)(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up);
typedef int (*ccurl_before_request)(
    void *context, char *peer, char *own, int peer_port, int own_port);

// Sets the library up. Must be called before any other thread of the process uses it. Returns false if that fails, or if
// the library does not use OpenSSL.
bool ccurl_start(void);

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value);
// For options that take a text, a list or a context.
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value);
CURLcode ccurl_set_data(CURL *easy, CURLoption option, ccurl_data function);
void ccurl_set_progress(CURL *easy, ccurl_progress function);
CURLcode ccurl_set_before_request(CURL *easy, ccurl_before_request function);
// Has connections closed when a program is started, noticed when the peer vanishes, and taken by the kernel only as far as
// the network has room.
void ccurl_set_sockets(CURL *easy, long most_unsent);

long ccurl_get_long(CURL *easy, CURLINFO info);
// The number of bytes of the body that were sent.
int64_t ccurl_get_sent(CURL *easy);
void *ccurl_get_context(CURL *easy);

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);
void ccurl_multi_set_socket(CURLM *multi, curl_socket_callback function, void *context);
void ccurl_multi_set_timer(CURLM *multi, curl_multi_timer_callback function, void *context);

// What a server's certificate says, and whether an authority that is trusted signed it.
struct ccurl_certificate {
    const uint8_t *bytes;
    size_t size;
    // The public key as SubjectPublicKeyInfo.
    const uint8_t *key;
    size_t key_size;
    // Seconds since 1970.
    int64_t valid_from, valid_until;
    bool is_signed;
};

// Returns whether requests may be sent to the server with this certificate.
typedef bool (*ccurl_judge)(void *context, const struct ccurl_certificate *certificate);

// Whom to trust, and the own certificate.
typedef struct ccurl_trust ccurl_trust;

enum ccurl_identity {
    ccurl_identity_ok,
    ccurl_identity_no_certificate,
    ccurl_identity_no_key,
    ccurl_identity_locked_key,
    ccurl_identity_other_key,
};

// The authorities are those of the system.
ccurl_trust *ccurl_trust_new(void);
void ccurl_trust_free(ccurl_trust *trust);
// Trusts the authorities in a PEM file alone. Returns false if the file has none.
bool ccurl_trust_authorities(ccurl_trust *trust, const char *file);
// Shows an own certificate, with those that follow it in its PEM file, and its key.
enum ccurl_identity ccurl_trust_identity(ccurl_trust *trust, const char *certificate, const char *key);
// Tells whether the server of the last connection asked for a certificate, and there was none.
bool ccurl_trust_was_asked(ccurl_trust *trust);
// Has a function decide about each new connection. The context must live as long as connections are made.
void ccurl_trust_judge(ccurl_trust *trust, ccurl_judge judge, void *context);
// Has the connections of a handle made by these rules.
void ccurl_set_trust(CURL *easy, ccurl_trust *trust);

// Calls a function for each certificate in a PEM file. Returns their number; -1 if the file cannot be read as PEM.
int ccurl_certificates(
    const char *file, void (*each)(void *context, const struct ccurl_certificate *certificate), void *context);

#endif
