//: pipe | handover | read of a pipe | any thread
static int ends$[2];
static void setup$(void) { must(pipe(ends$) == 0); }
static void give$(void) { must(write(ends$[1], "x", 1) == 1); }
static void take$(void) {
    char byte;
    must(read(ends$[0], &byte, 1) == 1);
}

//: pipe_vector | handover | readv of a pipe | any thread
static int ends$[2];
static void setup$(void) { must(pipe2(ends$, O_CLOEXEC) == 0); }
static void give$(void) {
    struct iovec parts[2] = {{"ab", 2}, {"cd", 2}};
    must(writev(ends$[1], parts, 2) == 4);
}
static void take$(void) {
    char one[1], three[3];
    struct iovec parts[2] = {{one, 1}, {three, 3}};
    must(readv(ends$[0], parts, 2) == 4 && three[2] == 'd');
}

//: pipe_close | handover | read of a pipe, end of file | whoever closes the other end
static int ends$[2];
static void setup$(void) { must(pipe(ends$) == 0); }
static void give$(void) { must(close(ends$[1]) == 0); }
static void take$(void) {
    char byte;
    must(read(ends$[0], &byte, 1) == 0);
}

//: pipe_dup | handover | read of a duplicated end | any thread
static int ends$[2], copy$;
static void setup$(void) {
    must(pipe(ends$) == 0);
    must((copy$ = dup(ends$[1])) >= 0 && close(ends$[1]) == 0);
}
static void give$(void) { must(write(copy$, "x", 1) == 1); }
static void take$(void) {
    char byte;
    int mine = fcntl(ends$[0], F_DUPFD_CLOEXEC, 0);
    must(mine >= 0 && read(mine, &byte, 1) == 1);
    close(mine);
}

//: pipe_nonblocking | handover | read, non-blocking, in a loop | EAGAIN
static int ends$[2];
static void setup$(void) { must(pipe2(ends$, O_NONBLOCK) == 0); }
static void give$(void) { must(write(ends$[1], "x", 1) == 1); }
static void take$(void) {
    char byte;
    while (read(ends$[0], &byte, 1) != 1) {
        must(errno == EAGAIN);
        sched_yield();
    }
}

//: splice | handover | splice, tee between pipes | any thread
static int from$[2], to$[2], copy$[2];
static void setup$(void) { must(pipe(from$) == 0 && pipe(to$) == 0 && pipe(copy$) == 0); }
static void give$(void) {
    must(write(from$[1], "abc", 3) == 3);
    must(tee(from$[0], copy$[1], 3, 0) == 3);
    must(splice(from$[0], NULL, to$[1], NULL, 3, 0) == 3);
}
static void take$(void) {
    char bytes[3];
    must(read(to$[0], bytes, 1) == 1);
    must(read(copy$[0], bytes, 3) == 3 && bytes[2] == 'c');
}

//: splice_take | handover | splice out of an empty pipe | any thread
static int from$[2], to$[2];
static void setup$(void) { must(pipe(from$) == 0 && pipe(to$) == 0); }
static void give$(void) { must(write(from$[1], "x", 1) == 1); }
static void take$(void) {
    char byte;
    must(splice(from$[0], NULL, to$[1], NULL, 1, 0) == 1);
    must(read(to$[0], &byte, 1) == 1 && byte == 'x');
}

//: vmsplice | handover | read of vmsplice | any thread
static int ends$[2];
static void setup$(void) { must(pipe(ends$) == 0); }
static void give$(void) {
    static char byte[1] = "x";
    struct iovec part = {byte, 1};
    must(vmsplice(ends$[1], &part, 1, 0) == 1);
}
static void take$(void) {
    char byte;
    must(read(ends$[0], &byte, 1) == 1);
}

//: socketpair | handover | recv of a socket pair | any thread
static int ends$[2];
static void setup$(void) { must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends$) == 0); }
static void give$(void) { must(send(ends$[1], "x", 1, MSG_NOSIGNAL) == 1); }
static void take$(void) {
    char byte;
    must(recv(ends$[0], &byte, 1, MSG_WAITALL) == 1);
}

//: socket_message | handover | recvmsg of a socket pair | any thread
static int ends$[2];
static void setup$(void) { must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends$) == 0); }
static void give$(void) {
    struct iovec part = {"xy", 2};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    must(sendmsg(ends$[1], &message, 0) == 2);
}
static void take$(void) {
    char bytes[2];
    struct iovec part = {bytes, 2};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    must(recvmsg(ends$[0], &message, 0) == 2 && bytes[1] == 'y');
}

