/* The device's end of every serial link of Punto, versions 1 and 2, without anything that only one device has.
 *
 * docs/reference/ishoe-link.md (parts 1 and 2) and docs/reference/sealed-links.md define the bytes. With a key, the link
 * speaks version 2: it answers challenges, seals what it sends, and discards what the host of this session did not seal. No
 * function waits for the line, and no memory is allocated.
 *
 *     while (link_hear(&link, &frame)) { obey(&frame); }
 *     if (link_begin(&link, TYPE, sequence)) { link_put_u8(&link, 7); link_send(&link); }
 *     link_flush(&link);
 */

#ifndef PUNTO_LINK_H
#define PUNTO_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link/sha256.h"

#define LINK_LONGEST 1024u     /* bytes of a frame, from version to CRC */
#define LINK_LONGEST_RUN 1029u /* the same after COBS */
#define LINK_KEY_BYTES SHA256_BYTES
#define LINK_NONCE_BYTES 16u

/* What the board provides. All of it returns at once. */
struct link_line {
    void *context;
    size_t (*read)(void *context, uint8_t *bytes, size_t room);           /* how many bytes have come */
    size_t (*write)(void *context, const uint8_t *bytes, size_t length);  /* how many bytes the line takes now */
    void (*random)(void *context, uint8_t *bytes, size_t length);         /* bytes that nobody can predict */
};

/* A good frame of the host. The payload is valid until the next call of `link_hear`. */
struct link_frame {
    uint8_t type;
    uint32_t sequence;
    const uint8_t *payload;
    size_t length;
};

/* What was discarded, under the names of the pages. The device counts `unknown_type` and `malformed`. */
struct link_counts {
    uint32_t oversize;
    uint32_t bad_framing;
    uint32_t bad_crc;
    uint32_t other_version;
    uint32_t not_sealed;
    uint32_t repeated;
    uint32_t unknown_type;
    uint32_t malformed;
};

struct link_session {
    uint8_t host_nonce[LINK_NONCE_BYTES];
    uint8_t own_nonce[LINK_NONCE_BYTES];
    uint8_t host_key[SHA256_BYTES];
    uint8_t own_key[SHA256_BYTES];
    uint32_t count; /* of the last frame that was sent */
    uint32_t heard; /* the highest count of the host, 0 if it has sent nothing in this session */
    bool begun;
    bool proof_due;
};

struct link {
    const struct link_line *line;
    const uint8_t *key; /* NULL for version 1 */
    struct link_counts counts;
    struct link_session session;
    uint8_t arrived[128]; /* bytes of the line that wait to be looked at: more than come in 10 ms */
    size_t arrived_from;
    size_t arrived_to;
    uint8_t run[LINK_LONGEST_RUN]; /* since the last delimiter */
    size_t run_length;
    uint8_t out[LINK_LONGEST_RUN + 2u]; /* the frame that is being made or sent */
    size_t out_body;                    /* bytes of the frame that is being made */
    size_t out_from;
    size_t out_to;
};

/* Begin as after a loss of power. The line and the key must stay where they are. */
void link_power_on(struct link *link, const struct link_line *line, const uint8_t *key);

/* Look at some of what has come; return whether a good frame is in it. If so, call it again, because there may be another. If
 * not, there may be more at the line, which is for the next turn: a line that never falls silent must not stop a device. */
bool link_hear(struct link *link, struct link_frame *frame);

/* Whether a frame can be sent now: the frame before is out, and in version 2 the host has been heard in this session. */
bool link_ready(const struct link *link);

/* Begin a frame; returns false, and begins none, if the link is not ready. */
bool link_begin(struct link *link, uint8_t type, uint32_t sequence);
void link_put(struct link *link, const uint8_t *bytes, size_t length);
void link_put_u8(struct link *link, uint8_t value);
void link_put_u32(struct link *link, uint32_t value);
/* A text after its length in a byte. */
void link_put_text(struct link *link, const char *text);
/* End the frame and write what the line takes. A frame that is longer than LINK_LONGEST is dropped. */
void link_send(struct link *link);

/* Write what is still to be written, and the answer to a challenge. Call it in each turn. */
void link_flush(struct link *link);

#endif
