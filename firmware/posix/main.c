/* The shoe on a POSIX system: a pseudo-terminal or a serial port is its line, a file its memory, and lines of text its reader.
 *
 * It is what the tests run, and a beginning for a shoe on a Linux board. The program at the standard input is the mechanism:
 * it writes what happens in the shoe, and reads from the standard output what it has to do.
 *
 *     lid open | lid closed           how the lid is: the first line, and whenever it is moved
 *     decks N                         how many decks are in it
 *     POSITION card 9S 98             a card left, read with this confidence
 *     POSITION unread|cut|back        a card left unread; the cut card came; a card was pushed back
 *     POSITION fault CODE             a fault
 *
 *     line PATH                       the host's end of the line
 *     stored POSITION                 the event with this number is safe, and those before it; also at the start
 *     orders gate=0|1 load=0|1 lamps=N
 *
 * A mechanism that writes each event again until it is stored, in order and with its number, loses none and doubles none.
 */

#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "posix/flash_file.h"
#include "shoe/shoe.h"

#define TURN_MS 10
#define LONGEST_LINE 128u

struct mechanism {
    char text[4096]; /* lines that have come and are not taken yet */
    size_t length;
    bool ended;
    bool lid_open;
    uint8_t decks;
    uint32_t stored;
    struct shoe_orders orders;
};

struct options {
    const char *link;
    const char *port;
    const char *store;
    const char *serial;
    const char *key_file;
    long cut_after;
};

static const struct shoe_fault faults[] = {
    {17, "reader window dirty"},
    {18, "card jammed"},
};

static _Noreturn void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "shoe: %s: %s\n", what, why);
    exit(1);
}

/* --- the line */

static size_t read_line(void *context, uint8_t *bytes, size_t room)
{
    const ssize_t count = read(*(const int *)context, bytes, room);

    return (count > 0) ? (size_t)count : 0u;
}

static size_t write_line(void *context, const uint8_t *bytes, size_t length)
{
    const ssize_t count = write(*(const int *)context, bytes, length);

    return (count > 0) ? (size_t)count : 0u;
}

static void draw(void *context, uint8_t *bytes, size_t length)
{
    (void)context;
    if (getentropy(bytes, length) != 0) {
        fail("no random bytes", strerror(errno));
    }
}

static void set_raw(int descriptor)
{
    struct termios settings;

    if (tcgetattr(descriptor, &settings) != 0) {
        fail("the line is not a terminal", strerror(errno));
    }
    cfmakeraw(&settings);
    (void)cfsetspeed(&settings, B115200);
    if (tcsetattr(descriptor, TCSANOW, &settings) != 0) {
        fail("cannot set the line", strerror(errno));
    }
}

/* A pseudo-terminal, whose other end stays open here too, so that the line stays while hosts come and go. */
static int open_line(const struct options *options)
{
    const char *path = options->port;
    int line;

    if (path != NULL) {
        line = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
        if (line < 0) {
            fail(path, strerror(errno));
        }
        set_raw(line);
    } else {
        char new_link[LONGEST_LINE * 4u];
        int other;

        line = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if ((line < 0) || (grantpt(line) != 0) || (unlockpt(line) != 0)) {
            fail("no pseudo-terminal", strerror(errno));
        }
        path = ptsname(line);
        other = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if ((other < 0) || (fcntl(line, F_SETFL, O_NONBLOCK) != 0)) {
            fail(path, strerror(errno));
        }
        set_raw(other);
        if (options->link != NULL) {
            (void)snprintf(new_link, sizeof new_link, "%s.%ld", options->link, (long)getpid());
            if ((symlink(path, new_link) != 0) || (rename(new_link, options->link) != 0)) {
                fail(options->link, strerror(errno));
            }
        }
    }
    (void)printf("line %s\n", path);
    return line;
}

/* --- the mechanism, as its reader */

/* The first line that has come, without its end; NULL if none is whole. */
static const char *first_line(struct mechanism *mechanism)
{
    static char line[LONGEST_LINE];
    const char *end = memchr(mechanism->text, '\n', mechanism->length);
    size_t length;

    if (end == NULL) {
        return NULL;
    }
    length = (size_t)(end - mechanism->text);
    if (length >= sizeof line) {
        fail("a line of the reader is too long", "write one of those that main.c describes");
    }
    (void)memcpy(line, mechanism->text, length);
    line[length] = '\0';
    return line;
}

