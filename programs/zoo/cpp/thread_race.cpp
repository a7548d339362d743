// Two threads capture the same local by reference and both change it.
#include <thread>

int main() {
    int total = 0;
    std::thread first([&total] {
        total++; // RACE: total with line 10
    });
    std::thread second([&total] {
        total++; // RACE: total with line 7
    });
    first.join();
    second.join();
}
