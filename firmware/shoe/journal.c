#include "shoe/journal.h"

#include "link/bytes.h"
#include "link/crc32.h"

#define CRC_AT 28u
#define BLANK 0xFFFFFFFFu /* the number that no step has, because a blank place reads so */
#define LEAST_SECTORS 3u

static uint32_t places_in_sector(const struct storage *storage)
{
    return storage->sector_bytes / JOURNAL_STEP_BYTES;
}

static uint32_t places(const struct storage *storage)
{
    return storage->sectors * places_in_sector(storage);
}

static uint32_t after(const struct storage *storage, uint32_t place)
{
    return ((place + 1u) == places(storage)) ? 0u : (place + 1u);
}

static void pack(uint8_t bytes[JOURNAL_STEP_BYTES], const struct step *step)
{
    put_u32(&bytes[0], step->step);
    put_u32(&bytes[4], step->log);
    put_u32(&bytes[8], step->next_record);
    put_u32(&bytes[12], step->first_kept);
    put_u32(&bytes[16], step->position);
    bytes[20] = step->decks;
    bytes[21] = step->flags;
    bytes[22] = step->type;
    bytes[23] = step->length;
    copy_bytes(&bytes[24], step->payload, JOURNAL_PAYLOAD_BYTES);
    put_u32(&bytes[CRC_AT], crc32(bytes, CRC_AT));
}

/* Whether a place has a whole step. */
static bool read_step(const struct storage *storage, uint32_t place, struct step *step)
{
    uint8_t bytes[JOURNAL_STEP_BYTES];

    if (!storage->read(storage->context, place * JOURNAL_STEP_BYTES, bytes, sizeof bytes)) {
        return false;
    }
    if ((get_u32(&bytes[0]) == BLANK) || (get_u32(&bytes[CRC_AT]) != crc32(bytes, CRC_AT))) {
        return false;
    }
    step->step = get_u32(&bytes[0]);
    step->log = get_u32(&bytes[4]);
    step->next_record = get_u32(&bytes[8]);
    step->first_kept = get_u32(&bytes[12]);
    step->position = get_u32(&bytes[16]);
    step->decks = bytes[20];
    step->flags = bytes[21];
    step->type = bytes[22];
    step->length = bytes[23];
    copy_bytes(step->payload, &bytes[24], JOURNAL_PAYLOAD_BYTES);
    return step->length <= JOURNAL_PAYLOAD_BYTES;
}

static bool is_blank(const struct storage *storage, uint32_t place)
{
    uint8_t bytes[JOURNAL_STEP_BYTES];

    if (!storage->read(storage->context, place * JOURNAL_STEP_BYTES, bytes, sizeof bytes)) {
        return false;
    }
    for (uint32_t at = 0; at < JOURNAL_STEP_BYTES; at++) {
        if (bytes[at] != 0xFFu) {
            return false;
        }
    }
    return true;
}

/* Whether each record that `last` speaks of is there, in order. The oldest step is the first of the sector after the last one's. */
static bool has_all_records(struct journal *journal, const struct step *last, uint32_t place_of_last)
{
    const struct storage *storage = journal->storage;
    const uint32_t sector = place_of_last / places_in_sector(storage);
    uint32_t place = ((sector + 1u) % storage->sectors) * places_in_sector(storage);
    uint32_t expected = last->first_kept;

    journal->cursor = place;
    for (uint32_t looked = 0; looked < places(storage); looked++) {
        struct step found;

        if (read_step(storage, place, &found) && (found.type != 0u) && (found.log == last->log) &&
            (found.next_record == (expected + 1u))) {
            if (expected == last->first_kept) {
                journal->cursor = place;
            }
            expected++;
        }
        place = after(storage, place);
    }
    return expected == last->next_record;
}

enum journal_found journal_open(struct journal *journal, const struct storage *storage, struct step *last)
{
    bool any = false;
    uint32_t place_of_last = 0;

    journal->storage = storage;
    journal->next = 0;
    journal->cursor = 0;
    if ((storage->sectors < LEAST_SECTORS) || (storage->sector_bytes < JOURNAL_STEP_BYTES) ||
        ((storage->sector_bytes % JOURNAL_STEP_BYTES) != 0u)) {
        return JOURNAL_UNUSABLE;
    }
    for (uint32_t place = 0; place < places(storage); place++) {
        struct step found;

        if (read_step(storage, place, &found) && (!any || (found.step > last->step))) {
            any = true;
            place_of_last = place;
            *last = found;
        }
    }
    if (!any) {
        return JOURNAL_EMPTY;
    }
    journal->next = after(storage, place_of_last);
    return has_all_records(journal, last, place_of_last) ? JOURNAL_WHOLE : JOURNAL_DAMAGED;
}

/* Erase the sector that begins at the next place. Records in it that the host has not acknowledged are given up. */
static bool make_room(const struct journal *journal, struct step *step)
{
    const struct storage *storage = journal->storage;

    for (uint32_t at = 0; at < places_in_sector(storage); at++) {
        struct step old;

        if (read_step(storage, journal->next + at, &old) && (old.type != 0u) && (old.log == step->log) &&
            (old.next_record > step->first_kept)) {
            step->first_kept = old.next_record;
        }
    }
    return storage->erase(storage->context, journal->next * JOURNAL_STEP_BYTES);
}

/* Program a step at a place and read it back, because a worn place may not keep it. */
static bool program(const struct storage *storage, uint32_t place, const struct step *step, bool *kept)
{
    uint8_t bytes[JOURNAL_STEP_BYTES];
    uint8_t written[JOURNAL_STEP_BYTES];

    pack(bytes, step);
    if (!storage->program(storage->context, place * JOURNAL_STEP_BYTES, bytes, sizeof bytes) ||
        !storage->read(storage->context, place * JOURNAL_STEP_BYTES, written, sizeof written)) {
        return false;
    }
    *kept = true;
    for (uint32_t at = 0; at < JOURNAL_STEP_BYTES; at++) {
        *kept = *kept && (bytes[at] == written[at]);
    }
    return true;
}

bool journal_append(struct journal *journal, struct step *step)
{
    const struct storage *storage = journal->storage;

    /* A storage that keeps nothing in a whole sector is worn out: to go on would erase what the other sectors still have. */
    for (uint32_t tried = 0; tried <= places_in_sector(storage); tried++) {
        const uint32_t place = journal->next;
        bool kept = false;

        if (((place % places_in_sector(storage)) == 0u) && !make_room(journal, step)) {
            return false;
        }
        journal->next = after(storage, place);
        /* A place that is not blank has the rest of a step that was cut off. */
        if (is_blank(storage, place)) {
            if (!program(storage, place, step, &kept)) {
                return false;
            }
            if (kept) {
                return true;
            }
        }
    }
    return false;
}

bool journal_find(struct journal *journal, uint32_t log, uint32_t number, struct step *found)
{
    const struct storage *storage = journal->storage;
    uint32_t place = journal->cursor;

    for (uint32_t looked = 0; looked < places(storage); looked++) {
        if (read_step(storage, place, found) && (found->type != 0u) && (found->log == log) &&
            (found->next_record == (number + 1u))) {
            journal->cursor = place;
            return true;
        }
        place = after(storage, place);
    }
    return false;
}
