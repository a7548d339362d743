//: timerfd | handover | read of a timerfd that another thread sets | time
static int timer$;
static void setup$(void) { must((timer$ = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0); }
static void give$(void) {
    struct itimerspec once = {{0, 0}, {0, 1000000}};
    must(timerfd_settime(timer$, 0, &once, NULL) == 0);
}
static void take$(void) {
    unsigned long count;
    must(read(timer$, &count, sizeof count) == sizeof count && count == 1);
}

//: inotify | handover | read of an inotify | any thread, any process
static int watch$;
static char folder$[40], file$[60];
static void setup$(void) {
    strcpy(folder$, "/tmp/pieceXXXXXX");
    must(mkdtemp(folder$) != NULL);
    snprintf(file$, sizeof file$, "%s/new", folder$);
    must((watch$ = inotify_init1(0)) >= 0);
    must(inotify_add_watch(watch$, folder$, IN_CREATE) >= 0);
}
static void give$(void) {
    int file = open(file$, O_CREAT | O_WRONLY, 0600);
    must(file >= 0 && close(file) == 0);
}
static void take$(void) {
    char event[512];
    must(read(watch$, event, sizeof event) > 0);
}
static void finish$(void) { must(unlink(file$) == 0 && rmdir(folder$) == 0); }

//: stream_lines | handover | fgets over a pipe | any thread
static FILE *in$, *out$;
static void setup$(void) {
    int ends[2];
    must(pipe(ends) == 0);
    must((in$ = fdopen(ends[0], "r")) && (out$ = fdopen(ends[1], "w")));
}
static void give$(void) {
    must(fprintf(out$, "line %d\n", 7) > 0);
    must(fflush(out$) == 0);
}
static void take$(void) {
    char line[32];
    must(fgets(line, sizeof line, in$) && strcmp(line, "line 7\n") == 0);
}

//: stream_blocks | handover | fread over a socket | any thread
static FILE *in$, *out$;
static void setup$(void) {
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    must((in$ = fdopen(ends[0], "r")) && (out$ = fdopen(ends[1], "w")));
    setvbuf(out$, NULL, _IONBF, 0);
}
static void give$(void) { must(fwrite("abcd", 2, 2, out$) == 2); }
static void take$(void) {
    char bytes[4];
    must(fread(bytes, 4, 1, in$) == 1 && bytes[3] == 'd');
}

//: stream_letters | handover | fgetc, getline over a pipe | any thread
static FILE *in$, *out$;
static void setup$(void) {
    int ends[2];
    must(pipe(ends) == 0);
    must((in$ = fdopen(ends[0], "r")) && (out$ = fdopen(ends[1], "w")));
}
static void give$(void) {
    fputc('x', out$);
    fputs("yz\n", out$);
    must(fclose(out$) == 0);
}
static void take$(void) {
    char *line = NULL;
    size_t size = 0;
    must(fgetc(in$) == 'x');
    must(getline(&line, &size, in$) == 3 && line[0] == 'y');
    must(feof(in$) || fgetc(in$) == EOF);
    free(line);
}

//: memory_file | handover | pread of a memfd, in a loop | any thread
static int file$;
static atomic_int is$;
static void setup$(void) { must((file$ = memfd_create("piece", 0)) >= 0); }
static void give$(void) {
    must(pwrite(file$, "x", 1, 0) == 1);
    atomic_store_explicit(&is$, 1, memory_order_release);
}
static void take$(void) {
    char byte = 0;
    while (!atomic_load_explicit(&is$, memory_order_acquire))
        sched_yield();
    must(pread(file$, &byte, 1, 0) == 1 && byte == 'x');
}

//: fifo | handover | read of a FIFO | any thread, any process
static char folder$[40], file$[60];
static void setup$(void) {
    strcpy(folder$, "/tmp/pieceXXXXXX");
    must(mkdtemp(folder$) != NULL);
    snprintf(file$, sizeof file$, "%s/fifo", folder$);
    must(mkfifo(file$, 0600) == 0);
}
static void give$(void) {
    int file = open(file$, O_RDWR);
    must(file >= 0 && write(file, "x", 1) == 1);
}
static void take$(void) {
    char byte;
    int file = open(file$, O_RDWR);
    must(file >= 0 && read(file, &byte, 1) == 1);
    close(file);
}
static void finish$(void) { must(unlink(file$) == 0 && rmdir(folder$) == 0); }
