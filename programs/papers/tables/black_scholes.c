// After "interleave", table 2, blackscholes: what options are worth, each thread for options of its own. There is nothing to lock.
//
// Verdict: the options are written before the threads start and only read after that; a thread writes prices of its own options, and main
// reads them after both have ended.
//
// NORACE
// EXPECT-STDOUT: 12 options, dearer the longer they last
// LDLIBS: -lm
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 10000, THREADS = 2 };

typedef struct {
    double share, strike, rate, volatility, years;
} Option;

Option options[MOST];
double prices[MOST];
int count;

static double below(double x) {
    return 0.5 * erfc(-x / sqrt(2));
}

static double price(const Option *option) {
    double spread = option->volatility * sqrt(option->years);
    double drift = (option->rate + option->volatility * option->volatility / 2) * option->years;
    double high = (log(option->share / option->strike) + drift) / spread;
    double later = option->strike * exp(-option->rate * option->years);
    return option->share * below(high) - later * below(high - spread); // NORACE: options
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int i = count * me / THREADS; i < count * (me + 1) / THREADS; i++)
        prices[i] = price(&options[i]); // NORACE: prices, options
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 12;
    if (count < 2 || count > MOST)
        return 2;
    for (int i = 0; i < count; i++)
        options[i] = (Option){100, 100, 0.05, 0.2, 0.25 * (i + 1)};
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, worker, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int is_dearer = 1;
    for (int i = 0; i + 1 < count; i++)
        is_dearer &= prices[i] < prices[i + 1]; // NORACE: prices
    printf("%d options, %s the longer they last\n", count, is_dearer ? "dearer" : "cheaper");
    return 0;
}
