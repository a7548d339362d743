// A cycle of three through three kinds of lock: a mutex, a read-write lock held for reading, and a spin lock.
//
// NORACE
#include <pthread.h>

int one, two, three;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;

static void *reader(void *arg) {
    pthread_rwlock_rdlock(&table);
    pthread_mutex_lock(&mutex); // DEADLOCK: waits for mutex holding table, with lines 22, 50
    one++;
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&table);
    return arg;
}

static void *writer(void *arg) {
    pthread_spin_lock(&spin);
    pthread_rwlock_wrlock(&table); // DEADLOCK: waits for table holding spin, with lines 13, 50
    two++;
    pthread_rwlock_unlock(&table);
    pthread_spin_unlock(&spin);
    return arg;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t threads[2];
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&threads[0], NULL, reader, NULL);
    dawdle();
    pthread_create(&threads[1], NULL, writer, NULL);
    dawdle();
    pthread_mutex_lock(&mutex);
    pthread_spin_lock(&spin); // DEADLOCK: waits for spin holding mutex, with lines 13, 22
    three++;
    pthread_spin_unlock(&spin);
    pthread_mutex_unlock(&mutex);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
