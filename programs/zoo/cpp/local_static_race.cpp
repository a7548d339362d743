// The language protects the construction of a function-local static, not what is done with it later.
#include <thread>

struct Table {
    int uses;
    Table() : uses(0) {} // NORACE: table.uses
};

static Table &table() {
    static Table instance;
    return instance;
}

static void use() {
    table().uses++; // RACE: table.uses with line 15
}

int main() {
    std::thread first(use), second(use);
    first.join();
    second.join();
}
