/* A board for tests: the BBC micro:bit (nRF51822, Cortex-M0) as QEMU simulates it, with a mechanism that deals by itself.
 *
 * Its line is the UART, its storage the upper part of the flash memory. test_microbit.py is its host, and resets it.
 */

#include "board/board.h"

#define PAGE_BYTES 1024u
#define PAGES 74u
#define RING_AT ((256u - PAGES) * PAGE_BYTES)
#define CUT_CARD_EVERY 60u
#define CUT_CARD_AT 40u

extern uint32_t bss_begin[];
extern uint32_t bss_end[];
extern const uint8_t image_bytes[]; /* its address is a number */

static volatile uint32_t *reg(uint32_t address)
{
    return (volatile uint32_t *)address;
}

enum {
    CLOCK_HFCLKSTART = 0x40000000,
    UART_STARTRX = 0x40002000,
    UART_STARTTX = 0x40002008,
    UART_RXDRDY = 0x40002108,
    UART_TXDRDY = 0x4000211C,
    UART_ENABLE = 0x40002500,
    UART_PSELTXD = 0x4000250C,
    UART_PSELRXD = 0x40002514,
    UART_RXD = 0x40002518,
    UART_TXD = 0x4000251C,
    UART_BAUDRATE = 0x40002524,
    TIMER_START = 0x40008000,
    TIMER_CAPTURE = 0x40008040,
    TIMER_BITMODE = 0x40008508,
    TIMER_PRESCALER = 0x40008510,
    TIMER_CC = 0x40008540,
    RNG_START = 0x4000D000,
    RNG_VALRDY = 0x4000D100,
    RNG_VALUE = 0x4000D508,
    NVMC_READY = 0x4001E400,
    NVMC_CONFIG = 0x4001E504,
    NVMC_ERASEPAGE = 0x4001E508,
};

/* --- the line */

static bool sending;

static size_t read_line(void *context, uint8_t *bytes, size_t room)
{
    size_t count = 0;

    (void)context;
    while ((count < room) && (*reg(UART_RXDRDY) != 0u)) {
        *reg(UART_RXDRDY) = 0;
        bytes[count] = (uint8_t)*reg(UART_RXD);
        count++;
    }
    return count;
}

static size_t write_line(void *context, const uint8_t *bytes, size_t length)
{
    size_t count = 0;

    (void)context;
    while (count < length) {
        if (sending && (*reg(UART_TXDRDY) == 0u)) {
            return count;
        }
        *reg(UART_TXDRDY) = 0;
        *reg(UART_TXD) = bytes[count];
        sending = true;
        count++;
    }
    return count;
}

static void draw(void *context, uint8_t *bytes, size_t length)
{
    (void)context;
    *reg(RNG_START) = 1;
    for (size_t at = 0; at < length; at++) {
        *reg(RNG_VALRDY) = 0;
        while (*reg(RNG_VALRDY) == 0u) {
        }
        bytes[at] = (uint8_t)*reg(RNG_VALUE);
    }
}

const struct link_line board_line = {.read = read_line, .write = write_line, .random = draw};

/* --- the storage */

static void wait_for_flash(uint32_t config)
{
    while (*reg(NVMC_READY) == 0u) {
    }
    *reg(NVMC_CONFIG) = config;
}

static bool read_flash(void *context, uint32_t address, uint8_t *bytes, uint32_t length)
{
    const volatile uint8_t *from = (const volatile uint8_t *)(RING_AT + address);

    (void)context;
    for (uint32_t at = 0; at < length; at++) {
        bytes[at] = from[at];
    }
    return true;
}

static bool program_flash(void *context, uint32_t address, const uint8_t *bytes, uint32_t length)
{
    (void)context;
    wait_for_flash(1);
    for (uint32_t at = 0; at < length; at += 4u) {
        *reg(RING_AT + address + at) = (uint32_t)bytes[at] | ((uint32_t)bytes[at + 1u] << 8) |
                                       ((uint32_t)bytes[at + 2u] << 16) | ((uint32_t)bytes[at + 3u] << 24);
    }
    wait_for_flash(0);
    return true;
}

