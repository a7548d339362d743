// Calls: direct, through pointers, of functions that are not here, with any number of arguments, and other names of functions.
typedef int operation(int);

struct operations {
    operation *first, *second;
};

static int twice(int n) { return 2 * n; }
static int half(int n) { return n / 2; }

static const struct operations all = {twice, half};

int unknown(int *);

int direct(int n) { return twice(n) + unknown(&n); }

int indirect(struct operations *o, int n) { return o->second(n); }

operation *address(int n) { return n ? twice : all.first; }

int other_name(int) __attribute__((alias("direct")));

int any_number(int count, ...)
{
    __builtin_va_list list, copy;
    __builtin_va_start(list, count);
    __builtin_va_copy(copy, list);
    int first = __builtin_va_arg(list, int);
    __builtin_va_end(list);
    return first;
}
