/* Consistent Overhead Byte Stuffing: docs/reference/ishoe-link.md, part 2. Both ways work within one buffer. */

#ifndef PUNTO_COBS_H
#define PUNTO_COBS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes by which the data must stand behind `to`, so that the encoder does not overtake them. */
#define COBS_LEAD(length) (1u + ((length) / 254u))

/* Encode bytes that may stand in the same buffer, COBS_LEAD bytes behind `to`; return the encoded length. */
size_t cobs_encode(uint8_t *to, const uint8_t *from, size_t length);

/* Decode a run in place; return the decoded length, or 0 if the run is not COBS. A run is never empty. */
size_t cobs_decode(uint8_t *run, size_t length);

#endif
