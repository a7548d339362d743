// Threads: what they are given, who waits for them, and where their handles go.
#include <functional>
#include <thread>
#include <vector>

int by_reference, in_vector, detached, after_detached, of_first, of_second, moved_handle, in_member, of_method, ended;

static void add(int &number) {
    number++;                                       // RACE!
}

static void first_only() {
    of_first++;                                     // NORACE
}

static void second_only() {
    of_second++;                                    // NORACE
}

static void let_go() {
    detached++;                                     // RACE!
}

class Worker {
public:
    Worker() : thread([this] { run(); }) {}
    ~Worker() { thread.join(); }
    int seen = 0;

private:
    void run() {
        in_member++;                                // NORACE
    }
    std::thread thread;
};

class Counter {
public:
    void count() {
        counted++;                                  // RACE!
        alone++;                                    // NORACE
    }
    int counted = 0;
    int alone = 0;
};

static void captures() {
    int local = 0, own = 0;
    std::thread one([&local] {
        local++;                                    // RACE!
    });
    std::thread two([&local, own]() mutable {
        own++;                                      // NORACE
        local++;                                    // RACE!
    });
    one.join();
    two.join();
    local++;                                        // NORACE
    own++;                                          // NORACE
}

static void arguments() {
    int number = 0;
    std::thread one(add, std::ref(number));
    add(number);
    one.join();
    number++;                                       // NORACE
}

static void many() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            in_vector++;                            // RACE!
        });
    for (auto &thread : threads)
        thread.join();
    in_vector = 0;                                  // NORACE
}

static void move_on() {
    std::thread handle;
    handle = std::thread([] {
        moved_handle++;                             // RACE!
    });
    moved_handle++;                                 // RACE!
    handle.join();
    moved_handle++;                                 // NORACE
}

int main() {
    captures();
    arguments();
    many();
    move_on();
    std::thread one(first_only), two(second_only);
    one.join();
    two.join();
    of_first++;                                     // NORACE
    {
        Worker worker;
        worker.seen++;                              // NORACE
    }
    in_member++;                                    // NORACE
    Counter counter, other;
    std::thread counting(&Counter::count, &counter), elsewhere(&Counter::count, &other);
    counter.counted++;                              // RACE!
    counting.join();
    elsewhere.join();
    std::thread(let_go).detach();
    detached++;                                     // RACE!
}
