// Messages of one thread that wait for the collector.
#include "ctrace.h"

#include <string.h>

void trc_ring_start(struct trc_ring *ring, int waits) {
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->has_room, NULL);
    ring->first = 0;
    ring->count = 0;
    ring->lost = 0;
    ring->waits = waits;
}

static struct trc_message *slot(struct trc_ring *ring, unsigned number) {
    return &ring->slots[(ring->first + number) % TRC_SLOTS]; // NORACE
}

// Whether there was room for it, or is now.
int trc_ring_put(struct trc_ring *ring, const struct trc_message *message) {
    int is_kept = 0;
    pthread_mutex_lock(&ring->lock);
    while (ring->count == TRC_SLOTS && ring->waits) // NORACE
        pthread_cond_wait(&ring->has_room, &ring->lock);
    if (ring->count < TRC_SLOTS) {  // NORACE
        struct trc_message *at = slot(ring, ring->count);
        at->number = message->number; // NORACE
        at->at = message->at;
        at->unit = message->unit;
        at->level = message->level;
        memcpy(at->text, message->text, TRC_TEXT);
        ring->count++;              // NORACE
        is_kept = 1;
    } else {
        ring->lost++;               // NORACE
    }
    pthread_mutex_unlock(&ring->lock);
    return is_kept;
}

int trc_ring_take(struct trc_ring *ring, struct trc_message *message) {
    int is_there = 0;
    pthread_mutex_lock(&ring->lock);
    if (ring->count > 0) {          // NORACE
        *message = *slot(ring, 0);  // NORACE
        ring->first = (ring->first + 1) % TRC_SLOTS; // NORACE
        ring->count--;              // NORACE
        is_there = 1;
        pthread_cond_signal(&ring->has_room);
    }
    pthread_mutex_unlock(&ring->lock);
    return is_there;
}

unsigned long trc_ring_lost(struct trc_ring *ring) {
    pthread_mutex_lock(&ring->lock);
    unsigned long lost = ring->lost; // NORACE
    pthread_mutex_unlock(&ring->lock);
    return lost;
}

void trc_ring_end(struct trc_ring *ring) {
    pthread_cond_destroy(&ring->has_room);
    pthread_mutex_destroy(&ring->lock);
}
