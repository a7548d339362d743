// After "prefix", table 1, DQueries: a simulated database that is shared by clients. Each client moves amounts between rows. It claims
// the two rows that it needs, in order; changes them; says that they have changed; and gives them back. A row that somebody else has is asked
// for again later, and given up after some time.
//
// A row's version belongs to whoever has claimed the row, and is changed without a lock. Only who
// does not get the row looks at it all the same, to see whether the row is much in use and how long to try.
//
// Verdict: the version is changed by the row's owner and read by a client that failed to claim it: a race. It takes a client that
// comes for a row while another one has it; where claims do not overlap, table_lock orders all that is done with a row, and no run
// without a failed claim even reads the version in that place. Claims are never held by two at a time, so that changes
// do not race with each other. Owners, amounts and statistics are under table_lock.
//
// EXPECT-STDOUT: total 0
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COMMON = 0, // a row that every client needs once
    QUERIES = 3, // of each client
    TRIES = 2,
    BUSY = 4, // changes after which a row counts as much in use
    MOST_CLIENTS = 16,
    ROWS = 1 + 2 * MOST_CLIENTS,
    NOBODY = 0, // clients are counted from 1
};

typedef struct {
    int owner;   // under table_lock
    int amount;  // under table_lock
    int version; // the owner's
} Row;

// What a client wants to do.
typedef struct {
    int from;
    int to;
    int amount;
} Query;

// How queries ended, under table_lock.
typedef struct {
    int done;
    int given_up;
    int failed_claims;
} Statistics;

Query queries_of[MOST_CLIENTS][QUERIES];
Row rows[ROWS];
Statistics statistics;
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

// The queries of a client: between its own two rows, and once, sooner or later, to the row that all have in common.
static Query *query_of(int client, int number) {
    Query *query = &queries_of[client - 1][number];
    query->from = 2 * client - 1;
    query->to = number == client % QUERIES ? COMMON : 2 * client;
    query->amount = client + number;
    return query;
}

static int claim(int client, int row) {
    pthread_mutex_lock(&table_lock);
    int is_free = rows[row].owner == NOBODY; // NORACE: rows
    if (is_free)
        rows[row].owner = client; // NORACE: rows
    else
        statistics.failed_claims++; // NORACE: statistics
    pthread_mutex_unlock(&table_lock);
    return is_free;
}

static void give_back(int row) {
    pthread_mutex_lock(&table_lock);
    rows[row].owner = NOBODY; // NORACE: rows
    pthread_mutex_unlock(&table_lock);
}

// How often to try again for a row that somebody else has.
static int patience(int row) {
    int changes = rows[row].version; // RACE: rows with line 108
    return changes >= BUSY ? 1 : TRIES;
}

// Claims a row, or gives up.
static int obtain(int client, int row) {
    if (claim(client, row))
        return 1;
    for (int tries = patience(row); tries > 0; tries--) {
        if (claim(client, row))
            return 1;
    }
    return 0;
}

// With both rows claimed.
static void move(const Query *query) {
    pthread_mutex_lock(&table_lock);
    rows[query->from].amount -= query->amount;
    rows[query->to].amount += query->amount;
    statistics.done++;
    pthread_mutex_unlock(&table_lock);
}

// Says that a row has changed. With the row claimed.
static void touch(int row) {
    rows[row].version++; // RACE: rows with line 82
}

static void give_up(void) {
    pthread_mutex_lock(&table_lock);
    statistics.given_up++;
    pthread_mutex_unlock(&table_lock);
}

static void run(int client, const Query *query) {
    int low = query->from < query->to ? query->from : query->to;
    int high = query->from + query->to - low;
    if (!obtain(client, low)) {
        give_up();
        return;
    }
    if (!obtain(client, high)) {
        give_back(low);
        give_up();
        return;
    }
    move(query);
    touch(low);
    touch(high);
    give_back(high);
    give_back(low);
}

static void *client(void *arg) {
    int self = (int)(intptr_t)arg;
    for (int number = 0; number < QUERIES; number++)
        run(self, query_of(self, number));
    return NULL;
}

// The sum of all amounts. Nothing is claimed any more, and each query has ended somehow.
static int total(int clients) {
    int sum = 0;
    pthread_mutex_lock(&table_lock);
    for (int row = 0; row < ROWS; row++) {
        if (rows[row].owner != NOBODY)
            abort();
        sum += rows[row].amount;
    }
    if (statistics.done + statistics.given_up != clients * QUERIES)
        abort();
    pthread_mutex_unlock(&table_lock);
    return sum;
}

int main(int argc, char **argv) {
    int clients = argc > 1 ? atoi(argv[1]) : 2;
    if (clients < 1 || clients > MOST_CLIENTS)
        return 2;
    pthread_t threads[MOST_CLIENTS];
    for (int i = 0; i < clients; i++)
        pthread_create(&threads[i], NULL, client, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < clients; i++)
        pthread_join(threads[i], NULL);
    printf("total %d\n", total(clients));
    return 0;
}
