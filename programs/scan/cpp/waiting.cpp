// Waiting for others: conditions, futures, latches, barriers, semaphores.
// CFLAGS: -std=c++20
#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>

std::mutex lock;
std::condition_variable changed;
std::condition_variable_any any;
bool ready, prepared;
int data, early, promised, kept, asynchronous, used, task_data, latched, too_late, phases, exchanged, permitted, unpermitted;

static void conditions() {
    std::thread other([] {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [] { return ready; });  // NORACE
        data++;                                     // NORACE
        guard.unlock();
        early++;                                    // RACE!
    });
    {
        std::lock_guard<std::mutex> guard(lock);
        data = 1;                                   // NORACE
        ready = true;                               // NORACE
    }
    changed.notify_one();
    early++;                                        // RACE!
    other.join();
}

static void any_condition() {
    std::thread other([] {
        std::unique_lock<std::mutex> guard(lock);
        while (!prepared)                           // NORACE
            any.wait(guard);
        data++;                                     // NORACE
    });
    {
        std::lock_guard<std::mutex> guard(lock);
        prepared = true;                            // NORACE
    }
    any.notify_all();
    other.join();
}

static void promises() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread other([&promise] {
        promised = 1;                               // NORACE
        promise.set_value(1);
        kept = 1;                                   // RACE!
    });
    future.get();
    promised++;                                     // NORACE
    kept++;                                         // RACE!
    other.join();
}

static void asynchronously() {
    auto future = std::async(std::launch::async, [] {
        asynchronous++;                             // NORACE
        used++;                                     // RACE!
    });
    used++;                                         // RACE!
    future.get();
    asynchronous++;                                 // NORACE
}

static void tasks() {
    std::packaged_task<void()> task([] {
        task_data++;                                // RACE!
    });
    auto future = task.get_future();
    std::thread other(std::move(task));
    task_data++;                                    // RACE!
    future.wait();
    other.join();
    task_data++;                                    // NORACE
}

static void latches() {
    std::latch latch(1);
    std::thread other([&latch] {
        latched++;                                  // NORACE
        latch.count_down();
        too_late++;                                 // RACE!
    });
    latch.wait();
    latched++;                                      // NORACE
    too_late++;                                     // RACE!
    other.join();
}

static void barriers() {
    std::barrier barrier(2);
    std::thread other([&barrier] {
        phases++;                                   // NORACE
        barrier.arrive_and_wait();
        exchanged++;                                // RACE!
    });
    barrier.arrive_and_wait();
    phases++;                                       // NORACE
    exchanged++;                                    // RACE!
    other.join();
}

static void semaphores() {
    std::binary_semaphore one(1);
    std::counting_semaphore<4> several(4);
    std::thread other([&] {
        one.acquire();
        permitted++;                                // NORACE
        one.release();
        several.acquire();
        unpermitted++;                              // RACE!
        several.release();
    });
    one.acquire();
    permitted++;                                    // NORACE
    one.release();
    several.acquire();
    unpermitted++;                                  // RACE!
    several.release();
    other.join();
}

static int stopped;

static void joining() {
    {
        std::jthread worker([] {
            stopped++;                              // RACE!
        });
        stopped++;                                  // RACE!
    }
    stopped++;                                      // NORACE
}

int main() {
    conditions();
    any_condition();
    promises();
    asynchronously();
    tasks();
    latches();
    barriers();
    semaphores();
    joining();
}
