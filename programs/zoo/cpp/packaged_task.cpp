// A packaged task moved into a thread; its future gives back the value or the exception.
//
// NORACE
// EXPECT-STDOUT: value 42
// EXPECT-STDOUT: error out of luck
#include <cstdio>
#include <future>
#include <stdexcept>
#include <thread>

int prepared;

static int work(bool lucky) {
    if (!lucky)
        throw std::runtime_error("out of luck");
    prepared = 41; // NORACE: prepared
    return 1;
}

int main() {
    std::packaged_task<int(bool)> good(work), bad(work);
    std::future<int> value = good.get_future(), error = bad.get_future();
    std::thread first(std::move(good), true), second(std::move(bad), false);
    int got = value.get();
    std::printf("value %d\n", prepared + got); // NORACE: prepared
    first.join();
    second.join();
    try {
        error.get();
    } catch (const std::runtime_error &reason) {
        std::printf("error %s\n", reason.what());
    }
}
