#include "link/link.h"

#include "link/bytes.h"
#include "link/cobs.h"
#include "link/crc32.h"

#define HEADER_BYTES 6u
#define CRC_BYTES 4u
#define COUNTS_BYTES 8u
#define TAG_BYTES 16u
#define CHALLENGE 0xF0u
#define PROOF 0x70u
#define BEAT 0xF1u
/* The frame that is made stands so far behind the beginning that COBS can take its place, after a delimiter. */
#define BODY_AT (1u + COBS_LEAD(LINK_LONGEST))

static const uint8_t own_name[] = "punto link 2 device";
static const uint8_t host_name[] = "punto link 2 host";

static uint8_t version(const struct link *link)
{
    return (link->key == NULL) ? 1u : 2u;
}

/* The first bytes of an HMAC-SHA-256. */
static void make_tag(uint8_t tag[TAG_BYTES], const uint8_t *key, const uint8_t *bytes, size_t length)
{
    struct hmac hmac;
    uint8_t digest[SHA256_BYTES];

    hmac_begin(&hmac, key);
    hmac_add(&hmac, bytes, length);
    hmac_end(&hmac, digest);
    copy_bytes(tag, digest, TAG_BYTES);
}

/* Compare in the same time whatever differs, so that the time does not show how much of a tag is right. */
static bool same(const uint8_t *one, const uint8_t *other, size_t length)
{
    uint8_t difference = 0;

    for (size_t at = 0; at < length; at++) {
        difference = (uint8_t)(difference | (one[at] ^ other[at]));
    }
    return difference == 0u;
}

void link_power_on(struct link *link, const struct link_line *line, const uint8_t *key)
{
    *link = (struct link){.line = line, .key = key};
}

/* --- what is sent */

bool link_ready(const struct link *link)
{
    return (link->out_from == link->out_to) && ((link->key == NULL) || (link->session.heard > 0u));
}

static void begin_body(struct link *link, uint8_t type, uint32_t sequence)
{
    link->out_body = 0;
    link_put_u8(link, version(link));
    link_put_u8(link, type);
    link_put_u32(link, sequence);
}

bool link_begin(struct link *link, uint8_t type, uint32_t sequence)
{
    if (!link_ready(link)) {
        return false;
    }
    begin_body(link, type, sequence);
    return true;
}

void link_put(struct link *link, const uint8_t *bytes, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if (link->out_body < LINK_LONGEST) {
            link->out[BODY_AT + link->out_body] = bytes[at];
        }
        link->out_body++;
    }
}

void link_put_u8(struct link *link, uint8_t value)
{
    link_put(link, &value, 1);
}

void link_put_u32(struct link *link, uint32_t value)
{
    uint8_t bytes[4];

    put_u32(bytes, value);
    link_put(link, bytes, sizeof bytes);
}

void link_put_text(struct link *link, const char *text)
{
    uint8_t length = 0;

    while ((length < 0xFFu) && (text[length] != '\0')) {
        length++;
    }
    link_put_u8(link, length);
    for (uint8_t at = 0; at < length; at++) {
        link_put_u8(link, (uint8_t)text[at]);
    }
}

static void put_tag(struct link *link, const uint8_t *key)
{
    uint8_t tag[TAG_BYTES] = {0};

    if (link->out_body <= LINK_LONGEST) {
        make_tag(tag, key, &link->out[BODY_AT], link->out_body);
    }
    link_put(link, tag, sizeof tag);
}

static void write_out(struct link *link)
{
    if (link->out_from < link->out_to) {
        link->out_from += link->line->write(link->line->context, &link->out[link->out_from], link->out_to - link->out_from);
    }
}

static void put_on_the_line(struct link *link)
{
    size_t encoded;

    if ((link->out_body + CRC_BYTES) > LINK_LONGEST) {
        return;
    }
    link_put_u32(link, crc32(&link->out[BODY_AT], link->out_body));
    encoded = cobs_encode(&link->out[1], &link->out[BODY_AT], link->out_body);
    link->out[0] = 0;
    link->out[encoded + 1u] = 0;
    link->out_from = 0;
    link->out_to = encoded + 2u;
    write_out(link);
}

void link_send(struct link *link)
{
    if (link->key != NULL) {
        link->session.count++;
        link_put_u32(link, link->session.count);
        link_put_u32(link, link->session.heard);
        put_tag(link, link->session.own_key);
    }
    put_on_the_line(link);
}

static void send_proof(struct link *link)
{
    link->session.proof_due = false;
    begin_body(link, PROOF, 0);
    link_put(link, link->session.host_nonce, LINK_NONCE_BYTES);
    link_put(link, link->session.own_nonce, LINK_NONCE_BYTES);
    put_tag(link, link->key);
    put_on_the_line(link);
}

