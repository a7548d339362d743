// A lock that is given back through a pointer that may point at several.
#include <pthread.h>

pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t two = PTHREAD_MUTEX_INITIALIZER;
int direct, by_callee, by_field, kept;

struct holder {
    pthread_mutex_t *lock;
};
struct holder holder;

static void give_back(int n) {
    pthread_mutex_t *lock = n ? &one : &two;
    pthread_mutex_unlock(lock);
}

static void give_field(struct holder *from) { pthread_mutex_unlock(from->lock); }

static void *worker(void *argument) {
    int n = (int)(long)argument;
    pthread_mutex_t *lock = n > 1 ? &one : &two;
    pthread_mutex_lock(&one);
    kept++;                         // NORACE
    pthread_mutex_unlock(lock);
    direct++;                       // RACE!
    pthread_mutex_lock(&one);
    give_back(n);
    by_callee++;                    // RACE!
    pthread_mutex_lock(&one);
    give_field(&holder);
    by_field++;                     // RACE!
    return 0;
}

int main(void) {
    pthread_t a, b;
    holder.lock = &one;
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
