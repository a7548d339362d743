// The C half: a global counter and a function that counts it up under a mutex.
//
// PART-OF: counter_race.rs
#include <pthread.h>

int shared_total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void count_in_c(void);
void count_in_c(void) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        shared_total++; // RACE: shared_total with line 20 of counter_race.rs
        pthread_mutex_unlock(&lock);
    }
}
