// Three mutexes in a ring: each thread holds one and asks for the next. It takes all three threads at
// once to stand still; any two of them alone get through.
//
// NORACE
#include <pthread.h>

int ab, bc, ca;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;

static void *b_then_c(void *arg) {
    (void)arg;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c); // DEADLOCK: waits for c holding b, with lines 25, 51
    bc++;
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    return NULL;
}

static void *c_then_a(void *arg) {
    (void)arg;
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&a); // DEADLOCK: waits for a holding c, with lines 15, 51
    ca++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&c);
    return NULL;
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
    pthread_t second, third;
    pthread_create(&second, NULL, b_then_c, NULL);
    pthread_create(&third, NULL, c_then_a, NULL);
    dawdle();
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // DEADLOCK: waits for b holding a, with lines 15, 25
    ab++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    return 0;
}
