#ifndef PUNTO_TESTS_BENCH_H
#define PUNTO_TESTS_BENCH_H

#include "shoe/shoe.h"

#define BENCH_SECTOR_BYTES 1024u
#define BENCH_SECTORS (4u + (SHOE_STEPS / (BENCH_SECTOR_BYTES / JOURNAL_STEP_BYTES)))
#define BENCH_SEEN 25u

struct bench {
    struct shoe shoe;
    struct shoe_identity identity;
    struct storage storage;
    struct shoe_reader reader;
    struct link_line line;
    uint8_t key[LINK_KEY_BYTES];
    uint8_t flash[BENCH_SECTOR_BYTES * BENCH_SECTORS];
    uint8_t in[65536];
    size_t in_length;
    uint8_t out[65536];
    size_t out_length;
    size_t line_takes; /* bytes in one write */
    struct shoe_event event;
    bool pending;
    bool lid_open;
    uint8_t decks;
    uint32_t stored;
    struct shoe_orders orders;
    uint64_t random;
    uint8_t drawn[16]; /* the next random bytes, if `fixed` */
    bool fixed;
    long budget; /* bytes until the power is cut; -1 for never */
    uint64_t written;
    uint32_t erased;
    uint32_t reprogrammed; /* places that were programmed although they were not blank */
    uint32_t weak; /* the address of the first place that looks blank and keeps nothing; 0 if there is none */
    uint32_t weak_every; /* bytes from there to the next one */
};

void bench_begin(struct bench *bench, const char *serial, const uint8_t *key, uint16_t room, uint64_t seed);
struct bench *bench_new(const char *serial, const uint8_t *key, uint16_t room, uint64_t seed);
void bench_free(struct bench *bench);
bool bench_power_on(struct bench *bench, long budget, uint32_t now);
bool bench_turn(struct bench *bench, uint32_t now);
size_t bench_host_says(struct bench *bench, const uint8_t *bytes, size_t length);
size_t bench_take(struct bench *bench, uint8_t *bytes, size_t room);
void bench_event(struct bench *bench, int kind, char rank, char suit, uint8_t confidence, uint16_t fault, uint32_t position);
void bench_draw_next(struct bench *bench, const uint8_t drawn[16]);
void bench_weaken(struct bench *bench, uint32_t address, uint32_t every);
void bench_forget_event(struct bench *bench);
void bench_set(struct bench *bench, bool lid_open, uint8_t decks_inside, size_t line_takes);
uint8_t *bench_flash(struct bench *bench);
void bench_look(const struct bench *bench, uint32_t seen[BENCH_SEEN]);

#endif
