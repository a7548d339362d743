#include "bank.h"

void audit(void) {
    printf("%ld\n", balance);
}
