// std::unique_lock released early: the second access comes after the unlock, inside the same scope.
#include <mutex>
#include <thread>

int total;
std::mutex lock;

static void add() {
    std::unique_lock<std::mutex> guard(lock);
    total++; // RACE: total with line 12
    guard.unlock();
    total++; // RACE: total with line 10, total with line 12
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
}
