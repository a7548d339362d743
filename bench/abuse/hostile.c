// A race that is to be shown: its text, and the names that its file and symbols are given, hold markup, quotes and colours.
#include <pthread.h>

int shared;

void *work(void *unused) {
    shared++; // <script>alert(2)</script> ]]> "quoted" &amp; \u202e
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
