// Three threads at one database: each with a connection of its own, all with one that they share (serialized mode).
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static sqlite3 *shared;

static void run(sqlite3 *connection, const char *sql) {
    char *problem = NULL;
    int code = sqlite3_exec(connection, sql, NULL, NULL, &problem);
    if (code != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, problem);
        exit(1);
    }
}

static sqlite3 *open_database(void) {
    sqlite3 *connection;
    if (sqlite3_open("file:/ours?vfs=memdb", &connection) != SQLITE_OK) {
        exit(1);
    }
    sqlite3_busy_timeout(connection, 10000);
    return connection;
}

static void *work(void *number) {
    sqlite3 *own = open_database();
    char sql[80];
    for (int turn = 0; turn < 2; turn++) {
        sqlite3_snprintf(sizeof sql, sql, "INSERT INTO t VALUES(%d)", *(int *)number);
        run(turn ? own : shared, sql);
    }
    run(shared, "SELECT sum(x) FROM t");
    sqlite3_close(own);
    return NULL;
}

int main(void) {
    sqlite3_config(SQLITE_CONFIG_SERIALIZED);
    sqlite3_config(SQLITE_CONFIG_URI, 1);
    shared = open_database();
    run(shared, "CREATE TABLE t(x)");
    pthread_t threads[3];
    int numbers[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    sqlite3_stmt *sum;
    sqlite3_prepare_v2(shared, "SELECT sum(x) FROM t", -1, &sum, NULL);
    sqlite3_step(sum);
    printf("%d\n", sqlite3_column_int(sum, 0));
    sqlite3_finalize(sum);
    sqlite3_close(shared);
    return 0;
}
