/* Whatever comes over the line, happens in the shoe or is cut off by a loss of power: no record is lost, doubled or changed.
 *
 * The input is a list of what happens, by a fuzzer that is guided by coverage (libFuzzer). The shoe is compared with a list of the
 * records that it stored, and each frame that it sends with this list.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "link/bytes.h"
#include "link/cobs.h"
#include "link/crc32.h"

#define MOST_RECORDS 4096u

#define MUST(so)                                                      \
    do {                                                              \
        if (!(so)) {                                                  \
            (void)fprintf(stderr, "line %d: %s\n", __LINE__, #so);    \
            abort();                                                  \
        }                                                             \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t left;
};

struct record {
    uint8_t type;
    uint8_t length;
    uint8_t payload[JOURNAL_PAYLOAD_BYTES];
};

/* What the shoe has stored, in its present log. */
struct model {
    uint32_t log;
    uint32_t next_record;
    bool halted;
    struct record records[MOST_RECORDS];
    uint8_t run[LINK_LONGEST_RUN]; /* of the frame that the line has not taken yet as a whole */
    size_t run_length;
};

static const uint8_t key[LINK_KEY_BYTES] = {7};

static uint8_t next(struct input *input)
{
    if (input->left == 0u) {
        return 0;
    }
    input->left--;
    input->data++;
    return input->data[-1];
}

/* --- the host */

static void put_on_line(struct bench *bench, uint8_t *body, size_t length)
{
    uint8_t wire[LINK_LONGEST_RUN + 2u] = {0};

    put_u32(&body[length], crc32(body, length));
    (void)bench_host_says(bench, wire, cobs_encode(&wire[1], body, length + 4u) + 2u);
}

/* A frame of the host, sealed if the shoe has a key and a session. */
static void say(struct bench *bench, uint8_t type, uint32_t sequence, const uint8_t *payload, size_t length)
{
    uint8_t body[6u + 64u + 24u + 4u];
    size_t end = 6u + length;

    body[0] = (bench->identity.key == NULL) ? 1u : 2u;
    body[1] = type;
    put_u32(&body[2], sequence);
    if (length > 0u) {
        (void)memcpy(&body[6], payload, length);
    }
    if ((bench->identity.key != NULL) && (type != 0xF0u)) {
        struct hmac hmac;
        uint8_t tag[SHA256_BYTES];

        put_u32(&body[end], bench->shoe.link.session.heard + 1u);
        put_u32(&body[end + 4u], 0);
        end += 8u;
        hmac_begin(&hmac, bench->shoe.link.session.host_key);
        hmac_add(&hmac, body, end);
        hmac_end(&hmac, tag);
        (void)memcpy(&body[end], tag, 16);
        end += 16u;
    }
    put_on_line(bench, body, end);
}

static void command(struct bench *bench, struct input *input)
{
    const uint8_t type = (uint8_t)(0x80u + (next(input) % 8u));
    const uint8_t how = next(input);
    uint8_t payload[10] = {0};

    put_u32(&payload[0], bench->shoe.facts.log ^ (how & 1u));
    put_u32(&payload[4], bench->shoe.facts.first_kept + next(input) - 2u);
    payload[8] = (uint8_t)((how >> 1) & 1u);
    payload[9] = (uint8_t)(next(input) & (((how & 0x80u) != 0u) ? 0xFFu : 0x37u));
    if (type == 0x82u) {
        say(bench, type, (how >> 2) & 7u, payload, sizeof payload);
    } else if (type == 0x83u) {
        say(bench, type, (how >> 2) & 7u, payload, 8);
    } else {
        say(bench, type, (how >> 2) & 7u, &payload[9], (type == 0x86u) ? 1u : (how >> 6) & 1u);
    }
}

/* --- what is true of the shoe */

static void check_record(const struct model *model, const uint8_t *body, size_t length)
{
    const uint32_t number = get_u32(&body[2]);
    const struct record *record;

    MUST((number >= 1u) && (number < model->next_record));
    record = &model->records[number % MOST_RECORDS];
    MUST(record->type == body[1]);
    MUST(length >= (6u + (size_t)record->length));
    MUST(memcmp(&body[6], record->payload, record->length) == 0);
}

static void check_frame(const struct bench *bench, const struct model *model, uint8_t *run, size_t encoded)
{
    const size_t length = cobs_decode(run, encoded);

    MUST((length >= 10u) && (length <= LINK_LONGEST));
    MUST(crc32(run, length - 4u) == get_u32(&run[length - 4u]));
    MUST(run[0] == ((bench->identity.key == NULL) ? 1u : 2u));
    if ((run[1] >= 0x10u) && (run[1] <= 0x16u)) {
        check_record(model, run, length);
    } else {
        MUST((run[1] == 0x01u) || (run[1] == 0x02u) || (run[1] == 0x70u));
    }
}

