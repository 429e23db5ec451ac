/* A file that behaves as flash memory, for the shoe of a POSIX system. */

#ifndef PUNTO_FLASH_FILE_H
#define PUNTO_FLASH_FILE_H

#include <stdbool.h>

#include "shoe/journal.h"

/* `cut_after` bytes are written, then the power is gone in the middle of a write; -1 for never. */
struct flash_file {
    int descriptor;
    long cut_after;
};

/* Open or make the file, and fill in `storage`; prints what is wrong and returns false if it cannot be used. */
bool flash_file_open(struct flash_file *file, struct storage *storage, const char *path, long cut_after);

#endif
