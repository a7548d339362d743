//: atomic_release | handover | atomic_load, acquire, in a loop | any thread
static atomic_int is$;
static void give$(void) { atomic_store_explicit(&is$, 1, memory_order_release); }
static void take$(void) {
    while (!atomic_load_explicit(&is$, memory_order_acquire))
        ;
}

//: atomic_consume | handover | atomic_load, consume, in a loop | any thread
static _Atomic(long *) is$;
static long one$ = 1;
static void give$(void) { atomic_store_explicit(&is$, &one$, memory_order_seq_cst); }
static void take$(void) {
    while (!atomic_load_explicit(&is$, memory_order_consume))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
}

//: atomic_seq_cst | handover | atomic_load in a loop | any thread
static atomic_bool is$;
static void give$(void) { is$ = 1; }
static void take$(void) {
    while (!is$)
        sched_yield();
}

//: atomic_mixed | handover | atomic_load, acquire, of a seq_cst store | any thread
static atomic_char is$;
static void give$(void) { atomic_store(&is$, 1); }
static void take$(void) {
    while (!atomic_load_explicit(&is$, memory_order_acquire))
        sched_yield();
}

//: atomic_exchange | handover | atomic_exchange in a loop | any thread
static atomic_long is$;
static void give$(void) { atomic_exchange_explicit(&is$, 5, memory_order_acq_rel); }
static void take$(void) {
    while (atomic_exchange_explicit(&is$, 0, memory_order_acquire) != 5)
        sched_yield();
}

//: atomic_cas_failure | handover | failing compare-exchange, acquire | any thread
static atomic_int is$;
static void give$(void) { atomic_fetch_or_explicit(&is$, 1, memory_order_release); }
static void take$(void) {
    int expected = 0;
    while (atomic_compare_exchange_strong_explicit(&is$, &expected, 0, memory_order_relaxed,
                                                   memory_order_acquire))
        expected = 0;
}

//: atomic_cas_both | handover | compare-exchange on both sides | any thread
static atomic_int state$;
static void give$(void) {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&state$, &expected, 1, memory_order_release,
                                                  memory_order_relaxed))
        expected = 0;
}
static void take$(void) {
    int expected = 1;
    while (!atomic_compare_exchange_weak_explicit(&state$, &expected, 2, memory_order_acquire,
                                                  memory_order_relaxed)) {
        expected = 1;
        sched_yield();
    }
}

//: release_sequence | handover | atomic_load of a release sequence | any thread
static atomic_int is$;
static void *adder$(void *arg) {
    atomic_fetch_add_explicit(&is$, 2, memory_order_relaxed);
    return arg;
}
static void give$(void) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, adder$, NULL) == 0);
    atomic_fetch_add_explicit(&is$, 1, memory_order_release);
    must(pthread_join(thread, NULL) == 0);
}
static void take$(void) {
    while (atomic_load_explicit(&is$, memory_order_acquire) != 3)
        sched_yield();
}

//: release_count | handover | references counted down | any thread
static atomic_int count$ = 2;
static void *other$(void *arg) {
    atomic_fetch_sub_explicit(&count$, 1, memory_order_release);
    return arg;
}
static void give$(void) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, other$, NULL) == 0);
    atomic_fetch_sub_explicit(&count$, 1, memory_order_release);
    must(pthread_join(thread, NULL) == 0);
}
static void take$(void) {
    while (atomic_load_explicit(&count$, memory_order_relaxed) != 0)
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
}

//: fence_release | handover | relaxed load, then fence | any thread
static atomic_int is$;
static void give$(void) {
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&is$, 1, memory_order_relaxed);
}
static void take$(void) {
    while (!atomic_load_explicit(&is$, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
}

//: fence_half | handover | acquire load of a fenced store | any thread
static atomic_int is$;
static void give$(void) {
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&is$, 1, memory_order_relaxed);
}
static void take$(void) {
    while (!atomic_load_explicit(&is$, memory_order_acquire))
        sched_yield();
}

//: fence_other_half | handover | fenced load of a release store | any thread
static atomic_int is$;
static void give$(void) { atomic_store_explicit(&is$, 1, memory_order_release); }
static void take$(void) {
    while (!atomic_load_explicit(&is$, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acq_rel);
}

//: builtin_atomics | handover | __atomic and __sync builtins | any thread
static int is$;
static void give$(void) { __sync_fetch_and_add(&is$, 1); }
static void take$(void) {
    while (!__atomic_load_n(&is$, __ATOMIC_ACQUIRE))
        sched_yield();
}

//: builtin_lock | handover | __sync_lock_test_and_set in a loop | any thread
static int held$ = 1;
static void give$(void) { __sync_lock_release(&held$); }
static void take$(void) {
    while (__sync_lock_test_and_set(&held$, 1))
        sched_yield();
}

//: stack | handover | a stack of atomic nodes | any thread
struct node$ {
    struct node$ *next;
    int value;
};
static _Atomic(struct node$ *) head$;
static void give$(void) {
    struct node$ *node = malloc(sizeof *node);
    node->value = 9;
    node->next = atomic_load_explicit(&head$, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&head$, &node->next, node, memory_order_release,
                                                  memory_order_relaxed))
        ;
}
static void take$(void) {
    struct node$ *node;
    while (!(node = atomic_exchange_explicit(&head$, NULL, memory_order_acquire)))
        sched_yield();
    must(node->value == 9);
    free(node);
}

//: sequence_lock | handover | a sequence lock over atomics | any thread
static atomic_uint sequence$;
static atomic_int inside$;
static void give$(void) {
    atomic_store_explicit(&sequence$, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&inside$, 4, memory_order_relaxed);
    atomic_store_explicit(&sequence$, 2, memory_order_release);
}
static void take$(void) {
    for (;;) {
        unsigned before = atomic_load_explicit(&sequence$, memory_order_acquire);
        int value = atomic_load_explicit(&inside$, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        unsigned after = atomic_load_explicit(&sequence$, memory_order_relaxed);
        if (before == 2 && after == 2 && value == 4)
            return;
        sched_yield();
    }
}
