// The caller uses a variable that it has lent to an asynchronous call, before it has waited for it.
#include <future>

int main() {
    int total = 0;
    auto future = std::async(std::launch::async, [&total] {
        total++; // RACE: total with line 9
    });
    total++; // RACE: total with line 7
    future.get();
}
