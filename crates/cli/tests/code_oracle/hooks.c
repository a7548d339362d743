/* Hooks that stand before the runtime's own. What they have to say stands in the trace as reads of
 * three bytes of oracle_marker. (Three: the recorder lets a read of the size of the write before it
 * pass, for it may be the other half of a copy.)
 *
 * oracle_marker[0]: a read follows. oracle_marker[1]: a read follows that finds something else.
 * oracle_marker[2]: a basic block is entered here, if the program is built with coverage.
 *
 * ORACLE_READ=n and ORACLE_MASK=m: the n-th read of the run finds its memory changed by m. The
 * memory is put back at the thread's next hook, before anybody else can write there. A program that
 * does not end by itself is ended after so many hooks, or by the kernel. */

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

unsigned char oracle_marker[3][4];

static unsigned long reads, hooks, wanted = -1ul, mask, most_hooks = 200000;

static __thread struct {
    volatile unsigned char *place;
    unsigned long size;
    unsigned char before[16];
} changed;

void __tsan_read1_pc(void *, void *);
void __tsan_read2_pc(void *, void *);
void __tsan_read4_pc(void *, void *);
void __tsan_read8_pc(void *, void *);
void __tsan_read16_pc(void *, void *);
void __tsan_read_range_pc(void *, unsigned long, void *);

__attribute__((constructor)) static void oracle_start(void) {
    struct rlimit limit = {2, 2};
    setrlimit(RLIMIT_CPU, &limit);
    if (getenv("ORACLE_READ")) {
        wanted = strtoul(getenv("ORACLE_READ"), 0, 0);
        mask = strtoul(getenv("ORACLE_MASK"), 0, 0);
    }
}

void oracle_restore(void) {
    if (++hooks > most_hooks)
        _exit(0);
    for (unsigned long i = 0; i < changed.size; i++)
        changed.place[i] = changed.before[i];
    changed.size = 0;
}

static void change(void *place, unsigned long size) {
    changed.place = place;
    for (unsigned long i = 0; i < size; i++) {
        changed.before[i] = changed.place[i];
        changed.place[i] ^= (unsigned char)(mask >> i % 8 * 8);
    }
    changed.size = size;
}

/* Announces a read; whether it is to be changed. */
static int announce(void *pc) {
    int chosen = reads++ == wanted;
    __tsan_read_range_pc(oracle_marker[chosen], 3, pc);
    return chosen;
}

#define READ(name, bytes)                                                                         \
    void __wrap_##name(void *place) {                                                             \
        void *pc = __builtin_return_address(0);                                                   \
        oracle_restore();                                                                         \
        int chosen = announce(pc);                                                                \
        __tsan_read##bytes##_pc(place, pc);                                                       \
        if (chosen)                                                                               \
            change(place, bytes);                                                                 \
    }

READ(__tsan_read1, 1)
READ(__tsan_read2, 2)
READ(__tsan_read4, 4)
READ(__tsan_read8, 8)
READ(__tsan_read16, 16)
READ(__tsan_unaligned_read2, 2)
READ(__tsan_unaligned_read4, 4)
READ(__tsan_unaligned_read8, 8)
READ(__tsan_unaligned_read16, 16)

/* An atomic read happens in its hook, so its memory is changed before. */
void oracle_atomic_read(void *place, unsigned long size, void *pc) {
    oracle_restore();
    if (announce(pc))
        change(place, size);
}

#define SAVE                                                                                      \
    "push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n sub $8, %rsp\n"
#define BACK "add $8, %rsp\n pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n"

#define ATOMIC_READ(name, bytes)                                                                  \
    __asm__(".globl __wrap_" #name "\n __wrap_" #name ":\n" SAVE                                  \
            "mov $" #bytes ", %esi\n mov 56(%rsp), %rdx\n call oracle_atomic_read\n" BACK         \
            "jmp __real_" #name "\n");

ATOMIC_READ(__tsan_atomic8_load, 1)
ATOMIC_READ(__tsan_atomic16_load, 2)
ATOMIC_READ(__tsan_atomic32_load, 4)
ATOMIC_READ(__tsan_atomic64_load, 8)

#define OTHER(name)                                                                               \
    __asm__(".globl __wrap_" #name "\n __wrap_" #name ":\n" SAVE "call oracle_restore\n" BACK     \
            "jmp __real_" #name "\n");

OTHER(__tsan_write1)
OTHER(__tsan_write2)
OTHER(__tsan_write4)
OTHER(__tsan_write8)
OTHER(__tsan_write16)
OTHER(__tsan_unaligned_write2)
OTHER(__tsan_unaligned_write4)
OTHER(__tsan_unaligned_write8)
OTHER(__tsan_unaligned_write16)
OTHER(__tsan_vptr_update)
OTHER(__tsan_vptr_read)
OTHER(__tsan_read_range)
OTHER(__tsan_write_range)
OTHER(__tsan_func_entry)
OTHER(__tsan_func_exit)
OTHER(__tsan_atomic8_store)
OTHER(__tsan_atomic16_store)
OTHER(__tsan_atomic32_store)
OTHER(__tsan_atomic64_store)
OTHER(__tsan_atomic8_exchange)
OTHER(__tsan_atomic32_exchange)
OTHER(__tsan_atomic64_exchange)
OTHER(__tsan_atomic8_compare_exchange_val)
OTHER(__tsan_atomic32_compare_exchange_val)
OTHER(__tsan_atomic64_compare_exchange_val)
OTHER(__tsan_atomic32_compare_exchange_strong)
OTHER(__tsan_atomic64_compare_exchange_strong)
OTHER(__tsan_atomic32_fetch_add)
OTHER(__tsan_atomic64_fetch_add)
OTHER(__tsan_atomic32_fetch_sub)
OTHER(__tsan_atomic64_fetch_sub)
OTHER(__tsan_atomic_thread_fence)
OTHER(__tsan_memcpy)
OTHER(__tsan_memmove)
OTHER(__tsan_memset)
OTHER(memcpy)
OTHER(memmove)
OTHER(memset)
OTHER(malloc)
OTHER(free)
OTHER(pthread_create)
OTHER(pthread_join)
OTHER(pthread_mutex_lock)
OTHER(pthread_mutex_trylock)
OTHER(pthread_mutex_unlock)
OTHER(pthread_cond_wait)
OTHER(pthread_cond_signal)
OTHER(pthread_cond_broadcast)
OTHER(pthread_barrier_wait)
OTHER(pthread_rwlock_rdlock)
OTHER(pthread_rwlock_wrlock)
OTHER(pthread_rwlock_unlock)
OTHER(sem_wait)
OTHER(sem_post)

__asm__(".globl __sanitizer_cov_trace_pc\n .globl __sanitizer_cov_trace_pc_guard\n"
        ".globl __sanitizer_cov_trace_pc_guard_init\n"
        "__sanitizer_cov_trace_pc:\n __sanitizer_cov_trace_pc_guard:\n"
        "lea oracle_marker+8(%rip), %rdi\n mov $3, %esi\n jmp __real___tsan_read_range\n"
        "__sanitizer_cov_trace_pc_guard_init: ret\n");
