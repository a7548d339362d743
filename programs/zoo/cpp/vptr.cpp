// A worker object is joined before its destructors run: no virtual call can meet them.
//
// NORACE
// EXPECT-STDOUT: calls 1
#include <cstdio>
#include <thread>

int calls;

class Task {
public:
    virtual ~Task() = default;
    virtual void step() {}
    void start() {
        thread = std::thread([this] { step(); }); // NORACE: vptr
    }
    void join() { thread.join(); }

private:
    std::thread thread;
};

class Counting : public Task {
public:
    void step() override { calls++; } // NORACE: calls
};

int main() {
    {
        Counting task;
        task.start();
        task.join();
    }
    std::printf("calls %d\n", calls); // NORACE: calls
}
