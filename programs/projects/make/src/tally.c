// One lock for two sums, and one of them is forgotten.
#include "tally.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long all_words;
static long all_lines;

void tally_add(long words, long lines) {
    pthread_mutex_lock(&lock);
    all_words += words;
    pthread_mutex_unlock(&lock);
    all_lines += lines; // RACE: all_lines with itself
}

long tally_words(void) { return all_words; }
long tally_lines(void) { return all_lines; }
