/* What a shoe must not forget, as a ring of steps in flash memory. It survives a loss of power at any byte.
 *
 * Each step is one write of 32 bytes that holds all facts of the shoe and at most one record, so the memory never has a fact
 * without its record. The last whole step is what counts; a step that was cut off has a wrong CRC, and is skipped. Before the
 * ring comes around to a sector, the sector is erased. A record that the host has not acknowledged is given up only if the ring
 * is too small for it, and `first_kept` then shows the host that it is gone.
 */

#ifndef PUNTO_JOURNAL_H
#define PUNTO_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#define JOURNAL_STEP_BYTES 32u
#define JOURNAL_PAYLOAD_BYTES 4u

/* What the board provides: NOR flash, or something that behaves so. Addresses count from the beginning of the ring.
 *
 * `program` and `erase` return when the bytes are safe, and false if they are not; then the shoe stops. A sector is a multiple
 * of 32 bytes, and reads as FF after it was erased. Each byte is programmed once between two erasures.
 */
struct storage {
    void *context;
    uint32_t sector_bytes;
    uint32_t sectors; /* at least 3 */
    bool (*read)(void *context, uint32_t address, uint8_t *bytes, uint32_t length);
    bool (*program)(void *context, uint32_t address, const uint8_t *bytes, uint32_t length);
    bool (*erase)(void *context, uint32_t address);
};

/* The facts of the shoe, with the record that made them so; `type` is 0 if there is no record. */
struct step {
    uint32_t step; /* counts the steps; the highest is the last */
    uint32_t log;
    uint32_t next_record;
    uint32_t first_kept;
    uint32_t position; /* of the reader's last event */
    uint8_t decks;
    uint8_t flags;
    uint8_t type;
    uint8_t length;
    uint8_t payload[JOURNAL_PAYLOAD_BYTES];
};

struct journal {
    const struct storage *storage;
    uint32_t next;   /* the place for the next step */
    uint32_t cursor; /* the place at which the search for a record begins */
};

enum journal_found {
    JOURNAL_WHOLE,   /* `last` is the last step, and the ring has each record that it speaks of */
    JOURNAL_DAMAGED, /* `last` is the last step, but a record is missing */
    JOURNAL_EMPTY,   /* there is no step */
    JOURNAL_UNUSABLE /* the storage cannot be read, or has another size */
};

/* Look through the ring, at power-on. */
enum journal_found journal_open(struct journal *journal, const struct storage *storage, struct step *last);

/* Write a step, and return when it is safe; false if it is not. `first_kept` is raised if records have to be given up. */
bool journal_append(struct journal *journal, struct step *step);

/* Find a record of this log; false if the ring does not have it. The next search is quick if it is for the next record. */
bool journal_find(struct journal *journal, uint32_t log, uint32_t number, struct step *found);

#endif
