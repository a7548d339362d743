// How many words and lines there are in several files.
#ifndef TALLY_H
#define TALLY_H

// Adds a file's words and lines.
void tally_add(long words, long lines);

// What was added up.
long tally_words(void);
long tally_lines(void);

#endif
