// The entry protocol of atomic_seq_cst.c with the two steps swapped: first look, then raise the flag.
// Both threads can look before either has raised its flag.
#include <pthread.h>
#include <stdatomic.h>

int entries;
atomic_int first_flag, second_flag;

static void *second(void *arg) {
    (void)arg;
    if (!atomic_load(&first_flag)) {
        atomic_store(&second_flag, 1);
        entries++; // RACE: entries with line 23
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, NULL);
    if (!atomic_load(&second_flag)) {
        atomic_store(&first_flag, 1);
        entries++; // RACE: entries with line 13
    }
    pthread_join(thread, NULL);
    return 0;
}
