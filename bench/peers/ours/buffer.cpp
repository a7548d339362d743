// The buffer of ../algorithms/buffer.rs in C++.
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

constexpr std::size_t PLACES = 2;

struct Buffer {
    bool is_broken;
    std::mutex lock;
    std::condition_variable not_empty, not_full;
    int values[PLACES];
    std::size_t count = 0;

    void put(int value) {
        std::unique_lock<std::mutex> held(lock);
        while (count == PLACES)
            not_full.wait(held);
        values[count++] = value;
        if (!is_broken || count == 1)
            not_empty.notify_one();
    }

    int take() {
        std::unique_lock<std::mutex> held(lock);
        while (count == 0)
            not_empty.wait(held);
        int value = values[0];
        values[0] = values[1];
        count--;
        not_full.notify_one();
        return value;
    }
};

int main(int argc, char **argv) {
    Buffer buffer;
    buffer.is_broken = argc > 1 && std::strcmp(argv[1], "broken") == 0;
    int sums[2] = {};
    auto consume = [&](int which, int takes) {
        for (int i = 0; i < takes; i++)
            sums[which] += buffer.take();
    };
    std::thread first(consume, 0, 1), second(consume, 1, 2);
    for (int value = 1; value <= 3; value++)
        buffer.put(value);
    first.join();
    second.join();
    if (sums[0] + sums[1] != 6)
        std::abort();
}
