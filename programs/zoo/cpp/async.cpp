// std::async with its own threads, one deferred call, and a shared future read twice.
//
// NORACE
// EXPECT-STDOUT: sum 15
#include <cstdio>
#include <future>

int parts[2];

int main() {
    auto first = std::async(std::launch::async, [] { parts[0] = 1; }); // NORACE: parts
    auto second = std::async(std::launch::async, [] { parts[1] = 2; }); // NORACE: parts
    auto lazy = std::async(std::launch::deferred, [] { return 4; });
    std::shared_future<int> shared = std::async(std::launch::async, [] { return 4; }).share();
    first.get();
    second.get();
    int sum = parts[0] + parts[1] + lazy.get() + shared.get() + shared.get(); // NORACE: parts
    std::printf("sum %d\n", sum);
}
