// Calls that may throw, with something to clean up.
struct Guard {
    int *state;
    explicit Guard(int *state) : state(state) { *state = 1; }
    ~Guard() { *state = 0; }
};

int unknown();
int state;

int guarded()
{
    Guard guard(&state);
    return unknown();
}

int caught()
{
    try {
        return unknown();
    } catch (int number) {
        return number;
    }
}
