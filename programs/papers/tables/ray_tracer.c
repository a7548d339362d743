// After "maximal", table 1, raytracer: two threads take rows of a small picture of three balls, follow a ray for each point, and add up what they see.
//
// Verdict: rows are taken under the lock, so that each is painted by one thread. The sum of the picture is added to without a lock, at any time by both: these meet. The brightest point
// is looked for in the same way: a look meets a change, and two changes meet when both threads have found a brighter point than the last.
// Main looks without the lock at how many rows were taken. The picture is read when both have ended.
//
// EXPECT-STDOUT: the balls are seen
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BALLS = 3, MOST = 2048, THREADS = 2 };

typedef struct {
    double x, y, z, radius;
} Ball;

const Ball balls[BALLS] = {{0.3, 0.3, 2.0, 0.2}, {0.6, 0.5, 1.5, 0.3}, {0.5, 0.8, 3.0, 0.25}};
int width;
int next_row;
int seen_rows;
int picture[MOST][MOST];
long checksum;
int brightest;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// The row to paint next; -1 when there is none.
static int take_row(void) {
    pthread_mutex_lock(&lock);
    int row = next_row < width ? next_row++ : -1; // RACE: next_row with line 78
    pthread_mutex_unlock(&lock);
    return row;
}

// How bright the nearest ball is on a ray straight ahead.
static int follow(double x, double y) {
    double nearest = 1e9;
    int brightness = 0;
    for (int i = 0; i < BALLS; i++) {
        double dx = balls[i].x - x, dy = balls[i].y - y;
        double inside = balls[i].radius * balls[i].radius - dx * dx - dy * dy;
        if (inside > 0 && balls[i].z < nearest) {
            nearest = balls[i].z;
            brightness = (int)(inside * 1000);
        }
    }
    return brightness;
}

static void note(int row_sum, int most) {
    checksum += row_sum + 1; // RACE: checksum with line 51
    if (most > brightest) // RACE: brightest with line 53
        brightest = most; // RACE: brightest with line 52, brightest with line 53
}

static void *painter(void *arg) {
    (void)arg;
    for (int row = take_row(); row >= 0; row = take_row()) {
        int sum = 0, most = 0;
        for (int column = 0; column < width; column++) {
            int point = follow((double)column / width, (double)row / width);
            picture[row][column] = point; // NORACE: picture
            sum += point;
            most = point > most ? point : most;
        }
        note(sum, most);
    }
    return NULL;
}

int main(int argc, char **argv) {
    width = argc > 1 ? atoi(argv[1]) : 6;
    if (width < 2 || width > MOST)
        return 2;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, painter, NULL);
    seen_rows = next_row; // RACE: next_row with line 30
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int points = 0;
    for (int row = 0; row < width; row++)
        for (int column = 0; column < width; column++)
            points += picture[row][column] > 0; // NORACE: picture
    printf("%s\n", points > 0 ? "the balls are seen" : "dark");
    return 0;
}
