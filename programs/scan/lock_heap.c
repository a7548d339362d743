// Locks beside the data in heap objects, and lock pointers in structures.
#include <pthread.h>
#include <stdlib.h>

struct box {
    pthread_mutex_t lock;
    pthread_mutex_t other;
    int value;
    int mixed;
};

struct client {
    pthread_mutex_t *lock;
    int *value;
};

pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
int common_value;
struct box *boxes[2];

static struct box *make(int value) {
    struct box *box = malloc(sizeof *box);
    pthread_mutex_init(&box->lock, 0);
    pthread_mutex_init(&box->other, 0);
    box->value = value;             // NORACE
    box->mixed = value;             // NORACE
    return box;
}

static void put(struct box *box, int value) {
    pthread_mutex_lock(&box->lock);
    box->value = value;             // NORACE
    box->mixed = value;             // RACE!
    pthread_mutex_unlock(&box->lock);
}

static int get(struct box *box) {
    pthread_mutex_lock(&box->lock);
    int value = box->value;         // NORACE
    pthread_mutex_unlock(&box->lock);
    pthread_mutex_lock(&box->other);
    value += box->mixed;            // RACE!
    pthread_mutex_unlock(&box->other);
    return value;
}

static void use(struct client *client) {
    pthread_mutex_lock(client->lock);
    ++*client->value;               // NORACE
    pthread_mutex_unlock(client->lock);
}

static void *worker(void *unused) {
    struct client client = {&common, &common_value};
    put(boxes[0], 1);
    put(boxes[1], get(boxes[0]));
    use(&client);
    return unused;
}

int main(void) {
    pthread_t thread;
    struct client client = {&common, &common_value};
    boxes[0] = make(0);
    boxes[1] = make(1);
    pthread_create(&thread, 0, worker, 0);
    put(boxes[1], get(boxes[0]));
    use(&client);
    pthread_mutex_lock(&common);
    common_value++;                 // NORACE
    pthread_mutex_unlock(&common);
    pthread_join(thread, 0);
    return common_value;            // NORACE
}
