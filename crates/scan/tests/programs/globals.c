// Global variables and what they hold from the beginning.
struct node {
    int key;
    struct node *next;
    int (*compare)(int, int);
};

static int less(int a, int b) { return a < b; }

static struct node tail = {2, 0, less};
struct node head = {1, &tail, less};
static struct node *table[3] = {&head, 0, &tail};
static int matrix[2][2];
int *inside = &matrix[1][1];
int (**field)(int, int) = &head.compare;
const char *text = "text";
_Thread_local int mine;
extern int elsewhere;
__attribute__((section(".special"))) int placed = 3;

__attribute__((section(".init.text"))) int counted(void)
{
    static int counter;
    return counter++ + elsewhere + mine + table[0]->key + *text;
}
