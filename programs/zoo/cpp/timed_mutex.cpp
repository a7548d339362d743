// std::timed_mutex, entered by try_lock_for and try_lock_until with limits that never run out. (Stock
// TSan may miss pthread_mutex_clocklock, which is underneath, and report `total`.)
//
// NORACE
// EXPECT-STDOUT: total 20
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

int total;
std::timed_mutex lock;

static void add() {
    using namespace std::chrono;
    for (int i = 0; i < 5; i++) {
        if (lock.try_lock_for(hours(1))) {
            total++; // NORACE: total
            lock.unlock();
        }
        if (lock.try_lock_until(system_clock::now() + hours(1))) {
            total++; // NORACE: total
            lock.unlock();
        }
    }
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
    std::printf("total %d\n", total);
}
