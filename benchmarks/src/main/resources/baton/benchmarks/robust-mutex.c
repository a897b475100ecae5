// Increments a counter in a shared file under a robust, process-shared mutex of pthreads, for some seconds.
// Arguments: count robust-mutex FILE SECONDS. Prints what SharedMutexContest.count prints.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct shared {
    int initialised;
    pthread_mutex_t mutex;
    volatile int64_t counter;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static struct shared *open_shared(const char *path) {
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0) fail(path);
    flock(file, LOCK_EX);
    if (ftruncate(file, sizeof(struct shared))) fail("ftruncate");
    struct shared *shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) fail("mmap");
    if (!shared->initialised) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        if (pthread_mutex_init(&shared->mutex, &attributes)) fail("pthread_mutex_init");
        shared->initialised = 1;
    }
    flock(file, LOCK_UN);
    return shared;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    struct shared *shared = open_shared(argv[3]);
    int64_t start = now(), end = start + atoll(argv[4]) * 1000000000LL, increments = 0;
    do {
        for (int i = 0; i < 64; i++) {
            if (pthread_mutex_lock(&shared->mutex)) fail("pthread_mutex_lock");
            shared->counter++;
            pthread_mutex_unlock(&shared->mutex);
        }
        increments += 64;
    } while (now() < end);
    int64_t nanos = now() - start;
    pthread_mutex_lock(&shared->mutex);
    printf("%lld %lld %lld\n", (long long)increments, (long long)nanos, (long long)shared->counter);
    pthread_mutex_unlock(&shared->mutex);
    return 0;
}
