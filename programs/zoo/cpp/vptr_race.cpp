// The base class joins its thread in its destructor. By then the derived part is gone and the object's
// virtual table pointer is being set back: the thread's virtual call races with that and may end up in
// the base class. (The derived destructor stores the pointer that is already there; that is not counted.)
#include <thread>

int calls;

class Task {
public:
    virtual ~Task() { // RACE: vptr with line 17
        if (thread.joinable())
            thread.join();
    }
    virtual void step() {}
    void start() {
        thread = std::thread([this] {
            step(); // RACE: vptr with line 10
        });
    }

private:
    std::thread thread;
};

class Counting : public Task {
public:
    void step() override { calls++; } // NORACE: calls
};

int main() {
    Counting task;
    task.start();
}
