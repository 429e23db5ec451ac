/*
 * Makes writes of a record fail, and sets the clock, in a process that was started with this library in LD_PRELOAD.
 *
 * PUNTO_SHIM names the file with the `struct shim` below, which tests/soak/shim.py writes while the process runs.
 * SQLite's functions for writing and syncing are replaced: pwrite64, fdatasync and fsync. Only writes to a table.db and its
 * WAL fail. The clock is the wall clock; the monotonic clock is left alone, as when a person sets the clock of a PC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { NOTHING, SYNC_FAILS, SYNC_FAILS_LATE, WRITE_FAILS, WRITE_IS_SHORT, WRITES_ARE_LOST };

struct shim {
    _Atomic int kind;             /* what fails, from now on */
    _Atomic int wait;             /* so many calls succeed before */
    _Atomic long long struck[6];  /* how many calls of each kind have failed */
    _Atomic long long seconds;    /* what is added to the wall clock */
    _Atomic int slow;             /* microseconds before and after each sync */
};

static struct shim *shim(void) {
    static struct shim *found;
    if (found == NULL) {
        const char *name = getenv("PUNTO_SHIM"); /* a fork of a loaded program gets it later than its library */
        int file = name == NULL ? -1 : open(name, O_RDWR | O_CLOEXEC);
        if (file >= 0) {
            void *map = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            found = map == MAP_FAILED ? NULL : map;
            close(file);
        }
    }
    return found;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Whether a call on this file is one that fails with one of these two kinds. */
static int strikes(int file, int kind, int other) {
    struct shim *at = shim();
    char link[64], path[4096];
    ssize_t length;
    if (at == NULL || at->kind == NOTHING || (at->kind != kind && at->kind != other)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    /* The index of the WAL is memory, and not on a disk. */
    return strstr(path, "table.db") != NULL && strstr(path, "-shm") == NULL;
}

/* Whether it is this call's turn. */
static int counted(void) {
    return shim()->wait <= 0 || atomic_fetch_sub(&shim()->wait, 1) <= 0;
}

static int failed(void) {
    atomic_fetch_add(&shim()->struck[shim()->kind], 1);
    errno = EIO;
    return -1;
}

static int synced(int file, int (*real)(int)) {
    if (shim() != NULL && shim()->slow > 0) {
        usleep(shim()->slow);
        int result = real(file);
        usleep(shim()->slow);
        return result;
    }
    if (strikes(file, WRITES_ARE_LOST, WRITES_ARE_LOST)) {
        if (shim()->wait <= 0) return failed(); /* the pages were thrown away, as Linux does */
        return real(file);
    }
    if (!strikes(file, SYNC_FAILS, SYNC_FAILS_LATE) || !counted()) return real(file);
    if (shim()->kind == SYNC_FAILS_LATE) real(file);
    return failed();
}

int fdatasync(int file) {
    REAL(fdatasync);
    return synced(file, real);
}

int fsync(int file) {
    REAL(fsync);
    return synced(file, real);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
    REAL(pwrite64);
    if (strikes(file, WRITES_ARE_LOST, WRITES_ARE_LOST)) return counted() ? (ssize_t)size : real(file, bytes, size, at);
    if (!strikes(file, WRITE_FAILS, WRITE_IS_SHORT) || !counted()) return real(file, bytes, size, at);
    if (shim()->kind == WRITE_IS_SHORT) real(file, bytes, size / 2, at);
    return failed();
}

/* --- the clock */

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    int result = real(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && shim()) now->tv_sec += shim()->seconds;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    REAL(gettimeofday);
    int result = real(now, zone);
    if (result == 0 && shim()) now->tv_sec += shim()->seconds;
    return result;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != NULL) *at = now.tv_sec;
    return now.tv_sec;
}
