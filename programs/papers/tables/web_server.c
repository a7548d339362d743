// After "hybrid", tables 1 to 3, tomcat and resin: a small web server with a pool of workers, and clients in the same process that load pages over sockets. Requests are
// recycled: they go through a queue to a worker and through another back to whoever has something to ask next.
//
// Verdict: a request belongs to whoever took it from a queue, and queues have locks; main alone looks at the page of a request that a worker had in hand a
// moment ago, and may have again. The titles are made once, by who looks first under the lock, but others look whether they are made without it (and
// then read them: a race in the memory model alone). The cache of one page is not locked: two that fill it meet, and so do who fills it and who looks or reads. Open
// connections are counted up under a lock and down without; hits have no lock.
// RUN: 8
// EXPECT-STDOUT: 16 pages loaded
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 2, CLIENTS = 2, REQUESTS = 3, PAGES = 3, END = -1 };

typedef struct Request {
    struct Request *next;
    int connection;
    int page;
} Request;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    Request *first;
} Queue;

Request requests[REQUESTS], ends[WORKERS];
Queue waiting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
Queue unused = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
Request *in_hand;
pthread_mutex_t status_lock = PTHREAD_MUTEX_INITIALIZER;
int titles[PAGES], is_made;
pthread_mutex_t titles_lock = PTHREAD_MUTEX_INITIALIZER;
int cached_page = END, cached_text;
int open_connections, hits;
int seen_hits, seen_page;
int each, loaded[CLIENTS];

static void put(Queue *queue, Request *request) {
    pthread_mutex_lock(&queue->lock);
    request->next = queue->first; // NORACE: requests
    queue->first = request;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

static Request *take(Queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->first == NULL)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    Request *request = queue->first;
    queue->first = request->next; // NORACE: requests
    pthread_mutex_unlock(&queue->lock);
    return request;
}

static int title_of(int page) {
    if (!is_made) { // RACE: is_made with line 65
        pthread_mutex_lock(&titles_lock);
        for (int i = 0; i < PAGES && !is_made; i++)
            titles[i] = i * i + 1; // RACE: titles with line 68 (weak)
        is_made = 1; // RACE: is_made with line 61
        pthread_mutex_unlock(&titles_lock);
    }
    return titles[page]; // RACE: titles with line 64 (weak)
}

static int text_of(int page) {
    if (cached_page == page) // RACE: cached_page with line 76
        return cached_text; // RACE: cached_text with line 75
    int text = 100 * title_of(page);
    cached_text = text; // RACE: cached_text with line 73, cached_text with line 75
    cached_page = page; // RACE: cached_page with line 72, cached_page with line 76
    return text;
}

static void serve(Request *request) {
    pthread_mutex_lock(&status_lock);
    in_hand = request; // NORACE: in_hand
    pthread_mutex_unlock(&status_lock);
    char page;
    if (read(request->connection, &page, 1) != 1)
        exit(1);
    request->page = page; // RACE: requests with line 135
    int text = text_of(page);
    if (write(request->connection, &text, sizeof text) != sizeof text)
        exit(1);
    close(request->connection);
    hits++; // RACE: hits with line 92, hits with line 136
    open_connections--; // RACE: open_connections with line 93, open_connections with line 112
}

static void *worker(void *arg) {
    (void)arg;
    for (Request *request = take(&waiting); request->connection != END; request = take(&waiting)) {
        serve(request);
        put(&unused, request);
    }
    return NULL;
}

static void load(int page) {
    char asked = (char)page;
    int sockets[2], text;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || write(sockets[0], &asked, 1) != 1)
        exit(1);
    Request *request = take(&unused);
    pthread_mutex_lock(&status_lock);
    open_connections++; // RACE: open_connections with line 93
    pthread_mutex_unlock(&status_lock);
    request->connection = sockets[1]; // NORACE: requests
    put(&waiting, request);
    if (read(sockets[0], &text, sizeof text) != sizeof text)
        exit(1);
    close(sockets[0]);
}

static void *client(void *arg) {
    int me = *(int *)arg;
    for (int i = 0; i < each; i++) {
        load((i + me) % PAGES);
        loaded[me]++; // NORACE: loaded
    }
    return NULL;
}

static void tell_status(void) {
    pthread_mutex_lock(&status_lock);
    Request *request = in_hand; // NORACE: in_hand
    pthread_mutex_unlock(&status_lock);
    if (request != NULL)
        seen_page = request->page; // RACE: requests with line 87
    seen_hits = hits; // RACE: hits with line 92
}

int main(int argc, char **argv) {
    each = argc > 1 ? atoi(argv[1]) : 3;
    for (int i = 0; i < REQUESTS; i++)
        put(&unused, &requests[i]);
    pthread_t workers[WORKERS], clients[CLIENTS];
    int names[CLIENTS] = {0, 1};
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, &names[i]);
    pthread_join(clients[0], NULL);
    tell_status();
    pthread_join(clients[1], NULL);
    for (int i = 0; i < WORKERS; i++) {
        ends[i].connection = END;
        put(&waiting, &ends[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d pages loaded\n", loaded[0] + loaded[1]); // NORACE: loaded
    return 0;
}
