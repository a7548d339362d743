// Units: parts of a program, each with a level of its own.
#include "ctrace.h"

#include <string.h>

struct unit {
    char name[TRC_NAME];
    int level;
    unsigned long asked;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unit units[TRC_UNITS];
static int unit_count;
static int highest = TRC_ALWAYS;

static void raise_highest(int level) {
    if (level > highest)            // NORACE
        highest = level;            // RACE!
}

int trc_add_unit(const char *name, int level) {
    int number = -1;
    pthread_mutex_lock(&lock);
    if (unit_count < TRC_UNITS) {   // NORACE
        number = unit_count;
        strncpy(units[number].name, name, TRC_NAME - 1);
        units[number].level = level; // NORACE
        unit_count++;               // NORACE
        raise_highest(level);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

int trc_find_unit(const char *name) {
    int found = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < unit_count; i++) { // NORACE
        if (strcmp(units[i].name, name) == 0)
            found = i;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void trc_set_level(int unit, int level) {
    if (unit < 0 || unit >= TRC_UNITS)
        return;
    pthread_mutex_lock(&lock);
    units[unit].level = level;      // RACE!
    highest = TRC_ALWAYS;           // RACE!
    for (int i = 0; i < unit_count; i++) // NORACE
        raise_highest(units[i].level);
    pthread_mutex_unlock(&lock);
}

// Asked for every message: it should be quick, so no lock is taken. Whoever wrote this was in a hurry.
int trc_is_wanted(int unit, int level) {
    if (level > highest)            // RACE!
        return 0;
    if (unit < 0 || unit >= TRC_UNITS)
        return level == TRC_ALWAYS;
    units[unit].asked++;            // RACE!
    return level <= units[unit].level; // RACE!
}

void trc_unit_name(int unit, char *name, size_t size) {
    if (size == 0)
        return;
    name[0] = 0;
    if (unit < 0 || unit >= TRC_UNITS)
        return;
    pthread_mutex_lock(&lock);
    strncpy(name, units[unit].name, size - 1);
    pthread_mutex_unlock(&lock);
    name[size - 1] = 0;
}

void trc_list_units(FILE *to) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < unit_count; i++) // NORACE
        fprintf(to, "%s: %s, asked %lu times\n", units[i].name, trc_level_name(units[i].level), units[i].asked); // RACE!
    pthread_mutex_unlock(&lock);
}
