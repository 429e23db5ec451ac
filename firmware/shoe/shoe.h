/* A card-recognition shoe: its end of docs/reference/ishoe-link.md, parts 4 to 6, without the hardware.
 *
 * The board fills in three interfaces: `link_line` (link/link.h), `storage` (shoe/journal.h) and `shoe_reader` (here). Its
 * main loop calls `shoe_turn` again and again, at least every 10 ms. docs/how-to/build-a-shoe.md is the guide.
 *
 * A record is safe in the storage before it is sent and before the reader is told of it. No function waits, except for the
 * storage, and no memory is allocated.
 */

#ifndef PUNTO_SHOE_H
#define PUNTO_SHOE_H

#include <stdbool.h>
#include <stdint.h>

#include "link/link.h"
#include "shoe/journal.h"

#ifndef SHOE_ROOM        /* the fuzzer has less, so that its ring comes around */
#define SHOE_ROOM 1024u  /* records that fill the shoe, the fewest that the page allows */
#endif
#define SHOE_RESERVE 64u /* further places, for what a full shoe cannot hold back */
#define SHOE_DIGEST_BYTES 32u

/* Each acknowledgement takes a step as each record does, and a sector is blank; the rest is for steps that were cut off. */
#define SHOE_STEPS (2u * (SHOE_ROOM + SHOE_RESERVE) + 64u)

enum shoe_event_kind { SHOE_CARD, SHOE_UNREAD, SHOE_CUT_CARD, SHOE_PUSHED_BACK, SHOE_FAULT };

/* Something that has happened in the shoe. */
struct shoe_event {
    enum shoe_event_kind kind;
    char rank; /* of SHOE_CARD: one of A23456789TJQK */
    char suit; /* one of SHDC */
    uint8_t confidence; /* 0 to 100 */
    uint16_t fault; /* of SHOE_FAULT: a code of the table `faults` */
    uint32_t position; /* of this event among all of the reader's events; 0 if the reader does not count them */
};

enum shoe_prompt { SHOE_PROMPT_NONE = 0, SHOE_PROMPT_PLAYER = 1, SHOE_PROMPT_BANKER = 2, SHOE_PROMPT_BURN = 3 };

/* What the mechanism must do now. */
struct shoe_orders {
    bool gate_open; /* one card may come out; the gate closes behind it, until the next turn opens it again */
    bool load;      /* the cards must be changed: a person or a motor opens the shoe */
    uint8_t lamps;  /* bits 0 to 2: Player, Banker, Tie; bits 4 and 5: enum shoe_prompt */
};

/* What the board provides of the mechanism. All of it returns at once. */
struct shoe_reader {
    void *context;
    /* The next event, the same one until `stored` was called; false if nothing has happened. */
    bool (*happened)(void *context, struct shoe_event *event);
    /* The event with this position is safe. Also called at power-on, with the position of the last event that is. */
    void (*stored)(void *context, uint32_t position);
    bool (*lid_is_open)(void *context);
    /* The number of whole decks that were loaded; 0 if it is not known, or if the last card is out. */
    uint8_t (*decks)(void *context);
    void (*obey)(void *context, const struct shoe_orders *orders);
};

/* A part of the software, for HELLO. The digest is SHA-256 of the part as it is installed. */
struct shoe_part {
    const char *name;
    const char *version;
    const uint8_t *digest;
};

/* The text of a fault, in printable ASCII, at most 200 characters. */
struct shoe_fault {
    uint16_t code;
    const char *text;
};

struct shoe_identity {
    const char *serial; /* 1 to 32 printable ASCII characters without spaces */
    const struct shoe_part *parts;
    uint8_t part_count; /* at most 8 */
    const struct shoe_fault *faults;
    uint8_t fault_count;
    const uint8_t *key; /* 32 bytes, or NULL for version 1 of the link */
    uint16_t room;      /* SHOE_ROOM, or less in a test */
};

struct shoe {
    const struct shoe_identity *identity;
    const struct shoe_reader *reader;
    struct link link;
    struct journal journal;
    struct step facts; /* the last step in the storage */
    uint32_t next_to_send;
    uint32_t last_command;
    uint32_t beat_at;
    uint8_t lamps;
    bool locked;
    bool sending;
    bool hello_due;
    bool halted;
};

/* Begin as after a loss of power: with what is in the storage, locked and dark. All that is passed must stay where it is.
 *
 * Returns false if the identity cannot be sent, or if the storage cannot be used: too small, not readable, not writable. */
bool shoe_power_on(struct shoe *shoe, const struct shoe_identity *identity, const struct storage *storage,
                   const struct shoe_reader *reader, const struct link_line *line, uint32_t now);

/* Do all that is due at `now`, in milliseconds of a clock that may wrap. Returns false if the storage has failed: then the shoe
 * sends nothing and lets no card out, because it cannot remember one; switch it off and on. */
bool shoe_turn(struct shoe *shoe, uint32_t now);

#endif
