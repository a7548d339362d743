// Fields through pointers, nested, of arrays of structures, of nameless unions and structures, and bit fields.
struct point {
    int x, y;
};

typedef struct {
    long total;
    struct point corners[4];
    union {
        int number;
        void *pointer;
    };
    unsigned open : 3, closed : 5;
} box_t;

struct account {
    const char *name;
    struct account *next;
    box_t box;
};

int nested(struct account *a) { return a->next->box.corners[2].y; }

int element(struct account *a, int i) { return a->box.corners[i].x; }

void *in_union(box_t *box) { return box->pointer; }

int bits(box_t *box) { return box->closed; }

long behind_void(void *argument)
{
    struct account *a = argument;
    return a->box.total;
}

box_t *around(struct point *first) { return (box_t *)((char *)first - 8); }
