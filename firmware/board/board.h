/* What a board fills in: docs/how-to/build-a-shoe.md. Its own software kit has the start-up code and the drivers.
 *
 * `board_line`, `board_storage` and `board_reader` are the interfaces of link/link.h, shoe/journal.h and shoe/shoe.h.
 */

#ifndef PUNTO_BOARD_H
#define PUNTO_BOARD_H

#include "shoe/shoe.h"

extern const struct link_line board_line;
extern const struct storage board_storage;
extern const struct shoe_reader board_reader;
extern const struct shoe_fault board_faults[];
extern const uint8_t board_fault_count;

/* The program as it is installed: HELLO has its digest. */
extern const uint8_t *const board_program;
extern const size_t board_program_bytes;

/* The serial number and the key of this piece, which were written when it was made; NULL for version 1 of the link. */
const char *board_serial(void);
const uint8_t *board_key(void);

void board_begin(void);
uint32_t board_now(void); /* milliseconds since any time */
void board_feed_watchdog(void);

/* Show that the shoe is out of order, and stay there until a person switches it off and on. */
_Noreturn void board_stop(void);

#endif
