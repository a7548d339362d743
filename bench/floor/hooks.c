// The hooks of `-fsanitize=thread` without anything behind them: what a kernel costs with these is
// what the instrumentation costs, whatever the runtime does. Atomics still do their work.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NOTHING(name)         \
    void name(void *addr) {   \
        (void)addr;           \
    }
#define ACCESSES(prefix, size)       \
    NOTHING(prefix##read##size)      \
    NOTHING(prefix##write##size)
#define SIZES(prefix)    \
    ACCESSES(prefix, 2)  \
    ACCESSES(prefix, 4)  \
    ACCESSES(prefix, 8)  \
    ACCESSES(prefix, 16)

ACCESSES(__tsan_, 1)
SIZES(__tsan_)
SIZES(__tsan_unaligned_)
NOTHING(__tsan_vptr_read)
NOTHING(__tsan_func_entry)

void __tsan_func_exit(void) {}
void __tsan_init(void) {}

void __tsan_read_range(void *addr, unsigned long bytes) {
    (void)addr, (void)bytes;
}

void __tsan_write_range(void *addr, unsigned long bytes) {
    (void)addr, (void)bytes;
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int byte, size_t bytes) {
    return memset(to, byte, bytes);
}

#define CHANGE(bits, name)                                                                   \
    uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *at, uint##bits##_t value,    \
                                                int order) {                                 \
        (void)order;                                                                         \
        return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                                 \
    }

#define SWAP_IF(bits, strength, weak)                                                        \
    int __tsan_atomic##bits##_compare_exchange_##strength(                                   \
        uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, int order,       \
        int failing) {                                                                       \
        (void)order, (void)failing;                                                          \
        return __atomic_compare_exchange_n(at, expected, value, weak, __ATOMIC_SEQ_CST,      \
                                           __ATOMIC_SEQ_CST);                                \
    }

#define ATOMICS(bits)                                                                        \
    uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *at, int order) {         \
        (void)order;                                                                         \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                        \
    }                                                                                        \
    void __tsan_atomic##bits##_store(uint##bits##_t *at, uint##bits##_t value, int order) {  \
        (void)order;                                                                         \
        __atomic_store_n(at, value, __ATOMIC_RELEASE);                                       \
    }                                                                                        \
    uint##bits##_t __tsan_atomic##bits##_exchange(uint##bits##_t *at, uint##bits##_t value,  \
                                                  int order) {                               \
        (void)order;                                                                         \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                             \
    }                                                                                        \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                               \
        uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t value, int order,        \
        int failing) {                                                                       \
        (void)order, (void)failing;                                                          \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST,           \
                                    __ATOMIC_SEQ_CST);                                       \
        return expected;                                                                     \
    }                                                                                        \
    SWAP_IF(bits, strong, false)                                                             \
    SWAP_IF(bits, weak, true)                                                                \
    CHANGE(bits, fetch_add)                                                                  \
    CHANGE(bits, fetch_sub)                                                                  \
    CHANGE(bits, fetch_and)                                                                  \
    CHANGE(bits, fetch_or)                                                                   \
    CHANGE(bits, fetch_xor)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