static void drop_line(struct mechanism *mechanism)
{
    const char *end = memchr(mechanism->text, '\n', mechanism->length);

    if (end != NULL) {
        const size_t taken = (size_t)(end - mechanism->text) + 1u;

        mechanism->length -= taken;
        (void)memmove(mechanism->text, &mechanism->text[taken], mechanism->length);
    }
}

static bool read_event(const char *line, struct shoe_event *event)
{
    unsigned position = 0;
    unsigned number = 0;
    char word[LONGEST_LINE];
    char rank = '?';
    char suit = '?';

    if (sscanf(line, "%u %127s", &position, word) != 2) {
        return false;
    }
    event->position = position;
    if (sscanf(line, "%u card %c%c %u", &position, &rank, &suit, &number) == 4) {
        event->kind = SHOE_CARD;
        event->rank = rank;
        event->suit = suit;
        event->confidence = (number > 255u) ? 255u : (uint8_t)number;
    } else if (sscanf(line, "%u fault %u", &position, &number) == 2) {
        event->kind = SHOE_FAULT;
        event->fault = (uint16_t)(number & 0xFFFFu);
    } else if (strcmp(word, "unread") == 0) {
        event->kind = SHOE_UNREAD;
    } else if (strcmp(word, "cut") == 0) {
        event->kind = SHOE_CUT_CARD;
    } else if (strcmp(word, "back") == 0) {
        event->kind = SHOE_PUSHED_BACK;
    } else {
        return false;
    }
    return true;
}

static bool happened(void *context, struct shoe_event *event)
{
    struct mechanism *mechanism = context;

    for (;;) {
        const char *line = first_line(mechanism);
        unsigned inside = 0;

        if (line == NULL) {
            return false;
        }
        if (read_event(line, event)) {
            if (event->position > mechanism->stored) {
                return true;
            }
            drop_line(mechanism); /* it comes a second time */
        } else if (strncmp(line, "lid ", 4) == 0) {
            mechanism->lid_open = strcmp(line, "lid open") == 0;
            drop_line(mechanism);
            return false; /* the next turn looks at the lid, before what follows */
        } else if (sscanf(line, "decks %u", &inside) == 1) {
            mechanism->decks = (uint8_t)(inside & 0xFFu);
            drop_line(mechanism);
        } else {
            fail("the reader wrote what nobody understands", line);
        }
    }
}

static void stored(void *context, uint32_t position)
{
    struct mechanism *mechanism = context;

    mechanism->stored = position;
    (void)printf("stored %u\n", (unsigned)position);
}

static bool lid_is_open(void *context)
{
    return ((const struct mechanism *)context)->lid_open;
}

static uint8_t decks(void *context)
{
    return ((const struct mechanism *)context)->decks;
}

static void obey(void *context, const struct shoe_orders *orders)
{
    struct mechanism *mechanism = context;
    const struct shoe_orders *before = &mechanism->orders;

    if ((orders->gate_open != before->gate_open) || (orders->load != before->load) || (orders->lamps != before->lamps)) {
        mechanism->orders = *orders;
        (void)printf("orders gate=%d load=%d lamps=%u\n", orders->gate_open, orders->load, (unsigned)orders->lamps);
    }
}

static void read_mechanism(struct mechanism *mechanism)
{
    const ssize_t count =
        read(STDIN_FILENO, &mechanism->text[mechanism->length], sizeof mechanism->text - mechanism->length);

    if (count == 0) {
        mechanism->ended = true;
    } else if (count > 0) {
        mechanism->length += (size_t)count;
    } else {
        /* nothing has come */
    }
}

/* The mechanism's first line says how the lid is, so that the shoe does not begin with a wrong one. */
static void wait_for_lid(struct mechanism *mechanism)
{
    struct shoe_event event;

    while ((first_line(mechanism) == NULL) && !mechanism->ended) {
        read_mechanism(mechanism);
    }
    (void)happened(mechanism, &event);
}

/* --- the program */

