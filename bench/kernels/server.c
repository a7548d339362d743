// A server of accounts: the main thread fills requests and puts them into a blocking queue, workers take
// them, move money between accounts and give the requests back through a second queue, to be filled
// again. A request is a list of standing orders, which are carried out several times. A transfer holds
// the locks of two accounts, and the journal's within them; every account has its own lock, so
// that the tariff, which nobody changes any more, is read under many different pairs of locks. Two
// statistics are kept without a lock: those are races.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACCOUNTS = 64, WORKERS = 3, REQUESTS = 6, TRANSFERS = 400, CLASSES = 4 };

struct transfer {
    int from, to, amount;
};

struct request {
    struct request *next;
    struct transfer transfers[TRANSFERS];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    struct request *first, *last;
};

struct account {
    pthread_mutex_t lock;
    long balance;
};

struct account accounts[ACCOUNTS];
struct queue waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};
struct queue unused = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};
int tariff[CLASSES];
int times = 2;
long fees, served, largest;
pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;

static void put(struct queue *queue, struct request *request) {
    pthread_mutex_lock(&queue->lock);
    request->next = 0; // NORACE: request
    if (queue->first)
        queue->last->next = request; // NORACE: request
    else
        queue->first = request; // NORACE: queue
    queue->last = request; // NORACE: queue
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

static struct request *get(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->first) // NORACE: queue
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    struct request *request = queue->first; // NORACE: queue
    queue->first = request->next; // NORACE: request
    pthread_mutex_unlock(&queue->lock);
    return request;
}

static void serve(const struct transfer *transfer) {
    int from = transfer->from, to = transfer->to; // NORACE: request
    int amount = transfer->amount; // NORACE: request
    struct account *lower = &accounts[from < to ? from : to];
    struct account *upper = &accounts[from < to ? to : from];
    pthread_mutex_lock(&lower->lock);
    pthread_mutex_lock(&upper->lock);
    int fee = tariff[amount % CLASSES]; // NORACE: tariff
    accounts[from].balance -= amount + fee; // NORACE: balance
    accounts[to].balance += amount; // NORACE: balance
    pthread_mutex_lock(&journal);
    fees += fee; // NORACE: fees
    pthread_mutex_unlock(&journal);
    pthread_mutex_unlock(&upper->lock);
    pthread_mutex_unlock(&lower->lock);
    if (amount > largest) // RACE: largest with line 79
        largest = amount; // RACE: largest with line 78, largest with line 79
}

static void *work(void *arg) {
    (void)arg;
    for (;;) {
        struct request *request = get(&waiting);
        if (request->transfers[0].amount == 0) // NORACE: request
            return 0;
        for (int i = 0; i < times * TRANSFERS; i++)
            serve(&request->transfers[i % TRANSFERS]);
        served++; // RACE: served with line 90
        put(&unused, request);
    }
}

int main(int argc, char **argv) {
    if (argc > 1)
        times *= atoi(argv[1]);
    static struct request pool[REQUESTS], ends[WORKERS];
    unsigned state = 99;
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_init(&accounts[i].lock, 0);
    for (int i = 0; i < CLASSES; i++)
        tariff[i] = i + 1; // NORACE: tariff
    for (int i = 0; i < REQUESTS; i++)
        put(&unused, &pool[i]);
    pthread_t threads[WORKERS];
    for (int t = 0; t < WORKERS; t++)
        pthread_create(&threads[t], 0, work, 0);
    for (int i = 0; i < 24; i++) {
        struct request *request = get(&unused);
        for (int j = 0; j < TRANSFERS; j++) {
            struct transfer *transfer = &request->transfers[j];
            unsigned random = (state = state * 1664525u + 1013904223u) >> 8;
            transfer->from = random % ACCOUNTS; // NORACE: request
            transfer->to = (transfer->from + 1 + random / 64 % (ACCOUNTS - 1)) % ACCOUNTS; // NORACE: request
            transfer->amount = 1 + random % 1000; // NORACE: request
        }
        put(&waiting, request);
    }
    for (int t = 0; t < WORKERS; t++)
        put(&waiting, &ends[t]);
    for (int t = 0; t < WORKERS; t++)
        pthread_join(threads[t], 0);
    long sum = fees; // NORACE: fees
    for (int i = 0; i < ACCOUNTS; i++)
        sum += accounts[i].balance; // NORACE: balance
    printf("%ld %s\n", sum, served > 0 && largest > 0 ? "served" : "idle"); // NORACE: served, largest
    return 0;
}
