// A function-local static whose first initialisation throws, and std::call_once routines inside each other
// of which the inner one throws and the outer one goes on: each attempt is after the one that failed.
//
// NORACE
// EXPECT-STDOUT: tries 2 sum 14 attempts 2 outer 5
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

int tries, attempts, outer_value;
int seen[2];
std::once_flag inner, outer;

static int make() {
    if (tries++ == 0) // NORACE: tries
        throw std::runtime_error("not yet");
    return 7;
}

static int value() {
    static int made = make();
    return made;
}

static void build_inner() {
    if (attempts++ == 0) // NORACE: attempts
        throw std::runtime_error("not yet");
}

static void build_outer() {
    try {
        std::call_once(inner, build_inner);
    } catch (const std::runtime_error &) {
    }
    outer_value = 5; // NORACE: outer_value
}

static void use(int *my_seen) {
    try {
        *my_seen = value();
    } catch (const std::runtime_error &) {
        *my_seen = value();
    }
    std::call_once(outer, build_outer);
    std::call_once(inner, build_inner);
    if (outer_value != 5) // NORACE: outer_value
        std::puts("not built");
}

int main() {
    std::thread first(use, &seen[0]), second(use, &seen[1]);
    first.join();
    second.join();
    std::printf("tries %d sum %d attempts %d outer %d\n", tries, seen[0] + seen[1], attempts, outer_value);
}