//: socket_passing | handover | recvmsg of a descriptor | any thread
static int ends$[2];
static void setup$(void) { must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends$) == 0); }
static void give$(void) {
    char control[CMSG_SPACE(sizeof(int))] = {0};
    int inner[2];
    must(pipe(inner) == 0 && write(inner[1], "x", 1) == 1);
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &inner[0], sizeof(int));
    must(sendmsg(ends$[1], &message, 0) == 1);
    close(inner[0]);
    close(inner[1]);
}
static void take$(void) {
    char control[CMSG_SPACE(sizeof(int))], byte;
    int inner;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    must(recvmsg(ends$[0], &message, 0) == 1);
    memcpy(&inner, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof inner);
    must(read(inner, &byte, 1) == 1 && read(inner, &byte, 1) == 0);
    close(inner);
}

//: datagram | handover | recvfrom of a datagram socket | any thread
static int ends$[2];
static void setup$(void) { must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends$) == 0); }
static void give$(void) { must(sendto(ends$[1], "abc", 3, 0, NULL, 0) == 3); }
static void take$(void) {
    char bytes[8];
    must(recvfrom(ends$[0], bytes, sizeof bytes, 0, NULL, NULL) == 3);
}

//: messages | handover | recvmmsg | any thread
static int ends$[2];
static void setup$(void) { must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends$) == 0); }
static void give$(void) {
    struct iovec part = {"x", 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    must(sendmmsg(ends$[1], &message, 1, 0) == 1);
}
static void take$(void) {
    char byte;
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    must(recvmmsg(ends$[0], &message, 1, 0, NULL) == 1);
}

//: shutdown | handover | recv, end of file | whoever shuts the other end down
static int ends$[2];
static void setup$(void) { must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends$) == 0); }
static void give$(void) { must(shutdown(ends$[1], SHUT_WR) == 0); }
static void take$(void) {
    char byte;
    must(recv(ends$[0], &byte, 1, 0) == 0);
}

//: connect | handover | accept | any thread, any process
static int listener$;
static struct sockaddr_un name$ = {.sun_family = AF_UNIX};
static socklen_t length$;
static void setup$(void) {
    length$ = sizeof(sa_family_t);
    must((listener$ = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
    must(bind(listener$, (struct sockaddr *)&name$, length$) == 0);
    length$ = sizeof name$;
    must(getsockname(listener$, (struct sockaddr *)&name$, &length$) == 0);
    must(listen(listener$, 1) == 0);
}
static void give$(void) {
    int mine = socket(AF_UNIX, SOCK_STREAM, 0);
    must(connect(mine, (struct sockaddr *)&name$, length$) == 0);
    must(write(mine, "x", 1) == 1);
    close(mine);
}
static void take$(void) {
    char byte;
    int mine = accept4(listener$, NULL, NULL, SOCK_CLOEXEC);
    must(mine >= 0 && read(mine, &byte, 1) == 1 && read(mine, &byte, 1) == 0);
    close(mine);
}

//: eventfd | handover | read of an eventfd | any thread
static int event$;
static void setup$(void) { must((event$ = eventfd(0, EFD_CLOEXEC)) >= 0); }
static void give$(void) { must(eventfd_write(event$, 3) == 0); }
static void take$(void) {
    eventfd_t value;
    must(eventfd_read(event$, &value) == 0 && value == 3);
}

//: eventfd_raw | handover | read of an eventfd, by read | any thread
static int event$;
static void setup$(void) { must((event$ = eventfd(0, 0)) >= 0); }
static void give$(void) {
    unsigned long value = 1;
    must(write(event$, &value, sizeof value) == sizeof value);
}
static void take$(void) {
    unsigned long value;
    must(read(event$, &value, sizeof value) == sizeof value);
}

//: poll | handover | poll | any thread
static int ends$[2];
static void setup$(void) { must(pipe(ends$) == 0); }
static void give$(void) { must(write(ends$[1], "x", 1) == 1); }
static void take$(void) {
    struct pollfd one = {.fd = ends$[0], .events = POLLIN};
    must(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
}

//: poll_hangup | handover | poll, hang-up | whoever closes the other end
static int ends$[2];
static void setup$(void) { must(pipe(ends$) == 0); }
static void give$(void) { must(close(ends$[1]) == 0); }
static void take$(void) {
    struct pollfd one = {.fd = ends$[0], .events = POLLIN};
    must(poll(&one, 1, -1) == 1 && one.revents == POLLHUP);
}

//: ppoll | handover | ppoll in a loop | any thread, or time
static int event$;
static void setup$(void) { must((event$ = eventfd(0, 0)) >= 0); }
static void give$(void) { must(eventfd_write(event$, 1) == 0); }
static void take$(void) {
    struct pollfd one = {.fd = event$, .events = POLLIN};
    struct timespec time = {0, 1000000};
    while (ppoll(&one, 1, &time, NULL) != 1)
        ;
}

//: select | handover | select | any thread
static int ends$[2];
static void setup$(void) { must(pipe(ends$) == 0); }
static void give$(void) { must(write(ends$[1], "x", 1) == 1); }
static void take$(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends$[0], &set);
    must(select(ends$[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(ends$[0], &set));
}

//: pselect | handover | pselect in a loop | any thread, or time
static int ends$[2];
static void setup$(void) { must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends$) == 0); }
static void give$(void) { must(write(ends$[1], "x", 1) == 1); }
static void take$(void) {
    fd_set set;
    struct timespec time = {0, 1000000};
    do {
        FD_ZERO(&set);
        FD_SET(ends$[0], &set);
    } while (pselect(ends$[0] + 1, &set, NULL, NULL, &time, NULL) != 1);
}

//: epoll | handover | epoll_wait | any thread
static int ends$[2], poller$;
static void setup$(void) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 11};
    must(pipe(ends$) == 0 && (poller$ = epoll_create1(0)) >= 0);
    must(epoll_ctl(poller$, EPOLL_CTL_ADD, ends$[0], &event) == 0);
}
static void give$(void) { must(write(ends$[1], "x", 1) == 1); }
static void take$(void) {
    struct epoll_event event;
    must(epoll_wait(poller$, &event, 1, -1) == 1 && event.data.u64 == 11);
}

