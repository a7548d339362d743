// Branches, loops, choices, switches and jumps through pointers.
int absolute(int n) { return n < 0 ? -n : n; }

int sum(int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += i;
    return total;
}

int chosen(int n)
{
    switch (n) {
    case 1:
        return 10;
    case -2:
        return 20;
    default:
        return 0;
    }
}

int both(int *p) { return p && *p > 3; }

int through_pointer(int n)
{
    static void *labels[] = {&&zero, &&one};
    goto *labels[n];
zero:
    return 0;
one:
    return 1;
}

void never(void) { __builtin_unreachable(); }
