// What a function without a name sees of those around it.
template <class F> void run(F f) { f(); }

int total;

void counts(int step)
{
    int local = 0;
    run([&local, step] { local += step; });
    total = local;
}
