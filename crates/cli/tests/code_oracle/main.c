function *f[] = {FUNCTION_NAMES};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static u32 state;

static u32 next_number(void) {
    state = state * 1103515245 + 12345;
    return state >> 16 & 63;
}

static u32 run(u32 number, u32 argument) {
#ifdef __cplusplus
    try {
        return f[number](argument, number, 2);
    } catch (u32 thrown) {
        return thrown;
    }
#else
    return f[number](argument, number, 2);
#endif
}

static void *work(void *given) {
    u32 argument = *(u32 *)given;
    for (u32 number = 0; number < FUNCTION_COUNT; number++) {
        pthread_mutex_lock(&lock);
        g0 = run(number, argument + number);
        pthread_mutex_unlock(&lock);
        run(number, argument * 3);
    }
    return 0;
}

int main(int count, char **arguments) {
    state = count > 1 ? (u32)atoi(arguments[1]) : 1;
    for (u32 i = 0; i < 16; i++)
        a[i] = next_number();
    for (u32 i = 0; i < 8; i++) {
        b[i] = next_number();
        far_apart[i] = next_number() % 5 * 1237 + 5;
        nodes[i].value = next_number();
        nodes[i].next = &nodes[next_number() & 7];
    }
    g0 = next_number();
    g1 = next_number();
    v0 = next_number();
    c0 = (unsigned char)next_number();
    h0 = (unsigned short)next_number();
    l0 = next_number();
    d0 = next_number();
    atomic = next_number();
    u32 given[3] = {next_number(), next_number(), next_number()};
    pthread_t threads[2];
    for (u32 i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, &given[i]);
    if (THREADS == 0) {
        work(&given[0]);
        work(&given[1]);
    }
    for (u32 i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
