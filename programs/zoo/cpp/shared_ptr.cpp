// Copies of a std::shared_ptr in several threads: the count is atomic, and whoever drops the last copy
// destroys the object after everybody else's use.
//
// NORACE
// EXPECT-STDOUT: apples 5
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

struct Basket {
    int apples[2] = {0, 0};
    ~Basket() { std::printf("apples %d\n", apples[0] + apples[1]); } // NORACE: basket
};

static void fill(std::shared_ptr<Basket> basket, int place, int apples) {
    basket->apples[place] = apples; // NORACE: basket
}

int main() {
    auto basket = std::make_shared<Basket>();
    std::thread first(fill, basket, 0, 2);
    std::thread second(fill, std::move(basket), 1, 3);
    first.join();
    second.join();
}
