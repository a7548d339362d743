// What all pieces in C++ share. A piece may be used several times: `$` becomes the number of its use.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

/* What cannot fail here. */
static void must_at(bool is, const char *what, int line) {
    if (!is) {
        fprintf(stderr, "line %d: not %s\n", line, what);
        _exit(3);
    }
}
#define must(is) must_at(is, #is, __LINE__)

static void keep_signals_out(void) {}
