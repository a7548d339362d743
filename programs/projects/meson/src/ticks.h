// Ticks of a clock.
#ifndef TICKS_H
#define TICKS_H

// One more.
void tick(void);

// How many there were.
unsigned ticks(void);

#endif
