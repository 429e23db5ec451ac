/* A shoe without a process: its flash, line and reader are in memory, and its power can be cut at any byte that it writes. */

#include "bench.h"

#include <stdlib.h>
#include <string.h>

static size_t read_line(void *context, uint8_t *bytes, size_t room)
{
    struct bench *bench = context;
    const size_t count = (bench->in_length < room) ? bench->in_length : room;

    (void)memcpy(bytes, bench->in, count);
    bench->in_length -= count;
    (void)memmove(bench->in, &bench->in[count], bench->in_length);
    return count;
}

static size_t write_line(void *context, const uint8_t *bytes, size_t length)
{
    struct bench *bench = context;
    size_t room = sizeof bench->out - bench->out_length;

    room = (room < bench->line_takes) ? room : bench->line_takes;
    if (length > room) {
        length = room;
    }
    (void)memcpy(&bench->out[bench->out_length], bytes, length);
    bench->out_length += length;
    return length;
}

static void draw(void *context, uint8_t *bytes, size_t length)
{
    struct bench *bench = context;

    if (bench->fixed && (length == sizeof bench->drawn)) {
        (void)memcpy(bytes, bench->drawn, length);
        bench->fixed = false;
        return;
    }
    for (size_t at = 0; at < length; at++) {
        bench->random = bench->random * 6364136223846793005u + 1442695040888963407u;
        bytes[at] = (uint8_t)(bench->random >> 56);
    }
}

static bool read_flash(void *context, uint32_t address, uint8_t *bytes, uint32_t length)
{
    struct bench *bench = context;

    if (((size_t)address + length) > sizeof bench->flash) {
        abort();
    }
    (void)memcpy(bytes, &bench->flash[address], length);
    return true;
}

/* What a cut leaves: the bytes before it are new, the byte at it is between old and new, and the others are old. */
static bool change(struct bench *bench, uint32_t address, const uint8_t *bytes, uint32_t length)
{
    if (((size_t)address + length) > sizeof bench->flash) {
        abort();
    }
    for (uint32_t at = 0; at < length; at++) {
        uint8_t mask = 0xFF;

        if (bench->budget == 0) {
            draw(bench, &mask, 1);
        }
        bench->flash[address + at] = (uint8_t)((bench->flash[address + at] & ~mask) | (bytes[at] & mask));
        if (bench->budget == 0) {
            return false;
        }
        if (bench->budget > 0) {
            bench->budget--;
        }
    }
    bench->written += length;
    return true;
}

static bool program_flash(void *context, uint32_t address, const uint8_t *bytes, uint32_t length)
{
    struct bench *bench = context;
    uint8_t wanted[JOURNAL_STEP_BYTES];

    if (length > sizeof wanted) {
        abort();
    }
    for (uint32_t at = 0; at < length; at++) {
        bench->reprogrammed += (bench->flash[address + at] == 0xFFu) ? 0u : 1u;
        wanted[at] = bench->flash[address + at] & bytes[at];
    }
    if ((bench->weak != 0u) && (bench->weak <= address) && (((address - bench->weak) % bench->weak_every) == 0u)) {
        return true;
    }
    return change(bench, address, wanted, length);
}

static bool erase_flash(void *context, uint32_t address)
{
    struct bench *bench = context;
    uint8_t blank[BENCH_SECTOR_BYTES];

    (void)memset(blank, 0xFF, sizeof blank);
    bench->erased++;
    return change(bench, address, blank, sizeof blank);
}

static bool happened(void *context, struct shoe_event *event)
{
    const struct bench *bench = context;

    *event = bench->event;
    return bench->pending;
}

static void stored(void *context, uint32_t position)
{
    struct bench *bench = context;

    bench->stored = position;
    if (bench->pending && (bench->event.position == position)) {
        bench->pending = false;
    }
}

static bool lid_is_open(void *context)
{
    return ((const struct bench *)context)->lid_open;
}

static uint8_t decks(void *context)
{
    return ((const struct bench *)context)->decks;
}

static void obey(void *context, const struct shoe_orders *orders)
{
    ((struct bench *)context)->orders = *orders;
}

static const struct shoe_fault faults[] = {{17, "reader window dirty"}, {18, ""}};
/* The longest HELLO: eight parts with the longest texts, and digests without a zero. */
#define LONGEST_TEXT "the longest name or version....."
#define DIGEST (const uint8_t *)"these bytes are not a hash value"
#define LONGEST_PART {LONGEST_TEXT, LONGEST_TEXT, DIGEST}
static const struct shoe_part parts[] = {
    {"reader", "2.4.1", DIGEST}, LONGEST_PART, LONGEST_PART, LONGEST_PART,
    LONGEST_PART,                LONGEST_PART, LONGEST_PART, LONGEST_PART,
};

