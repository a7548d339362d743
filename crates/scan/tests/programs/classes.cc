// Classes with bases, virtual functions, members that are shared by all, and templates.
namespace bank {

struct Base {
    virtual ~Base() {}
    virtual int work(int n) = 0;
    int seen = 0;
};

class Account : public Base {
public:
    int work(int n) override { return balance += n; }
    static int count;
    long limit;

private:
    int balance = 5;
};

int Account::count = 1;

template <class T> struct Box {
    T value;
    int times;
};

} // namespace bank

bank::Account account;

int virtually(bank::Base &base) { return base.work(3) + base.seen; }

int boxed(bank::Box<char> *a, bank::Box<double> *b) { return a->times + b->times; }

long counted() { return bank::Account::count++; }
