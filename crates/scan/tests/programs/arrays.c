// Elements with constant and variable numbers, of one and of two dimensions, and arithmetic with pointers.
int numbers[10];
int table[4][8];

int third(void) { return numbers[3]; }

int some(int i) { return numbers[i]; }

int both(int i, int j) { return table[i][j]; }

int row(int j) { return table[2][j]; }

int *further(int *p, long n) { return p + n; }

char *bytes(char *p) { return p - 4; }

int on_stack(int i)
{
    int local[3] = {1, 2, 3};
    return local[i];
}

int any_size(int n)
{
    int local[n];
    local[0] = n;
    return local[n - 1];
}
