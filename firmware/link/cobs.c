#include "link/cobs.h"

size_t cobs_encode(uint8_t *to, const uint8_t *from, size_t length)
{
    size_t code_at = 0;
    size_t end = 1;

    for (size_t at = 0; at < length; at++) {
        const uint8_t byte = from[at]; /* before anything is written, perhaps to the same place */

        if (byte != 0u) {
            to[end] = byte;
            end++;
        }
        if ((byte == 0u) || ((end - code_at) == 255u)) {
            to[code_at] = (uint8_t)(end - code_at);
            code_at = end;
            end++;
        }
    }
    to[code_at] = (uint8_t)(end - code_at);
    return end;
}

size_t cobs_decode(uint8_t *run, size_t length)
{
    size_t at = 0;
    size_t end = 0;

    while (at < length) {
        const uint8_t code = run[at];

        at++;
        if ((code == 0u) || ((size_t)(code - 1u) > (length - at))) {
            return 0;
        }
        for (uint8_t copied = 1; copied < code; copied++) {
            run[end] = run[at];
            end++;
            at++;
        }
        if ((code != 0xFFu) && (at < length)) {
            run[end] = 0;
            end++;
        }
    }
    return end;
}
