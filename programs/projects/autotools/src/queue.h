// Numbers that threads hand each other.
#ifndef QUEUE_H
#define QUEUE_H

// Puts a number in; not if there is no room.
int queue_put(int job);

// Takes one out; -1 if there is none.
int queue_take(void);

// How many there are.
int queue_length(void);

#endif
