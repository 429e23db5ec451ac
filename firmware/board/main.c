/* The main program of a shoe on a board without an operating system. */

#include "board/board.h"

#include "link/sha256.h"

static uint8_t digest[SHA256_BYTES];
static const struct shoe_part part = {.name = "punto-firmware", .version = "1", .digest = digest};
static struct shoe_identity identity;
static struct shoe shoe;

int main(void)
{
    struct sha256 hash;

    board_begin();
    sha256_begin(&hash);
    sha256_add(&hash, board_program, board_program_bytes);
    sha256_end(&hash, digest);
    identity = (struct shoe_identity){
        .serial = board_serial(),
        .parts = &part,
        .part_count = 1,
        .faults = board_faults,
        .fault_count = board_fault_count,
        .key = board_key(),
        .room = SHOE_ROOM,
    };
    if (!shoe_power_on(&shoe, &identity, &board_storage, &board_reader, &board_line, board_now())) {
        board_stop();
    }
    while (shoe_turn(&shoe, board_now())) {
        board_feed_watchdog();
    }
    board_stop();
}
