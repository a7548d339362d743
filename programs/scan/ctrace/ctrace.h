// A library that traces what the threads of a program do, and the parts that it consists of.
//
// A program has units, and each unit a level: what is told at a higher level than that is not traced. Threads say their names, and
// write into rings of their own; a collector takes the messages from there and writes them to a file.
#ifndef CTRACE_H
#define CTRACE_H

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

enum trc_level { TRC_ALWAYS, TRC_ERROR, TRC_WARNING, TRC_INFO, TRC_DEBUG };

enum { TRC_NAME = 32, TRC_TEXT = 120, TRC_UNITS = 32, TRC_BUCKETS = 16, TRC_SLOTS = 64, TRC_DEPTH = 16 };

// A message, as it waits to be written.
struct trc_message {
    unsigned long number;
    unsigned long at;
    int unit;
    int level;
    char text[TRC_TEXT];
};

// Messages of one thread, in a circle.
struct trc_ring {
    pthread_mutex_t lock;
    pthread_cond_t has_room;
    unsigned first;
    unsigned count;
    unsigned long lost;
    int waits;
    struct trc_message slots[TRC_SLOTS];
};

// A thread that is known.
struct trc_thread {
    struct trc_thread *next;
    pthread_t self;
    char name[TRC_NAME];
    int level;
    int depth;
    const char *stack[TRC_DEPTH];
    unsigned long told;
    struct trc_ring ring;
};

// ctrace.c: what programs call.
int trc_start(const char *path);
void trc_stop(void);
void trc_on(void);
void trc_off(void);
void trc_print(int unit, int level, const char *format, ...);
void trc_enter(int unit, const char *function);
void trc_leave(int unit, const char *function);
unsigned long trc_messages(void);

// units.c: parts of a program, and how much is told of each.
int trc_add_unit(const char *name, int level);
int trc_find_unit(const char *name);
void trc_set_level(int unit, int level);
int trc_is_wanted(int unit, int level);
void trc_unit_name(int unit, char *name, size_t size);
void trc_list_units(FILE *to);

// threads.c: who is known.
void trc_threads_start(void);
struct trc_thread *trc_add_thread(const char *name);
struct trc_thread *trc_self(void);
void trc_remove_thread(void);
void trc_each_thread(void (*visit)(struct trc_thread *, void *), void *data);
int trc_threads(void);

// ring.c: messages that wait.
void trc_ring_start(struct trc_ring *ring, int waits);
int trc_ring_put(struct trc_ring *ring, const struct trc_message *message);
int trc_ring_take(struct trc_ring *ring, struct trc_message *message);
unsigned long trc_ring_lost(struct trc_ring *ring);
void trc_ring_end(struct trc_ring *ring);

// collector.c: who writes them down.
int trc_collector_start(const char *path);
void trc_collector_wake(void);
void trc_collector_stop(void);
unsigned long trc_written(void);
unsigned long trc_bytes(void);
void trc_rotate(const char *path);

// format.c: how a message looks.
unsigned long trc_now(void);
void trc_format(char *text, size_t size, const char *format, va_list arguments);
int trc_line(char *line, size_t size, const struct trc_message *message, const char *thread);
const char *trc_level_name(int level);

#endif
