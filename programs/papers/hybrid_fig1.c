// From "hybrid", figure 1: a parent interrupts its child unless the child has already gone.
//
// The parent tests and uses the pointer under its lock; the child clears it without the lock. If the
// clearing falls between test and use, the parent follows a null pointer. The flag, too, is used by
// both threads without a lock, but it is written before the child exists.
//
// Verdict: the child's clearing races with the parent's test and with the parent's second read of
// the pointer. The flag and the first write of the pointer come before the thread's creation. An
// unlucky schedule may crash the program at the use; that is the bug.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct child {
    atomic_bool interrupted;
};

struct parent {
    pthread_mutex_t lock;
    int flag;
    struct child *child;
};

struct child worker;
struct parent parent = {.lock = PTHREAD_MUTEX_INITIALIZER};
int worked;

static void *run(void *arg) {
    struct parent *p = arg;
    if (p->flag == 1) // NORACE: parent.flag
        worked = 1;
    p->child = NULL; // RACE: parent.child with line 43, parent.child with line 44
    return NULL;
}

int main(void) {
    pthread_t thread;
    parent.flag = 1; // NORACE: parent.flag
    parent.child = &worker; // NORACE: parent.child
    pthread_create(&thread, NULL, run, &parent);
    pthread_mutex_lock(&parent.lock);
    if (parent.child != NULL) // RACE: parent.child with line 33
        atomic_store(&parent.child->interrupted, true); // RACE: parent.child with line 33
    pthread_mutex_unlock(&parent.lock);
    pthread_join(thread, NULL);
    return 0;
}
