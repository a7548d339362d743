// A reader counts its visits under the shared lock, which another reader may hold as well.
//
// CFLAGS: -std=c++17
#include <mutex>
#include <shared_mutex>
#include <thread>

int visits;
std::shared_mutex lock;

static void visit() {
    std::shared_lock<std::shared_mutex> guard(lock);
    visits++; // RACE: visits with line 13
}

int main() {
    std::thread first(visit), second(visit);
    {
        std::lock_guard<std::shared_mutex> guard(lock);
        visits = 0; // NORACE: visits
    }
    first.join();
    second.join();
}
