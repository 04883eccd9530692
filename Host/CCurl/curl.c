#include "ccurl.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

bool ccurl_start(void) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return false;
    // A library with another one for TLS would not heed the rules for certificates.
    const char *tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return tls && strncmp(tls, "OpenSSL/", 8) == 0;
}

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }

CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_data(CURL *easy, CURLoption option, ccurl_data function) {
    return curl_easy_setopt(easy, option, function);
}

void ccurl_set_progress(CURL *easy, ccurl_progress function) {
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}

CURLcode ccurl_set_before_request(CURL *easy, ccurl_before_request function) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context, (void)purpose;
    // The library would leave it open in programs that are started.
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int prepare_socket(void *context, curl_socket_t socket, curlsocktype purpose) {
    (void)purpose;
    int probes = 3, most_unsent = (int)(intptr_t)context;
    // Some systems that run Linux programs do not know these options.
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent, sizeof most_unsent);
    return CURL_SOCKOPT_OK;
}

void ccurl_set_sockets(CURL *easy, long most_unsent) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, prepare_socket);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, (void *)(intptr_t)most_unsent);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L);
}

long ccurl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

int64_t ccurl_get_sent(CURL *easy) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &value) == CURLE_OK ? value : 0;
}

void *ccurl_get_context(CURL *easy) {
    char *context = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
    return context;
}

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

void ccurl_multi_set_socket(CURLM *multi, curl_socket_callback function, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}

void ccurl_multi_set_timer(CURLM *multi, curl_multi_timer_callback function, void *context) {
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
