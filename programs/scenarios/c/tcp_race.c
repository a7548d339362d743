// A server answers two clients over TCP, each by a thread of its own: what was sent on one connection
// says nothing on the other, so both may count at once. Nobody closes anything meanwhile: who was given the
// number of a closed connection would know of it.
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2 };

struct sockaddr_in address = {.sin_family = AF_INET};
socklen_t size = sizeof address;
int count;
int accepted[CLIENTS];

static void *client(void *arg) {
    int end = socket(AF_INET, SOCK_STREAM, 0);
    char token = 'x';
    if (connect(end, (struct sockaddr *)&address, size) != 0)
        return arg;
    return write(end, &token, 1) == 1 && read(end, &token, 1) == 1 ? NULL : arg;
}

static void *server(void *arg) {
    int end = *(int *)arg;
    char token;
    if (read(end, &token, 1) != 1)
        return arg;
    count++; // RACE: count with line 29
    return write(end, &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t clients[CLIENTS], servers[CLIENTS];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The system chooses a free address.
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, CLIENTS) != 0)
        return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        accepted[i] = accept(listener, NULL, NULL);
        pthread_create(&servers[i], NULL, server, &accepted[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
        pthread_join(servers[i], NULL);
    }
    return 0;
}
