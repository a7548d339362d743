// C11 threads: main reads the number before it joins the thread that changes it.
#include <threads.h>

int number;
int seen;

static int worker(void *arg) {
    (void)arg;
    number = 42; // RACE: number with line 16
    return 0;
}

int main(void) {
    thrd_t thread;
    thrd_create(&thread, worker, NULL);
    seen = number; // RACE: number with line 9
    thrd_join(thread, NULL);
    return 0;
}
