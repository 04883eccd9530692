/* Queries to the name server, which Swift's Glibc module hides. */
#ifndef CLINUX_NAMES_H
#define CLINUX_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Calls res_nquery(3) in class IN with a state of its own, so that any thread may call this function. The query goes to
 * each name server once and waits `seconds` for its answer. Returns the length of the answer, or -1. The buffer holds
 * no more than `size` bytes of the answer. */
int linux_query_name(const char *name, int type, int seconds, uint8_t *answer, size_t size);

/* A service (SRV) or a text (TXT) in a name server's answer. */
struct linux_name_record {
    uint16_t type;
    uint16_t priority, weight, port;
    /* Where the text, or the name of the service's host, is in the message. */
    size_t start, length;
};

/* Reads the services and texts among the answers of a message, by ns_initparse(3) and ns_parserr. Returns their number,
 * or -1 if the message is no answer, tells an error, cannot be read, or has more than `most` of them. */
int linux_read_answer(const uint8_t *message, size_t size, struct linux_name_record *records, size_t most);

/* Reads a name in a message, by ns_name_uncompress(3). The rest of the name may stand earlier in the message. The text
 * ends with a null. Returns 0, or -1 if the name cannot be read or has no room. */
int linux_read_name(const uint8_t *message, size_t start, size_t length, uint8_t *name, size_t size);

#endif