static void read_key(const char *path, uint8_t key[LINK_KEY_BYTES])
{
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        fail(path, strerror(errno));
    }
    for (size_t at = 0; at < LINK_KEY_BYTES; at++) {
        unsigned byte = 0;

        if (fscanf(file, "%2x", &byte) != 1) {
            fail(path, "a key has 64 hexadecimal digits");
        }
        key[at] = (uint8_t)byte;
    }
    (void)fclose(file);
}

/* The program as it is installed, for HELLO. */
static void digest_of_program(uint8_t digest[SHA256_BYTES])
{
    struct sha256 hash;
    uint8_t bytes[4096];
    size_t count;
    FILE *file = fopen("/proc/self/exe", "rb");

    if (file == NULL) {
        fail("cannot read the program", strerror(errno));
    }
    sha256_begin(&hash);
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0u) {
        sha256_add(&hash, bytes, count);
    }
    sha256_end(&hash, digest);
    (void)fclose(file);
}

static uint32_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint32_t)((uint64_t)time.tv_sec * 1000u + (uint64_t)time.tv_nsec / 1000000u);
}

static struct options read_options(int count, char **words)
{
    struct options options = {.serial = "FW-000001", .cut_after = -1};

    for (int at = 1; (at + 1) < count; at += 2) {
        const char *name = words[at];
        const char *value = words[at + 1];

        if (strcmp(name, "--link") == 0) {
            options.link = value;
        } else if (strcmp(name, "--port") == 0) {
            options.port = value;
        } else if (strcmp(name, "--store") == 0) {
            options.store = value;
        } else if (strcmp(name, "--serial") == 0) {
            options.serial = value;
        } else if (strcmp(name, "--key-file") == 0) {
            options.key_file = value;
        } else if (strcmp(name, "--cut-after") == 0) {
            options.cut_after = strtol(value, NULL, 10);
        } else {
            fail(name, "there is no such option");
        }
    }
    if ((options.store == NULL) || ((count % 2) == 0)) {
        fail("usage", "shoe --store FILE [--link PATH | --port PATH] [--serial TEXT] [--key-file FILE] "
                      "[--cut-after BYTES]");
    }
    return options;
}

int main(int count, char **words)
{
    static struct shoe shoe; /* all memory is known when the program is built */
    static struct mechanism mechanism;
    static uint8_t key[LINK_KEY_BYTES];
    static uint8_t digest[SHA256_BYTES];
    const struct options options = read_options(count, words);
    struct flash_file file;
    struct storage storage;
    int line = -1;
    const struct shoe_part part = {.name = "punto-firmware", .version = "1", .digest = digest};
    const struct shoe_identity identity = {
        .serial = options.serial,
        .parts = &part,
        .part_count = 1,
        .faults = faults,
        .fault_count = sizeof faults / sizeof faults[0],
        .key = (options.key_file == NULL) ? NULL : key,
        .room = SHOE_ROOM,
    };
    const struct shoe_reader reader = {&mechanism, happened, stored, lid_is_open, decks, obey};
    const struct link_line on_line = {&line, read_line, write_line, draw};

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (options.key_file != NULL) {
        read_key(options.key_file, key);
    }
    digest_of_program(digest);
    if (!flash_file_open(&file, &storage, options.store, options.cut_after)) {
        return 1;
    }
    line = open_line(&options);
    wait_for_lid(&mechanism);
    (void)fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    if (!shoe_power_on(&shoe, &identity, &storage, &reader, &on_line, now())) {
        fail(options.store, "the shoe cannot begin: check the options and the store");
    }
    while (shoe_turn(&shoe, now())) {
        struct pollfd ready[2] = {{.fd = line, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
        const bool has_text = memchr(mechanism.text, '\n', mechanism.length) != NULL;

        if (mechanism.ended && !has_text) {
            if (options.link != NULL) {
                (void)unlink(options.link); /* it would soon lead to another terminal */
            }
            return 0;
        }
        (void)poll(ready, mechanism.ended ? 1u : 2u, has_text ? 0 : TURN_MS);
        if (!mechanism.ended && ((ready[1].revents & (POLLIN | POLLHUP)) != 0)) {
            read_mechanism(&mechanism);
        }
    }
    fail(options.store, "the store failed, and a shoe that cannot remember stops");
}
