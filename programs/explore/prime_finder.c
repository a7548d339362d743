// After "prefix", table 1, PrimeFinder: all prime numbers of an interval. Threads take blocks of numbers from left to right, look for primes in
// them, and put what they have found into a common list under a lock.
//
// The race that was added: the greatest prime of all is in the last block. Who has that one therefore writes down the
// greatest without the lock, for the others "are done by then".
//
// Verdict: a thread with an earlier block may be slow. It reads and writes `greatest` under result_lock while the thread
// with the last block writes it without: a race. In most runs the others have reported their blocks before the last one's
// thread takes result_lock for its list, and that orders them. `next` is accessed under work_lock; the list and its length
// under result_lock; main reads everything after all threads have ended.
//
// EXPECT-STDOUT: 18 primes
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FIRST = 2,
    BLOCK = 5,
    BLOCKS = 12,
    END = FIRST + BLOCK * BLOCKS, // 62: the last block has 59 and 61
    MOST_THREADS = 16,
    MOST_PRIMES = 32,
};

// What was found in one block.
typedef struct {
    int primes[BLOCK];
    int many;
} Found;

Found found_by[MOST_THREADS];

int next = FIRST;
pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;

int primes[MOST_PRIMES];
int many;
int greatest;
pthread_mutex_t result_lock = PTHREAD_MUTEX_INITIALIZER;

// The beginning of the next block, or END.
static int take_block(void) {
    pthread_mutex_lock(&work_lock);
    int from = next; // NORACE: next
    if (from < END)
        next = from + BLOCK;
    pthread_mutex_unlock(&work_lock);
    return from;
}

static int is_prime(int number) {
    for (int by = 2; by * by <= number; by++) {
        if (number % by == 0)
            return 0;
    }
    return 1;
}

static void look(int from, Found *found) {
    found->many = 0;
    for (int number = from; number < from + BLOCK; number++) {
        if (is_prime(number))
            found->primes[found->many++] = number;
    }
}

// Adds primes to the list. With result_lock held.
static void add(const Found *found) {
    for (int i = 0; i < found->many; i++) {
        if (many == MOST_PRIMES)
            abort();
        primes[many++] = found->primes[i]; // NORACE: primes, many
    }
}

// A block that is not the last.
static void report(const Found *found) {
    int own = found->primes[found->many - 1];
    pthread_mutex_lock(&result_lock);
    add(found);
    if (own > greatest) // RACE: greatest with line 93
        greatest = own; // RACE: greatest with line 93
    pthread_mutex_unlock(&result_lock);
}

// The last block.
static void report_last(const Found *found) {
    int own = found->primes[found->many - 1];
    pthread_mutex_lock(&result_lock);
    add(found);
    pthread_mutex_unlock(&result_lock);
    greatest = own; // RACE: greatest with line 82, greatest with line 83
}

static void *finder(void *arg) {
    Found *found = arg;
    for (int from = take_block(); from < END; from = take_block()) {
        look(from, found);
        if (from + BLOCK == END)
            report_last(found);
        else if (found->many > 0)
            report(found);
    }
    return NULL;
}

// How many were found. Nothing twice, and only primes.
static int count(void) {
    pthread_mutex_lock(&result_lock);
    int all = many;
    for (int i = 0; i < many; i++) {
        if (!is_prime(primes[i]))
            abort();
        for (int j = 0; j < i; j++) {
            if (primes[i] == primes[j])
                abort();
        }
    }
    pthread_mutex_unlock(&result_lock);
    return all;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    pthread_t finders[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&finders[i], NULL, finder, &found_by[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(finders[i], NULL);
    printf("%d primes\n", count());
    return 0;
}
