// Once by hand, with a plain flag: two threads can both find it unset and build the table twice, one
// of them while the other already reads it.
#include <pthread.h>
#include <stdbool.h>

int table;
bool built;
int seen[2];

static void *user(void *arg) {
    int *my_seen = arg;
    if (!built) { // RACE: built with line 14
        table = 7; // RACE: table with line 13, table with line 16
        built = true; // RACE: built with line 12, built with line 14
    }
    *my_seen = table; // RACE: table with line 13
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, user, &seen[0]);
    pthread_create(&second, NULL, user, &seen[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
