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
