/* Numbers on the wire and in the storage are big-endian. */

#ifndef PUNTO_BYTES_H
#define PUNTO_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline void put_u16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)(value & 0xFFu);
}

static inline void put_u32(uint8_t *to, uint32_t value)
{
    put_u16(&to[0], (uint16_t)(value >> 16));
    put_u16(&to[2], (uint16_t)(value & 0xFFFFu));
}

static inline uint32_t get_u32(const uint8_t *from)
{
    return ((uint32_t)from[0] << 24) | ((uint32_t)from[1] << 16) | ((uint32_t)from[2] << 8) | from[3];
}

static inline void copy_bytes(uint8_t *to, const uint8_t *from, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        to[at] = from[at];
    }
}

#endif
