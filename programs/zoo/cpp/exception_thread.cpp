// An exception caught in a thread, carried over in an exception_ptr and thrown again in main.
//
// NORACE
// EXPECT-STDOUT: caught 42
#include <cstdio>
#include <exception>
#include <thread>

struct Failure {
    int code;
};

std::exception_ptr failure;

static void fail(int depth) {
    if (depth == 0)
        throw Failure{42}; // NORACE: failure.code
    fail(depth - 1);
}

int main() {
    std::thread thread([] {
        try {
            fail(5);
        } catch (...) {
            failure = std::current_exception(); // NORACE: failure
        }
    });
    thread.join();
    try {
        std::rethrow_exception(failure); // NORACE: failure
    } catch (const Failure &caught) {
        std::printf("caught %d\n", caught.code); // NORACE: failure.code
    }
}
