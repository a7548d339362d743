// The queue of ../algorithms/queue.rs in C++.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

constexpr std::size_t PLACES = 4, PUSHES = 2;

struct Queue {
    bool is_broken;
    std::atomic<std::size_t> head{0}, tail{0}, places[PLACES]{};

    bool claim(std::size_t place) {
        if (is_broken) {
            tail.store(place + 1, std::memory_order_release);
            return true;
        }
        return tail.compare_exchange_strong(place, place + 1, std::memory_order_acq_rel, std::memory_order_acquire);
    }

    bool push(std::size_t value) {
        for (;;) {
            std::size_t first = head.load(std::memory_order_acquire);
            std::size_t place = tail.load(std::memory_order_acquire);
            if (place - first >= PLACES)
                return false;
            if (claim(place)) {
                places[place % PLACES].store(value, std::memory_order_release);
                return true;
            }
        }
    }

    std::size_t pop() { // 0: nothing
        std::size_t place = head.load(std::memory_order_acquire);
        std::size_t value = places[place % PLACES].load(std::memory_order_acquire);
        if (value != 0) {
            places[place % PLACES].store(0, std::memory_order_release);
            head.store(place + 1, std::memory_order_release);
        }
        return value;
    }
};

int main(int argc, char **argv) {
    Queue queue{argc > 1 && std::strcmp(argv[1], "broken") == 0};
    auto produce = [&](std::size_t base) {
        for (std::size_t number = 1; number <= PUSHES; number++) {
            if (!queue.push(base + number))
                std::abort();
        }
    };
    std::thread first(produce, 10), second(produce, 20);
    std::size_t sum = queue.pop();
    first.join();
    second.join();
    while (std::size_t value = queue.pop())
        sum += value;
    if (sum != 11 + 12 + 21 + 22)
        std::abort();
}