static bool erase_flash(void *context, uint32_t address)
{
    (void)context;
    wait_for_flash(2);
    *reg(NVMC_ERASEPAGE) = RING_AT + address;
    wait_for_flash(0);
    return true;
}

const struct storage board_storage = {
    .sector_bytes = PAGE_BYTES, .sectors = PAGES, .read = read_flash, .program = program_flash, .erase = erase_flash,
};

/* --- the reader: the card is a function of its position, so that the test knows each */

static uint32_t position;
static bool gate_open;
static bool lid_open;

static bool happened(void *context, struct shoe_event *event)
{
    const uint32_t next = position + 1u;

    (void)context;
    event->position = next;
    if ((next % CUT_CARD_EVERY) == CUT_CARD_AT) {
        event->kind = SHOE_CUT_CARD;
        return true;
    }
    event->kind = SHOE_CARD;
    event->rank = "A23456789TJQK"[(next * 5u) % 13u];
    event->suit = "SHDC"[(next * 3u) % 4u];
    event->confidence = 99;
    return gate_open;
}

static void stored(void *context, uint32_t last)
{
    (void)context;
    position = last;
    gate_open = false;
}

static bool lid_is_open(void *context)
{
    (void)context;
    return lid_open;
}

static uint8_t decks(void *context)
{
    (void)context;
    return 0;
}

static void obey(void *context, const struct shoe_orders *orders)
{
    (void)context;
    gate_open = orders->gate_open;
    lid_open = orders->load;
}

const struct shoe_reader board_reader = {
    .happened = happened, .stored = stored, .lid_is_open = lid_is_open, .decks = decks, .obey = obey,
};

/* --- the start */

int main(void);

static void begin(void)
{
    for (uint32_t *at = bss_begin; at < bss_end; at++) {
        *at = 0;
    }
    (void)main();
}

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t stack;
    void (*begin)(void);
    void (*others[14])(void);
} vectors = {0x20004000, begin, {0}};

/* --- the rest */

const struct shoe_fault board_faults[] = {{17, "reader window dirty"}};
const uint8_t board_fault_count = 1;
const uint8_t *const board_program = (const uint8_t *)&vectors;
const size_t board_program_bytes = (size_t)image_bytes;

const char *board_serial(void)
{
    return "MB-000001";
}

const uint8_t *board_key(void)
{
#ifdef SEALED
    static const uint8_t key[LINK_KEY_BYTES] = SEALED;

    return key;
#else
    return NULL;
#endif
}

void board_begin(void)
{
    *reg(CLOCK_HFCLKSTART) = 1;
    *reg(UART_PSELTXD) = 24;
    *reg(UART_PSELRXD) = 25;
    *reg(UART_BAUDRATE) = 0x01D7E000;
    *reg(UART_ENABLE) = 4;
    *reg(UART_STARTTX) = 1;
    *reg(UART_STARTRX) = 1;
    *reg(TIMER_BITMODE) = 3;
    *reg(TIMER_PRESCALER) = 4; /* a microsecond */
    *reg(TIMER_START) = 1;
}

uint32_t board_now(void)
{
    static uint32_t milliseconds;
    static uint32_t counted; /* microseconds */

    *reg(TIMER_CAPTURE) = 1;
    while ((*reg(TIMER_CC) - counted) >= 1000u) {
        counted += 1000u;
        milliseconds++;
    }
    return milliseconds;
}

void board_feed_watchdog(void)
{
}

void board_stop(void)
{
    for (;;) {
    }
}

void *memcpy(void *to, const void *from, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        ((uint8_t *)to)[at] = ((const uint8_t *)from)[at];
    }
    return to;
}

void *memset(void *to, int value, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        ((uint8_t *)to)[at] = (uint8_t)value;
    }
    return to;
}
