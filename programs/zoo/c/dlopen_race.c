// The plugin of dlopen.c calls back into the program, and there the mutex is missing: both stacks of
// the race lead through the plugin.
//
// ALSO: dlopen_plugin.c -> libdlopen_plugin.so
// LDLIBS: -ldl
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int (*plugin_work)(void (*tick)(void));
int ticks;

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
    ticks++; // RACE: ticks with line 27
}

static void *worker(void *arg) {
    (void)arg;
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
    return 0;
}
