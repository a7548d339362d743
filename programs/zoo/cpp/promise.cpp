// A promise fulfilled in one thread, its future awaited in another: what was written before set_value
// is visible after get.
//
// NORACE
// EXPECT-STDOUT: answer 42 question 21
#include <cstdio>
#include <future>
#include <thread>

int question;

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&promise] {
        question = 21; // NORACE: question
        promise.set_value(42);
    });
    int answer = future.get();
    std::printf("answer %d question %d\n", answer, question); // NORACE: question
    thread.join();
}