static void check_sent(struct bench *bench, struct model *model)
{
    static uint8_t sent[sizeof bench->out];
    const size_t length = bench_take(bench, sent, sizeof sent);

    for (size_t at = 0; at < length; at++) {
        if (sent[at] != 0u) {
            MUST(model->run_length < sizeof model->run);
            model->run[model->run_length] = sent[at];
            model->run_length++;
        } else if (model->run_length > 0u) {
            check_frame(bench, model, model->run, model->run_length);
            model->run_length = 0;
        } else {
            /* the beginning of a frame */
        }
    }
}

static void check(struct bench *bench, struct model *model)
{
    const struct shoe *shoe = &bench->shoe;
    const struct step *facts = &shoe->facts;

    if (shoe->halted) {
        model->halted = true;
        MUST(!bench->orders.gate_open && !bench->orders.load);
        return;
    }
    MUST((facts->log != 0u) && (facts->first_kept >= 1u));
    MUST((facts->first_kept <= shoe->next_to_send) && (shoe->next_to_send <= facts->next_record));
    MUST((facts->next_record - facts->first_kept) <= ((uint32_t)bench->identity.room + SHOE_RESERVE));
    MUST(!bench->orders.gate_open || (!shoe->locked && (facts->first_kept == facts->next_record) && !bench->lid_open));
    MUST(facts->log == model->log);
}

/* A turn stores one record for the lid and one for an event at most; both are looked at. */
static void note(struct bench *bench, struct model *model)
{
    for (uint32_t number = model->next_record; number < bench->shoe.facts.next_record; number++) {
        struct step found;

        MUST(journal_find(&bench->shoe.journal, bench->shoe.facts.log, number, &found));
        struct record *record = &model->records[number % MOST_RECORDS];
        record->type = found.type;
        record->length = found.length;
        (void)memcpy(record->payload, found.payload, sizeof record->payload);
    }
    if (!bench->shoe.halted) {
        model->next_record = bench->shoe.facts.next_record;
    }
}

static void switch_on(struct bench *bench, struct model *model, long budget, uint32_t now)
{
    const bool first = model->log == 0u;

    model->run_length = 0;
    if (!bench_power_on(bench, budget, now)) {
        MUST(first || model->halted);
        model->halted = true;
        return;
    }
    if (first) {
        model->log = bench->shoe.facts.log;
        model->next_record = 1;
    }
    MUST(bench->shoe.facts.log == model->log);
    /* What was cut off may be there as a whole, but nothing more. */
    MUST(bench->shoe.facts.next_record >= model->next_record);
    MUST(bench->shoe.facts.next_record <= (model->next_record + (model->halted ? 1u : 0u)));
    model->halted = false;
    note(bench, model);
}

static void happen(struct bench *bench, struct model *model, struct input *input, uint32_t *now)
{
    static uint32_t position;
    uint8_t bytes[256];
    uint8_t count;

    switch (next(input) % 10u) {
    case 0:
        count = next(input);
        for (uint8_t at = 0; at < count; at++) {
            bytes[at] = next(input);
        }
        (void)bench_host_says(bench, bytes, count);
        break;
    case 1:
    case 2:
        command(bench, input);
        break;
    case 3:
        count = next(input);
        position++;
        bench_event(bench, count % 5, "A23456789TJQKx"[count % 14u], "SHDCx"[count % 5u], next(input), (uint16_t)(16u + count % 4u), position);
        break;
    case 4:
        count = next(input);
        bench_set(bench, (count & 1u) != 0u, (uint8_t)(count >> 4), sizeof bench->out);
        break;
    case 5:
        *now += next(input) * 4u;
        break;
    case 6:
        bench->budget = ((long)next(input) << ((next(input) % 3u) * 2u));
        break;
    case 7:
        switch_on(bench, model, -1, *now);
        break;
    case 8:
        say(bench, 0xF0, next(input) % 2u, (const uint8_t *)"nonce of the host 0123456789" + (next(input) % 4u), 16);
        break;
    default:
        bench_set(bench, bench->lid_open, bench->decks, next(input));
        bench->line_takes = (bench->line_takes == 0u) ? sizeof bench->out : bench->line_takes;
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bench the_bench;
    static struct model model;
    struct input input = {data, size};
    const uint8_t how = next(&input);
    struct bench *bench = &the_bench;
    uint32_t now = 0;

    bench_begin(bench, "FUZZ-1", ((how & 1u) != 0u) ? key : NULL, ((how & 2u) != 0u) ? 3u : SHOE_ROOM, 1);
    model.log = 0;
    model.next_record = 1;
    model.halted = false;
    if ((how & 4u) != 0u) {
        now = UINT32_MAX - 1000u; /* the clock wraps */
    }
    switch_on(bench, &model, -1, now);
    while (input.left > 0u) {
        happen(bench, &model, &input, &now);
        if (model.halted) {
            switch_on(bench, &model, -1, now);
        }
        (void)bench_turn(bench, now);
        note(bench, &model);
        check_sent(bench, &model);
        check(bench, &model);
    }
    return 0;
}
