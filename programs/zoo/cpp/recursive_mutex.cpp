// std::recursive_mutex: a member function that locks calls another one that locks as well.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 40
#include <cstdio>
#include <mutex>
#include <thread>

class Counter {
public:
    void add() {
        std::lock_guard<std::recursive_mutex> guard(lock);
        total++; // NORACE: total
    }
    void add_twice() {
        std::lock_guard<std::recursive_mutex> guard(lock);
        add();
        total++; // NORACE: total
    }
    int value() const { return total; }

private:
    std::recursive_mutex lock;
    int total = 0;
};

Counter counter;

static void work() {
    for (int i = 0; i < 10; i++)
        counter.add_twice();
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
    std::printf("total %d\n", counter.value());
}
