// A value is looked at under a shared lock and changed under it too: the author thought that nobody else would
// find it empty. Usually nobody does; an exclusive lock that main has in between orders the two.
//
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex lock;
int value, other_value;

static void fill() {
    std::shared_lock<std::shared_mutex> guard(lock);
    value = 1; // RACE: value with line 13
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread first(fill);
    dawdle();
    {
        std::unique_lock<std::shared_mutex> guard(lock);
        other_value = 1;
    }
    std::thread second(fill);
    first.join();
    second.join();
}
