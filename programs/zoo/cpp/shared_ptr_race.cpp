// The count inside is atomic, the std::shared_ptr itself is not: one thread copies it while the other
// exchanges it for a new one.
#include <memory>
#include <thread>

std::shared_ptr<int> current = std::make_shared<int>(1);
int seen;

int main() {
    auto next = std::make_shared<int>(2);
    std::thread thread([] {
        std::shared_ptr<int> copy = current; // RACE: current with line 15
        seen = copy ? 1 : 0;
    });
    current.swap(next); // RACE: current with line 12
    thread.join();
}
