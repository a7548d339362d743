/* Charges in a hierarchy of boxes: sums go up, then what is far away acts on boxes, and goes down to the charges;
   what is near acts on them one by one. After the manner of fast multipole methods, with the first term only. */
#include "kernel.h"

#include <math.h>

enum { LEVELS = 7 };

typedef struct {
    double charge, at[2], field;
    long first, many;
} Box;

static double *xs, *ys, *charges, *fields;
static long *order;
static Box *levels[LEVELS];
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double all_fields;

static long side(int level) {
    return 1L << level;
}

static long box_of(long at) {
    long wide = side(LEVELS - 1);
    long x = (long)(xs[at] * (double)wide), y = (long)(ys[at] * (double)wide);
    return y * wide + x;
}

static void act(Box *on, const Box *of) {
    if (of->charge != 0) {
        double x = on->at[0] - of->at[0], y = on->at[1] - of->at[1];
        on->field += of->charge / sqrt(x * x + y * y);
    }
}

/* What lies near a box's parent but not near itself acts on it. */
static void far_away(int level, long number) {
    long wide = side(level), x = number % wide, y = number / wide;
    Box *box = &levels[level][number];
    long above = side(level - 1);
    box->field = levels[level - 1][y / 2 * above + x / 2].field;
    for (long v = (y / 2 - 1) * 2; v < (y / 2 + 2) * 2; v++) {
        for (long u = (x / 2 - 1) * 2; u < (x / 2 + 2) * 2; u++) {
            int is_near = labs(u - x) <= 1 && labs(v - y) <= 1;
            if (u >= 0 && v >= 0 && u < wide && v < wide && !is_near) {
                act(box, &levels[level][v * wide + u]);
            }
        }
    }
}

static void near(long number) {
    long wide = side(LEVELS - 1), x = number % wide, y = number / wide;
    Box *boxes = levels[LEVELS - 1], *box = &boxes[number];
    for (long k = box->first; k < box->first + box->many; k++) {
        long at = order[k];
        double field = box->field;
        for (long v = y - 1; v <= y + 1; v++) {
            for (long u = x - 1; u <= x + 1; u++) {
                if (u < 0 || v < 0 || u >= wide || v >= wide) {
                    continue;
                }
                Box *other = &boxes[v * wide + u];
                for (long j = other->first; j < other->first + other->many; j++) {
                    long one = order[j];
                    double a = xs[one] - xs[at], b = ys[one] - ys[at];
                    field += one == at ? 0 : charges[one] / sqrt(a * a + b * b + 1e-9);
                }
            }
        }
        fields[at] = field;
    }
}

static void *work(void *number) {
    long me = (long)number;
    for (int level = LEVELS - 1; level >= 0; level--) {
        long many = side(level) * side(level);
        for (long box = first_of(many, me); box < first_of(many, me + 1); box++) {
            Box *it = &levels[level][box];
            long wide = side(level);
            it->at[0] = ((double)(box % wide) + 0.5) / (double)wide;
            it->at[1] = ((double)(box / wide) + 0.5) / (double)wide;
            it->charge = it->field = 0;
            if (level == LEVELS - 1) {
                for (long k = it->first; k < it->first + it->many; k++) {
                    it->charge += charges[order[k]];
                }
                continue;
            }
            for (int part = 0; part < 4; part++) {
                long x = box % wide * 2 + part % 2, y = box / wide * 2 + part / 2;
                it->charge += levels[level + 1][y * wide * 2 + x].charge;
            }
        }
        pthread_barrier_wait(&barrier);
    }
    for (int level = 1; level < LEVELS; level++) {
        long many = side(level) * side(level);
        for (long box = first_of(many, me); box < first_of(many, me + 1); box++) {
            far_away(level, box);
        }
        pthread_barrier_wait(&barrier);
    }
    long many = side(LEVELS - 1) * side(LEVELS - 1);
    double sum = 0;
    for (long box = first_of(many, me); box < first_of(many, me + 1); box++) {
        near(box);
        for (long k = 0; k < levels[LEVELS - 1][box].many; k++) {
            sum += fields[order[levels[LEVELS - 1][box].first + k]];
        }
    }
    pthread_mutex_lock(&lock);
    all_fields += sum;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 400000);
    size_t many = (size_t)size;
    xs = allocated(many, sizeof *xs);
    ys = allocated(many, sizeof *ys);
    charges = allocated(many, sizeof *charges);
    fields = allocated(many, sizeof *fields);
    order = allocated(many, sizeof *order);
    for (int level = 0; level < LEVELS; level++) {
        levels[level] = allocated((size_t)(side(level) * side(level)), sizeof(Box));
    }
    uint64_t state = 11;
    Box *boxes = levels[LEVELS - 1];
    for (long at = 0; at < size; at++) {
        xs[at] = next_part(&state);
        ys[at] = next_part(&state);
        charges[at] = next_part(&state);
        boxes[box_of(at)].many++;
    }
    long first = 0;
    for (long box = 0; box < side(LEVELS - 1) * side(LEVELS - 1); box++) {
        boxes[box].first = first;
        first += boxes[box].many;
        boxes[box].many = 0;
    }
    for (long at = 0; at < size; at++) {
        Box *box = &boxes[box_of(at)];
        order[box->first + box->many++] = at;
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    printf("fmm: %.3f\n", all_fields / (double)size);
    return 0;
}
