// The table is built once, but then every user also counts itself in it.
#include <mutex>
#include <thread>

int users;
std::once_flag once;

static void use() {
    std::call_once(once, [] {
        users = 0; // NORACE: users
    });
    users++; // RACE: users with line 12
}

int main() {
    std::thread first(use), second(use);
    first.join();
    second.join();
}
