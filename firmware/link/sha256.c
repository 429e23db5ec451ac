#include "link/sha256.h"

#include "link/bytes.h"

static const uint32_t rounds[64] = {
    0x428A2F98u, 0x71374491u, 0xB5C0FBCFu, 0xE9B5DBA5u, 0x3956C25Bu, 0x59F111F1u, 0x923F82A4u, 0xAB1C5ED5u,
    0xD807AA98u, 0x12835B01u, 0x243185BEu, 0x550C7DC3u, 0x72BE5D74u, 0x80DEB1FEu, 0x9BDC06A7u, 0xC19BF174u,
    0xE49B69C1u, 0xEFBE4786u, 0x0FC19DC6u, 0x240CA1CCu, 0x2DE92C6Fu, 0x4A7484AAu, 0x5CB0A9DCu, 0x76F988DAu,
    0x983E5152u, 0xA831C66Du, 0xB00327C8u, 0xBF597FC7u, 0xC6E00BF3u, 0xD5A79147u, 0x06CA6351u, 0x14292967u,
    0x27B70A85u, 0x2E1B2138u, 0x4D2C6DFCu, 0x53380D13u, 0x650A7354u, 0x766A0ABBu, 0x81C2C92Eu, 0x92722C85u,
    0xA2BFE8A1u, 0xA81A664Bu, 0xC24B8B70u, 0xC76C51A3u, 0xD192E819u, 0xD6990624u, 0xF40E3585u, 0x106AA070u,
    0x19A4C116u, 0x1E376C08u, 0x2748774Cu, 0x34B0BCB5u, 0x391C0CB3u, 0x4ED8AA4Au, 0x5B9CCA4Fu, 0x682E6FF3u,
    0x748F82EEu, 0x78A5636Fu, 0x84C87814u, 0x8CC70208u, 0x90BEFFFAu, 0xA4506CEBu, 0xBEF9A3F7u, 0xC67178F2u,
};

static const uint32_t beginning[8] = {
    0x6A09E667u, 0xBB67AE85u, 0x3C6EF372u, 0xA54FF53Au, 0x510E527Fu, 0x9B05688Cu, 0x1F83D9ABu, 0x5BE0CD19u,
};

static uint32_t turned(uint32_t value, uint32_t by)
{
    return (value >> by) | (value << (32u - by));
}

/* The schedule keeps its last sixteen words only, which takes 192 bytes less of the stack. */
static uint32_t next_word(uint32_t words[16], size_t round)
{
    const uint32_t two = words[(round + 14u) % 16u];
    const uint32_t fifteen = words[(round + 1u) % 16u];
    const uint32_t low = turned(fifteen, 7u) ^ turned(fifteen, 18u) ^ (fifteen >> 3);
    const uint32_t high = turned(two, 17u) ^ turned(two, 19u) ^ (two >> 10);

    words[round % 16u] += low + words[(round + 9u) % 16u] + high;
    return words[round % 16u];
}

static void compress(uint32_t state[8], const uint8_t block[SHA256_BLOCK])
{
    uint32_t words[16];
    uint32_t v[8];

    for (size_t at = 0; at < 16u; at++) {
        words[at] = get_u32(&block[4u * at]);
    }
    for (size_t at = 0; at < 8u; at++) {
        v[at] = state[at];
    }
    for (size_t round = 0; round < 64u; round++) {
        const uint32_t word = (round < 16u) ? words[round] : next_word(words, round);
        const uint32_t e = turned(v[4], 6u) ^ turned(v[4], 11u) ^ turned(v[4], 25u);
        const uint32_t chosen = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const uint32_t first = v[7] + e + chosen + rounds[round] + word;
        const uint32_t a = turned(v[0], 2u) ^ turned(v[0], 13u) ^ turned(v[0], 22u);
        const uint32_t most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);

        for (size_t at = 7; at > 0u; at--) {
            v[at] = v[at - 1u];
        }
        v[4] += first;
        v[0] = first + a + most;
    }
    for (size_t at = 0; at < 8u; at++) {
        state[at] += v[at];
    }
}

void sha256_begin(struct sha256 *hash)
{
    for (size_t at = 0; at < 8u; at++) {
        hash->state[at] = beginning[at];
    }
    hash->length = 0;
}

void sha256_add(struct sha256 *hash, const uint8_t *bytes, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        hash->block[hash->length % SHA256_BLOCK] = bytes[at];
        hash->length++;
        if ((hash->length % SHA256_BLOCK) == 0u) {
            compress(hash->state, hash->block);
        }
    }
}

void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_BYTES])
{
    static const uint8_t one = 0x80;
    static const uint8_t zero = 0;
    uint8_t bits[8] = {0};

    put_u32(&bits[0], hash->length >> 29);
    put_u32(&bits[4], hash->length << 3);
    sha256_add(hash, &one, 1);
    while ((hash->length % SHA256_BLOCK) != (SHA256_BLOCK - sizeof bits)) {
        sha256_add(hash, &zero, 1);
    }
    sha256_add(hash, bits, sizeof bits);
    for (size_t at = 0; at < 8u; at++) {
        put_u32(&digest[4u * at], hash->state[at]);
    }
}

static void add_pad(struct sha256 *hash, const uint8_t key[SHA256_BYTES], uint8_t pad)
{
    for (size_t at = 0; at < SHA256_BLOCK; at++) {
        const uint8_t byte = (uint8_t)(((at < SHA256_BYTES) ? key[at] : 0u) ^ pad);

        sha256_add(hash, &byte, 1);
    }
}

void hmac_begin(struct hmac *hmac, const uint8_t key[SHA256_BYTES])
{
    hmac->key = key;
    sha256_begin(&hmac->hash);
    add_pad(&hmac->hash, key, 0x36);
}

void hmac_add(struct hmac *hmac, const uint8_t *bytes, size_t length)
{
    sha256_add(&hmac->hash, bytes, length);
}

void hmac_end(struct hmac *hmac, uint8_t digest[SHA256_BYTES])
{
    uint8_t inner[SHA256_BYTES];

    sha256_end(&hmac->hash, inner);
    sha256_begin(&hmac->hash);
    add_pad(&hmac->hash, hmac->key, 0x5C);
    sha256_add(&hmac->hash, inner, sizeof inner);
    sha256_end(&hmac->hash, digest);
}
