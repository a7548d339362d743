// The C half: a table of eight places, a read-write lock for it, and a condition for "it is full".
//
// NORACE
// PART-OF: table.rs
#include <pthread.h>

enum { PLACES = 8 };

static int places[PLACES], used;
static pthread_rwlock_t places_lock = PTHREAD_RWLOCK_INITIALIZER;
static int is_full;
static pthread_mutex_t full_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;

void table_add(int number);
void table_add(int number) {
    pthread_rwlock_wrlock(&places_lock);
    places[used++] = number; // NORACE: places, used
    int last = used == PLACES;
    pthread_rwlock_unlock(&places_lock);
    if (last) {
        pthread_mutex_lock(&full_lock);
        is_full = 1; // NORACE: is_full
        pthread_cond_broadcast(&full);
        pthread_mutex_unlock(&full_lock);
    }
}

void table_wait_full(void);
void table_wait_full(void) {
    pthread_mutex_lock(&full_lock);
    while (!is_full) // NORACE: is_full
        pthread_cond_wait(&full, &full_lock);
    pthread_mutex_unlock(&full_lock);
}

int table_sum(void);
int table_sum(void) {
    int sum = 0;
    pthread_rwlock_rdlock(&places_lock);
    for (int i = 0; i < used; i++)
        sum += places[i]; // NORACE: places, used
    pthread_rwlock_unlock(&places_lock);
    return sum;
}
