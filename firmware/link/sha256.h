/* SHA-256 (FIPS 180-4), and HMAC (RFC 2104) with keys of 32 bytes. */

#ifndef PUNTO_SHA256_H
#define PUNTO_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32u
#define SHA256_BLOCK 64u

struct sha256 {
    uint32_t state[8];
    uint32_t length; /* bytes so far */
    uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const uint8_t *bytes, size_t length);
void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_BYTES]);

struct hmac {
    struct sha256 hash;
    const uint8_t *key;
};

/* The key must stay where it is until the end. */
void hmac_begin(struct hmac *hmac, const uint8_t key[SHA256_BYTES]);
void hmac_add(struct hmac *hmac, const uint8_t *bytes, size_t length);
void hmac_end(struct hmac *hmac, uint8_t digest[SHA256_BYTES]);

#endif
