// Locks that functions return, and lock pointers that change.
#include <pthread.h>

struct object {
    pthread_mutex_t lock;
    int value;
};

struct object left, right;
pthread_mutex_t spare = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t *current = &left.lock;
int chosen, fixed_value, moving;

static pthread_mutex_t *lock_of(struct object *object) { return &object->lock; }
static pthread_mutex_t *the_lock(void) { return &spare; }
static pthread_mutex_t *either(int n) { return n ? &left.lock : &right.lock; }
static struct object *begin(struct object *object) {
    pthread_mutex_lock(&object->lock);
    return object;
}
static void end(struct object *object) { pthread_mutex_unlock(&object->lock); }

static void *worker(void *argument) {
    int n = argument != 0;
    pthread_mutex_lock(lock_of(&left));
    left.value++;                   // NORACE
    pthread_mutex_unlock(lock_of(&left));
    pthread_mutex_lock(the_lock());
    fixed_value++;                  // NORACE
    pthread_mutex_unlock(the_lock());
    pthread_mutex_t *lock = either(n);
    pthread_mutex_lock(lock);
    chosen++;                       // RACE!
    pthread_mutex_unlock(lock);
    struct object *object = begin(&right);
    object->value++;                // NORACE
    end(object);
    pthread_mutex_lock(current);
    moving++;                       // RACE!
    pthread_mutex_unlock(current);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    current = &right.lock;
    pthread_create(&b, 0, worker, &a);
    pthread_mutex_lock(&left.lock);
    left.value--;                   // NORACE
    pthread_mutex_unlock(&left.lock);
    pthread_mutex_lock(&spare);
    fixed_value--;                  // NORACE
    pthread_mutex_unlock(&spare);
    pthread_mutex_lock(&right.lock);
    right.value--;                  // NORACE
    pthread_mutex_unlock(&right.lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
