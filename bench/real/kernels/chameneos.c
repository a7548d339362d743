/* Creatures of three colours meet two at a time at one place, and both change. After the manner of the game of
   chameneos: little work and much synchronisation. SIZE is the number of meetings. */
#include "kernel.h"

#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t place = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_met = PTHREAD_COND_INITIALIZER;
static long left;
static int waiting = -1, partner_colour, has_partner;
static atomic_long meetings;

static int complement(int one, int other) {
    return one == other ? one : 3 - one - other;
}

static void *work(void *number) {
    int colour = (int)((long)number % 3);
    long met = 0;
    for (;;) {
        pthread_mutex_lock(&place);
        while (has_partner) {
            pthread_cond_wait(&is_met, &place);
        }
        if (left == 0) {
            pthread_mutex_unlock(&place);
            break;
        }
        if (waiting < 0) {
            waiting = colour;
            while (!has_partner && left > 0) {
                pthread_cond_wait(&is_met, &place);
            }
            if (!has_partner) {
                waiting = -1;
                pthread_mutex_unlock(&place);
                break;
            }
            colour = partner_colour;
            has_partner = 0;
            waiting = -1;
        } else {
            int mine = complement(colour, waiting);
            partner_colour = mine;
            has_partner = 1;
            colour = mine;
            left--;
        }
        pthread_cond_broadcast(&is_met);
        pthread_mutex_unlock(&place);
        met++;
    }
    atomic_fetch_add(&meetings, met);
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 60000);
    left = threads > 1 ? size : 0;
    in_threads(work);
    printf("chameneos: %d\n", atomic_load(&meetings) == (threads > 1 ? 2 * size : 0));
    return 0;
}