void bench_begin(struct bench *bench, const char *serial, const uint8_t *key, uint16_t room, uint64_t seed)
{
    (void)memset(bench, 0, sizeof *bench);
    (void)memset(bench->flash, 0xFF, sizeof bench->flash);
    bench->random = seed;
    bench->budget = -1;
    bench->line_takes = sizeof bench->out;
    if (key != NULL) {
        (void)memcpy(bench->key, key, sizeof bench->key);
    }
    bench->identity = (struct shoe_identity){
        .serial = serial,
        .parts = parts,
        .part_count = sizeof parts / sizeof parts[0],
        .faults = faults,
        .fault_count = 2,
        .key = (key == NULL) ? NULL : bench->key,
        .room = room,
    };
    bench->storage = (struct storage){
        bench, BENCH_SECTOR_BYTES, BENCH_SECTORS, read_flash, program_flash, erase_flash,
    };
    bench->reader = (struct shoe_reader){bench, happened, stored, lid_is_open, decks, obey};
    bench->line = (struct link_line){bench, read_line, write_line, draw};
}

struct bench *bench_new(const char *serial, const uint8_t *key, uint16_t room, uint64_t seed)
{
    struct bench *bench = malloc(sizeof *bench);

    if (bench == NULL) {
        abort();
    }
    bench_begin(bench, serial, key, room, seed);
    return bench;
}

void bench_free(struct bench *bench)
{
    free(bench);
}

bool bench_power_on(struct bench *bench, long budget, uint32_t now)
{
    bench->budget = budget;
    bench->in_length = 0;
    bench->out_length = 0;
    (void)memset(&bench->shoe, 0xA5, sizeof bench->shoe);
    return shoe_power_on(&bench->shoe, &bench->identity, &bench->storage, &bench->reader, &bench->line, now);
}

bool bench_turn(struct bench *bench, uint32_t now)
{
    return shoe_turn(&bench->shoe, now);
}

size_t bench_host_says(struct bench *bench, const uint8_t *bytes, size_t length)
{
    const size_t room = sizeof bench->in - bench->in_length;

    length = (length < room) ? length : room;
    (void)memcpy(&bench->in[bench->in_length], bytes, length);
    bench->in_length += length;
    return length;
}

size_t bench_take(struct bench *bench, uint8_t *bytes, size_t room)
{
    const size_t length = (bench->out_length < room) ? bench->out_length : room;

    (void)memcpy(bytes, bench->out, length);
    bench->out_length -= length;
    (void)memmove(bench->out, &bench->out[length], bench->out_length);
    return length;
}

void bench_event(struct bench *bench, int kind, char rank, char suit, uint8_t confidence, uint16_t fault, uint32_t position)
{
    bench->event = (struct shoe_event){(enum shoe_event_kind)kind, rank, suit, confidence, fault, position};
    bench->pending = true;
}

void bench_draw_next(struct bench *bench, const uint8_t drawn[16])
{
    (void)memcpy(bench->drawn, drawn, sizeof bench->drawn);
    bench->fixed = true;
}

void bench_weaken(struct bench *bench, uint32_t address, uint32_t every)
{
    bench->weak = address;
    bench->weak_every = every;
}

void bench_forget_event(struct bench *bench)
{
    bench->pending = false;
}

void bench_set(struct bench *bench, bool lid_open, uint8_t decks_inside, size_t line_takes)
{
    bench->lid_open = lid_open;
    bench->decks = decks_inside;
    bench->line_takes = line_takes;
}

uint8_t *bench_flash(struct bench *bench)
{
    return bench->flash;
}

void bench_look(const struct bench *bench, uint32_t seen[BENCH_SEEN])
{
    const struct shoe *shoe = &bench->shoe;
    const struct link_counts *counts = &shoe->link.counts;
    const uint32_t all[BENCH_SEEN] = {
        shoe->facts.log, shoe->facts.first_kept, shoe->facts.next_record, shoe->next_to_send, shoe->facts.position,
        shoe->locked, shoe->sending, shoe->halted, bench->orders.gate_open, bench->orders.load, bench->orders.lamps,
        bench->pending, (uint32_t)(bench->in_length + shoe->link.arrived_to - shoe->link.arrived_from), bench->stored, (uint32_t)bench->written, bench->erased, bench->reprogrammed,
        counts->oversize, counts->bad_framing, counts->bad_crc, counts->other_version, counts->not_sealed,
        counts->repeated, counts->unknown_type, counts->malformed,
    };

    (void)memcpy(seen, all, sizeof all);
}
