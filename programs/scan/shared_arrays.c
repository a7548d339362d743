// Elements by number, by variable, and behind pointers into an array.
#include <pthread.h>

int fixed[10];
int mixed[10];
int apart[2];
int *slots[4];
int target;
int matrix[4][4];
struct { int head; int body[4]; int foot; } box;

static void *worker(void *argument) {
    long i = (long)argument;
    fixed[3] = 1;                   // RACE!
    mixed[i] = 1;                   // RACE!
    apart[0] = 1;                   // NORACE
    *slots[i] = 1;                  // RACE!
    matrix[i][1] = 1;               // RACE!
    box.body[i] = 1;                // RACE!
    return 0;
}

static void *other(void *argument) {
    int *middle = &mixed[5];
    fixed[3]++;                     // RACE!
    *middle = 2;                    // RACE!
    apart[1] = 2;                   // NORACE
    *slots[2] = 2;                  // RACE!
    matrix[2][1] = 2;               // RACE!
    box.head = 2;                   // NORACE
    box.body[2] = 2;                // RACE!
    box.foot = 2;                   // NORACE
    return argument;
}

int main(void) {
    pthread_t a, b;
    slots[2] = &target;
    pthread_create(&a, 0, worker, (void *)2);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
