/* Structs that a plugin and the host exchange, each built with its own version of the headers: rule I of base.h. */
#include "fake.h"

#include <string.h>

static size_t size_of(const void *given) {
    uint32_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

/* A size that is larger than any struct was never set. */
#define LARGEST 65536u

int is_sized(const void *given, size_t first) { return size_of(given) >= first && size_of(given) <= LARGEST; }

void fill(void *out, const void *value, size_t size) {
    uint32_t filled;
    if (size_of(out) < size) size = size_of(out);
    memcpy(out, value, size);
    filled = (uint32_t)size;
    memcpy(out, &filled, sizeof filled);
}

int take(void *to, size_t size, const void *given, size_t first) {
    memset(to, 0, size);
    if (!is_sized(given, first)) return 0;
    memcpy(to, given, size_of(given) < size ? size_of(given) : size);
    return 1;
}
