// A guard without a name is gone at the end of its own line: the counter is not protected.
#include <mutex>
#include <thread>

int total;
std::mutex lock;

static void add() {
    std::lock_guard<std::mutex>{lock};
    total++; // RACE: total with line 10
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
}
