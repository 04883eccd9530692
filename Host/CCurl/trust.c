#define _GNU_SOURCE
#include "ccurl.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct ccurl_trust {
    // The authorities of the account; NULL for those of the system.
    X509_STORE *store;
    STACK_OF(X509) *chain;
    EVP_PKEY *key;
    ccurl_judge judge;
    void *context;
    // Whether the server of the last connection asked for a certificate that there is none of.
    atomic_bool was_asked;
};

static X509_STORE *system_store;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_system_store(void) {
    system_store = X509_STORE_new();
    if (system_store) X509_STORE_set_default_paths(system_store);
}

// Returns the system's authorities. They are read by the first connection over TLS, and kept once for all accounts. To read
// them took a fifth of the processor time of a run that found nothing to do.
static X509_STORE *system_authorities(void) {
    pthread_once(&once, load_system_store);
    return system_store;
}

ccurl_trust *ccurl_trust_new(void) {
    ccurl_trust *trust = calloc(1, sizeof *trust);
    if (!trust) abort();
    return trust;
}

void ccurl_trust_free(ccurl_trust *trust) {
    X509_STORE_free(trust->store);
    sk_X509_pop_free(trust->chain, X509_free);
    EVP_PKEY_free(trust->key);
    free(trust);
}

static STACK_OF(X509) *read_certificates(const char *file) {
    BIO *input = BIO_new_file(file, "r");
    STACK_OF(X509) *all = input ? sk_X509_new_null() : NULL;
    X509 *certificate;
    while (all && (certificate = PEM_read_bio_X509(input, NULL, NULL, NULL))) {
        if (!sk_X509_push(all, certificate)) X509_free(certificate);
    }
    // The end of the file is no error; bytes that are no certificate are one.
    unsigned long error = ERR_peek_last_error();
    bool is_end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
    if (all && (sk_X509_num(all) == 0 || !is_end)) {
        sk_X509_pop_free(all, X509_free);
        all = NULL;
    }
    BIO_free(input);
    ERR_clear_error();
    return all;
}

bool ccurl_trust_authorities(ccurl_trust *trust, const char *file) {
    STACK_OF(X509) *all = read_certificates(file);
    if (!all) return false;
    X509_STORE_free(trust->store);
    trust->store = X509_STORE_new();
    for (int i = 0; trust->store && i < sk_X509_num(all); i++) X509_STORE_add_cert(trust->store, sk_X509_value(all, i));
    sk_X509_pop_free(all, X509_free);
    ERR_clear_error();
    return trust->store != NULL;
}

static int no_passphrase(char *buffer, int size, int is_writing, void *is_locked) {
    (void)buffer, (void)size, (void)is_writing;
    *(bool *)is_locked = true;
    return -1;
}

enum ccurl_identity ccurl_trust_identity(ccurl_trust *trust, const char *certificate, const char *key) {
    trust->chain = read_certificates(certificate);
    if (!trust->chain) return ccurl_identity_no_certificate;
    bool is_locked = false;
    BIO *input = BIO_new_file(key, "r");
    if (input) trust->key = PEM_read_bio_PrivateKey(input, NULL, no_passphrase, &is_locked);
    BIO_free(input);
    ERR_clear_error();
    if (!trust->key) return is_locked ? ccurl_identity_locked_key : ccurl_identity_no_key;
    bool is_own = X509_check_private_key(sk_X509_value(trust->chain, 0), trust->key) == 1;
    ERR_clear_error();
    return is_own ? ccurl_identity_ok : ccurl_identity_other_key;
}

void ccurl_trust_judge(ccurl_trust *trust, ccurl_judge judge, void *context) {
    trust->judge = judge;
    trust->context = context;
}

static int64_t seconds(const ASN1_TIME *time) {
    struct tm parts;
    return time && ASN1_TIME_to_tm(time, &parts) ? (int64_t)timegm(&parts) : 0;
}

// Calls a body with what a certificate says. Returns false if it cannot be read.
static bool with_certificate(
    X509 *certificate, bool is_signed, void (*body)(void *context, const struct ccurl_certificate *read),
    void *context) {
    unsigned char *bytes = NULL, *key = NULL;
    int size = i2d_X509(certificate, &bytes);
    int key_size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key);
    bool is_read = size > 0 && key_size > 0;
    if (is_read) {
        struct ccurl_certificate read = {
            bytes, (size_t)size, key, (size_t)key_size, seconds(X509_get0_notBefore(certificate)),
            seconds(X509_get0_notAfter(certificate)), is_signed,
        };
        body(context, &read);
    }
    OPENSSL_free(bytes);
    OPENSSL_free(key);
    return is_read;
}

struct judging {
    ccurl_trust *trust;
    bool is_right;
};

static void judge(void *context, const struct ccurl_certificate *certificate) {
    struct judging *judging = context;
    judging->is_right = judging->trust->judge(judging->trust->context, certificate);
}

static int verify(X509_STORE_CTX *context, void *argument) {
    struct judging judging = {argument, false};
    // The library lets a server's own certificate stand for an authority's.
    X509_VERIFY_PARAM_clear_flags(X509_STORE_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    bool is_signed = X509_verify_cert(context) == 1;
    X509 *own = X509_STORE_CTX_get0_cert(context);
    if (own) with_certificate(own, is_signed, judge, &judging);
    ERR_clear_error();
    X509_STORE_CTX_set_error(context, judging.is_right ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
    return judging.is_right;
}

// Called when a server asks for a certificate. There is none.
static int note_asked(SSL *ssl, X509 **certificate, EVP_PKEY **key) {
    (void)certificate, (void)key;
    ccurl_trust *trust = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    atomic_store(&trust->was_asked, true);
    return 0;
}

bool ccurl_trust_was_asked(ccurl_trust *trust) { return atomic_load(&trust->was_asked); }

static CURLcode prepare(CURL *easy, void *ssl, void *argument) {
    (void)easy;
    ccurl_trust *trust = argument;
    SSL_CTX *context = ssl;
    X509_STORE *store = trust->store ? trust->store : system_authorities();
    if (store) SSL_CTX_set1_cert_store(context, store);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, verify, trust);
    if (trust->key) {
        SSL_CTX_use_certificate(context, sk_X509_value(trust->chain, 0));
        SSL_CTX_use_PrivateKey(context, trust->key);
        for (int i = 1; i < sk_X509_num(trust->chain); i++) {
            SSL_CTX_add1_chain_cert(context, sk_X509_value(trust->chain, i));
        }
    } else {
        atomic_store(&trust->was_asked, false);
        SSL_CTX_set_app_data(context, trust);
        SSL_CTX_set_client_cert_cb(context, note_asked);
    }
    return CURLE_OK;
}

void ccurl_set_trust(CURL *easy, ccurl_trust *trust) {
    // A resumed session would not show the certificate.
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prepare);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, trust);
}

int ccurl_certificates(
    const char *file, void (*each)(void *context, const struct ccurl_certificate *certificate), void *context) {
    STACK_OF(X509) *all = read_certificates(file);
    if (!all) return -1;
    int count = sk_X509_num(all);
    for (int i = 0; i < count; i++) with_certificate(sk_X509_value(all, i), false, each, context);
    sk_X509_pop_free(all, X509_free);
    return count;
}
