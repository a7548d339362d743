// A constructor that sets the table of virtual functions to what it is makes no event.

#include <new>

struct Base {
    int x = 0;
    virtual int f() { return x; }
    virtual ~Base() = default;
};
struct Derived : Base {
    int f() override { return x + 1; }
};

static int sum;

__attribute__((noinline)) static void use(Base *base) {
    sum += base->f();
}

int main() {
    alignas(Derived) unsigned char place[sizeof(Derived)];
    for (int round = 0; round < 4; round++) {
        Base *made = round % 3 == 0 ? static_cast<Base *>(new (place) Base) : new (place) Derived;
        use(made);
        if (round % 2 == 0)
            made->~Base();
    }
    return 0;
}
