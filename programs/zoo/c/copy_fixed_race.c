// Copies of a size that the compiler knows, and would write out by itself.
#include <pthread.h>
#include <string.h>

int numbers[4], zeros[4];
char text[16];

static void *copier(void *arg) {
    memcpy(numbers, zeros, sizeof numbers); // RACE: numbers with line 15
    strcpy(text, "twelve chars");           // RACE: text with line 16
    return arg;
}

static void *setter(void *arg) {
    memset(numbers, 0, sizeof numbers); // RACE: numbers with line 9
    memmove(text, text + 8, 8);         // RACE: text with line 10
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, copier, NULL);
    pthread_create(&second, NULL, setter, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
