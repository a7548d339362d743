// Threads run code from a plugin that is loaded at run time and counts under a mutex of its own.
//
// ALSO: dlopen_plugin.c -> libdlopen_plugin.so
// LDLIBS: -ldl
// NORACE
// EXPECT-STDOUT: calls 21 ticks 21
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int (*plugin_work)(void (*tick)(void));
int ticks;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *load_beside_program(const char *name) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return NULL;
    path[length] = '\0';
    char *file = strrchr(path, '/') + 1;
    snprintf(file, sizeof path - (size_t)(file - path), "%s", name);
    return dlopen(path, RTLD_NOW);
}

static void tick(void) {
    pthread_mutex_lock(&lock);
    ticks++; // NORACE: ticks
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++)
        plugin_work(tick);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    void *plugin = load_beside_program("libdlopen_plugin.so");
    if (plugin == NULL)
        return 1;
    *(void **)&plugin_work = dlsym(plugin, "plugin_work");
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    int calls = plugin_work(tick);
    printf("calls %d ticks %d\n", calls, ticks);
    dlclose(plugin);
    return 0;
}
