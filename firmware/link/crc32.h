/* CRC-32 as in Ethernet, zip and PNG: docs/reference/ishoe-link.md, part 2. */

#ifndef PUNTO_CRC32_H
#define PUNTO_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32(const uint8_t *bytes, size_t length);

#endif
