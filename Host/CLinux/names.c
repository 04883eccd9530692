#include "names.h"

#include <arpa/nameser.h>
#include <limits.h>
#include <resolv.h>
#include <string.h>

int linux_query_name(const char *name, int type, int seconds, uint8_t *answer, size_t size) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (size > INT_MAX || res_ninit(&state) != 0) return -1;
    state.retrans = seconds;
    state.retry = 1;
    int length = res_nquery(&state, name, C_IN, type, answer, (int)size);
    res_nclose(&state);
    return length;
}

int linux_read_answer(const uint8_t *message, size_t size, struct linux_name_record *records, size_t most) {
    ns_msg parsed;
    if (size > INT_MAX || ns_initparse(message, (int)size, &parsed) != 0) return -1;
    if (!ns_msg_getflag(parsed, ns_f_qr) || ns_msg_getflag(parsed, ns_f_rcode) != ns_r_noerror) return -1;
    size_t count = 0;
    for (int index = 0; index < ns_msg_count(parsed, ns_s_an); index++) {
        ns_rr record;
        if (ns_parserr(&parsed, ns_s_an, index, &record) != 0) return -1;
        const uint8_t *data = ns_rr_rdata(record);
        size_t start = (size_t)(data - message), length = ns_rr_rdlen(record);
        if (count >= most) return -1;
        if (ns_rr_type(record) == ns_t_txt) {
            records[count++] = (struct linux_name_record){.type = ns_t_txt, .start = start, .length = length};
        } else if (ns_rr_type(record) == ns_t_srv) {
            if (length < 6) return -1;
            records[count++] = (struct linux_name_record){
                .type = ns_t_srv,
                .priority = (uint16_t)ns_get16(data),
                .weight = (uint16_t)ns_get16(data + 2),
                .port = (uint16_t)ns_get16(data + 4),
                .start = start + 6,
                .length = length - 6};
        }
    }
    return (int)count;
}

int linux_read_name(const uint8_t *message, size_t start, size_t length, uint8_t *name, size_t size) {
    const uint8_t *first = message + start;
    return ns_name_uncompress(message, first + length, first, (char *)name, size) < 0 ? -1 : 0;
}
