// Memory is unmapped while another thread may still write to it: a whole mapping, and a part of one. (The program waits for
// the writer by what orders nothing, so that it does not crash.)
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

char *whole, *part;
atomic_int done;

static void *writer(void *arg) {
    *whole = 1;       // RACE: whole with line 38 (weak)
    part[PAGE] = 1;   // RACE: part with line 39 (weak)
    part[0] = 1;      // NORACE: part
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return arg;
}

static char *mapped(void) {
    return mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void wait_for_writer(void) {
    while (atomic_load_explicit(&done, memory_order_relaxed) == 0) {
    }
}

int main(void) {
    pthread_t thread;
    whole = mapped();
    part = mapped();
    if (whole == MAP_FAILED || part == MAP_FAILED)
        return 1;
    pthread_create(&thread, NULL, writer, NULL);
    wait_for_writer();
    munmap(whole, 2 * PAGE);   // RACE: whole with line 14 (weak)
    munmap(part + PAGE, PAGE); // RACE: part with line 15 (weak)
    pthread_join(thread, NULL);
    return 0;
}
