/* A state machine: a jump table in a loop, with its index from memory, and states that fall
 * through, leave early or go on by a jump of their own. */

static unsigned state, tape[32], out[32];

__attribute__((noinline)) static unsigned step(unsigned at, unsigned limit) {
    unsigned seen = 0;
    while (at < limit) {
        switch (state & 7) {
        case 0:
            state = tape[at++ & 31];
            break;
        case 1:
            out[at & 31] = seen;
            /* fall through */
        case 2:
            seen += tape[at & 31];
            state = seen;
            at++;
            break;
        case 3:
            return seen;
        case 4:
            goto four;
        case 5:
            if (tape[at & 31] > 3) {
            four:
                state = 6;
                continue;
            }
            at += 2;
            break;
        case 6:
            state = at & 1 ? 7 : 0;
            at++;
            break;
        default:
            at++;
            state = tape[(at ^ seen) & 31];
        }
    }
    return seen;
}

int main(void) {
    for (unsigned i = 0; i < 32; i++)
        tape[i] = (i * 7 + i / 3) & 7;
    for (unsigned round = 0; round < 8; round++) {
        state = round;
        out[round] = step(round, 24);
    }
    return 0;
}