//: epoll_edge | handover | epoll_pwait, edge-triggered, in a loop | any thread, or time
static int event$, poller$;
static void setup$(void) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLONESHOT};
    must((event$ = eventfd(0, 0)) >= 0 && (poller$ = epoll_create1(0)) >= 0);
    must(epoll_ctl(poller$, EPOLL_CTL_ADD, event$, &event) == 0);
}
static void give$(void) { must(eventfd_write(event$, 1) == 0); }
static void take$(void) {
    struct epoll_event event;
    while (epoll_pwait(poller$, &event, 1, 1, NULL) != 1)
        ;
}

//: epoll_ctl | handover | epoll_wait for a descriptor that is added | any thread
static int event$, poller$;
static void setup$(void) {
    must((event$ = eventfd(1, 0)) >= 0 && (poller$ = epoll_create1(0)) >= 0);
}
static void give$(void) {
    struct epoll_event event = {.events = EPOLLIN};
    must(epoll_ctl(poller$, EPOLL_CTL_ADD, event$, &event) == 0);
}
static void take$(void) {
    struct epoll_event event;
    must(epoll_wait(poller$, &event, 1, -1) == 1);
}

//: poll_many | handover | poll of two descriptors in a loop | any thread
static int first$[2], second$;
static void setup$(void) { must(pipe(first$) == 0 && (second$ = eventfd(0, 0)) >= 0); }
static void give$(void) {
    must(eventfd_write(second$, 1) == 0);
    must(write(first$[1], "x", 1) == 1);
}
static void take$(void) {
    eventfd_t value;
    char byte;
    for (int open = 2; open > 0;) {
        struct pollfd both[2] = {{first$[0], POLLIN, 0}, {second$, POLLIN, 0}};
        must(poll(both, 2, -1) > 0);
        if (both[0].revents) {
            must(read(first$[0], &byte, 1) == 1);
            open--;
        }
        if (both[1].revents) {
            must(eventfd_read(second$, &value) == 0);
            open--;
        }
    }
}

//: fifo_open | handover, meets | open of a FIFO | whoever opens the other end
static char folder$[] = "/tmp/pieceXXXXXX", file$[40];
static int ends$[2] = {-1, -1};
static void setup$(void) {
    must(mkdtemp(folder$) != NULL);
    snprintf(file$, sizeof file$, "%s/fifo", folder$);
    must(mkfifo(file$, 0600) == 0);
}
static void give$(void) { must((ends$[1] = open(file$, O_WRONLY)) >= 0); }
static void take$(void) { must((ends$[0] = open(file$, O_RDONLY)) >= 0); }
static void finish$(void) {
    must(close(ends$[0]) == 0 && close(ends$[1]) == 0);
    unlink(file$);
    rmdir(folder$);
}

//: fifo_open_stream | handover, meets | fopen of a FIFO, to write | whoever opens the other end
static char folder$[] = "/tmp/pieceXXXXXX", file$[40];
static FILE *from$, *to$;
static void setup$(void) {
    must(mkdtemp(folder$) != NULL);
    snprintf(file$, sizeof file$, "%s/fifo", folder$);
    must(mkfifo(file$, 0600) == 0);
}
static void give$(void) { must((from$ = fopen(file$, "r")) != NULL); }
static void take$(void) { must((to$ = fopen(file$, "w")) != NULL); }
static void finish$(void) {
    must(fclose(to$) == 0 && fclose(from$) == 0);
    unlink(file$);
    rmdir(folder$);
}
