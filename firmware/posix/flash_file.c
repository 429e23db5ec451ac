#define _XOPEN_SOURCE 700

#include "posix/flash_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shoe/shoe.h"

#define SECTOR_BYTES 4096u
#define SECTORS (2u + ((SHOE_STEPS * JOURNAL_STEP_BYTES) / SECTOR_BYTES))

static bool read_flash(void *context, uint32_t address, uint8_t *bytes, uint32_t length)
{
    const struct flash_file *file = context;

    return pread(file->descriptor, bytes, length, (off_t)address) == (ssize_t)length;
}

/* Write bytes so that they are safe; a power cut leaves a part of them. */
static bool write_safely(struct flash_file *file, uint32_t address, const uint8_t *bytes, uint32_t length)
{
    const bool cut = (file->cut_after >= 0) && (file->cut_after < (long)length);
    const size_t wanted = cut ? (size_t)file->cut_after : length;

    if ((wanted > 0u) && (pwrite(file->descriptor, bytes, wanted, (off_t)address) != (ssize_t)wanted)) {
        return false;
    }
    if (cut) {
        (void)raise(SIGKILL);
    }
    if (file->cut_after >= 0) {
        file->cut_after -= (long)length;
    }
    return fsync(file->descriptor) == 0;
}

/* Flash memory only clears bits. */
static bool program_flash(void *context, uint32_t address, const uint8_t *bytes, uint32_t length)
{
    uint8_t now[JOURNAL_STEP_BYTES];

    if ((length > sizeof now) || !read_flash(context, address, now, length)) {
        return false;
    }
    for (uint32_t at = 0; at < length; at++) {
        now[at] &= bytes[at];
    }
    return write_safely(context, address, now, length);
}

static bool erase_flash(void *context, uint32_t address)
{
    uint8_t blank[SECTOR_BYTES];

    (void)memset(blank, 0xFF, sizeof blank);
    return write_safely(context, address, blank, sizeof blank);
}

/* Fill the file up to its size with FF, as flash memory comes from its maker. */
static bool make_whole(const struct flash_file *file)
{
    struct stat status;
    uint8_t blank[SECTOR_BYTES];
    off_t size;

    if (fstat(file->descriptor, &status) != 0) {
        return false;
    }
    (void)memset(blank, 0xFF, sizeof blank);
    for (size = status.st_size; size < (off_t)(SECTORS * SECTOR_BYTES);) {
        const off_t rest = (off_t)(SECTORS * SECTOR_BYTES) - size;
        const size_t length = (rest < (off_t)sizeof blank) ? (size_t)rest : sizeof blank;

        if (pwrite(file->descriptor, blank, length, size) != (ssize_t)length) {
            return false;
        }
        size += (off_t)length;
    }
    return fsync(file->descriptor) == 0;
}

bool flash_file_open(struct flash_file *file, struct storage *storage, const char *path, long cut_after)
{
    file->cut_after = cut_after;
    file->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file->descriptor < 0) {
        (void)fprintf(stderr, "shoe: cannot open the store %s: %s\n", path, strerror(errno));
        return false;
    }
    if (flock(file->descriptor, LOCK_EX | LOCK_NB) != 0) {
        (void)fprintf(stderr, "shoe: another shoe uses the store %s: give this shoe another store\n", path);
        return false;
    }
    if (!make_whole(file)) {
        (void)fprintf(stderr, "shoe: cannot write the store %s: %s\n", path, strerror(errno));
        return false;
    }
    *storage = (struct storage){
        .context = file,
        .sector_bytes = SECTOR_BYTES,
        .sectors = SECTORS,
        .read = read_flash,
        .program = program_flash,
        .erase = erase_flash,
    };
    return true;
}