void link_flush(struct link *link)
{
    write_out(link);
    if (link->session.proof_due && (link->out_from == link->out_to)) {
        send_proof(link);
    }
}

/* --- what is heard */

static void make_session_key(const struct link *link, uint8_t key[SHA256_BYTES], const uint8_t *name, size_t length)
{
    struct hmac hmac;

    hmac_begin(&hmac, link->key);
    hmac_add(&hmac, name, length);
    hmac_add(&hmac, link->session.host_nonce, LINK_NONCE_BYTES);
    hmac_add(&hmac, link->session.own_nonce, LINK_NONCE_BYTES);
    hmac_end(&hmac, key);
}

/* A challenge that is repeated begins no other session, because the host repeats it if the proof was lost. */
static void take_challenge(struct link *link, const uint8_t *nonce)
{
    struct link_session *session = &link->session;

    session->proof_due = true;
    if (session->begun && same(session->host_nonce, nonce, LINK_NONCE_BYTES)) {
        return;
    }
    session->begun = true;
    copy_bytes(session->host_nonce, nonce, LINK_NONCE_BYTES);
    link->line->random(link->line->context, session->own_nonce, LINK_NONCE_BYTES);
    make_session_key(link, session->host_key, host_name, sizeof host_name - 1u);
    make_session_key(link, session->own_key, own_name, sizeof own_name - 1u);
    session->count = 0;
    session->heard = 0;
}

/* Whether a body is a frame for the device, sealed by the host of this session; its length without counts and tag. */
static bool open_sealed(struct link *link, const uint8_t *body, size_t *length)
{
    struct link_session *session = &link->session;
    uint8_t tag[TAG_BYTES];
    size_t sealed;
    uint32_t count;

    if (body[1] == CHALLENGE) {
        if ((*length == (HEADER_BYTES + LINK_NONCE_BYTES)) && (get_u32(&body[2]) == 0u)) {
            take_challenge(link, &body[HEADER_BYTES]);
        } else {
            link->counts.not_sealed++;
        }
        return false;
    }
    if (!session->begun || (*length < (HEADER_BYTES + COUNTS_BYTES + TAG_BYTES))) {
        link->counts.not_sealed++;
        return false;
    }
    sealed = *length - TAG_BYTES;
    make_tag(tag, session->host_key, body, sealed);
    if (!same(tag, &body[sealed], TAG_BYTES)) {
        link->counts.not_sealed++;
        return false;
    }
    count = get_u32(&body[sealed - COUNTS_BYTES]);
    if (count <= session->heard) {
        link->counts.repeated++;
        return false;
    }
    session->heard = count;
    *length = sealed - COUNTS_BYTES;
    return body[1] != BEAT;
}

/* The run between two delimiters has ended: whether it is a good frame. */
static bool end_run(struct link *link, struct link_frame *frame)
{
    const uint8_t *body = link->run;
    const size_t encoded = link->run_length;
    size_t length;

    link->run_length = 0;
    if ((encoded == 0u) || (encoded > LINK_LONGEST_RUN)) { /* nothing, or counted already */
        return false;
    }
    length = cobs_decode(link->run, encoded);
    if (length < (HEADER_BYTES + CRC_BYTES)) {
        link->counts.bad_framing++;
        return false;
    }
    if (length > LINK_LONGEST) {
        link->counts.oversize++;
        return false;
    }
    length -= CRC_BYTES;
    if (crc32(body, length) != get_u32(&body[length])) {
        link->counts.bad_crc++;
        return false;
    }
    if (body[0] != version(link)) {
        link->counts.other_version++;
        return false;
    }
    if ((link->key != NULL) && !open_sealed(link, body, &length)) {
        return false;
    }
    frame->type = body[1];
    frame->sequence = get_u32(&body[2]);
    frame->payload = &body[HEADER_BYTES];
    frame->length = length - HEADER_BYTES;
    return true;
}

static void add_to_run(struct link *link, uint8_t byte)
{
    if (link->run_length < LINK_LONGEST_RUN) {
        link->run[link->run_length] = byte;
        link->run_length++;
    } else if (link->run_length == LINK_LONGEST_RUN) {
        link->counts.oversize++;
        link->run_length++; /* all that follows, up to the next delimiter, is discarded */
    } else {
        /* it is being discarded */
    }
}

bool link_hear(struct link *link, struct link_frame *frame)
{
    if (link->arrived_from == link->arrived_to) {
        link->arrived_from = 0;
        link->arrived_to = link->line->read(link->line->context, link->arrived, sizeof link->arrived);
    }
    while (link->arrived_from < link->arrived_to) {
        const uint8_t byte = link->arrived[link->arrived_from];

        link->arrived_from++;
        if (byte != 0u) {
            add_to_run(link, byte);
        } else if (end_run(link, frame)) {
            return true;
        } else {
            /* what was discarded has been counted */
        }
    }
    return false;
}
