// Guards: what they lock, when they let go, and those that only try.
#include <mutex>
#include <shared_mutex>
#include <thread>

std::mutex lock, other;
std::recursive_mutex again;
std::shared_mutex shared;
std::timed_mutex timed;
int guarded, early, deferred, adopted, tried, untried, both, one_of_both, nested, read_only, upgraded, in_time, swapped;

static void lend() {
    std::lock_guard<std::mutex> guard(lock);
    guarded++;                                      // NORACE
}

static void leave_early() {
    std::unique_lock<std::mutex> guard(lock);
    early++;                                        // RACE!
    guard.unlock();
    early++;                                        // RACE!
    guard.lock();
    guarded++;                                      // NORACE
}

static void defer() {
    std::unique_lock<std::mutex> guard(lock, std::defer_lock);
    deferred++;                                     // RACE!
    guard.lock();
    guarded++;                                      // NORACE
}

static void adopt() {
    lock.lock();
    std::unique_lock<std::mutex> guard(lock, std::adopt_lock);
    adopted++;                                      // NORACE
}

static void attempt() {
    std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
    if (guard.owns_lock())
        tried++;                                    // NORACE
    else
        untried++;                                  // RACE!
}

static void take_both() {
    std::scoped_lock guard(lock, other);
    both++;                                         // NORACE
}

static void take_both_by_hand() {
    std::unique_lock<std::mutex> first(lock, std::defer_lock), second(other, std::defer_lock);
    std::lock(first, second);
    both++;                                         // NORACE
    one_of_both++;                                  // NORACE
}

static void take_one() {
    std::lock_guard<std::mutex> guard(other);
    one_of_both++;                                  // NORACE
}

static void nest() {
    std::lock_guard<std::recursive_mutex> outer(again);
    {
        std::lock_guard<std::recursive_mutex> inner(again);
        nested++;                                   // NORACE
    }
    nested++;                                       // NORACE
}

static int look() {
    std::shared_lock<std::shared_mutex> guard(shared);
    upgraded++;                                     // RACE!
    return read_only;                               // NORACE
}

static void change() {
    std::unique_lock<std::shared_mutex> guard(shared);
    read_only++;                                    // NORACE
}

static void wait_a_while() {
    if (timed.try_lock_for(std::chrono::seconds(1))) {
        in_time++;                                  // NORACE
        timed.unlock();
    }
}

static std::unique_lock<std::mutex> locked() {
    return std::unique_lock<std::mutex>(lock);
}

static void take_over() {
    auto guard = locked();
    guarded++;                                      // NORACE
}

static void work() {
    lend();
    leave_early();
    defer();
    adopt();
    attempt();
    take_both();
    take_both_by_hand();
    take_one();
    nest();
    look();
    change();
    wait_a_while();
    take_over();
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
    return guarded + early + both;                  // NORACE
}
