// A race whose names are meant for whoever shows them: markup, quotes, colours, ends of lines.
#include <pthread.h>

#define NAME(of) of "<img src=x onerror=alert(1)>&amp;\"'`\033[31m\r\n]]>${HOME}%s%n"
int shared __asm__(NAME("shared"));
void *work(void *unused) __asm__(NAME("work"));

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
