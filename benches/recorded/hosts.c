/* Makes processes of Open MPI behave as on hosts of their own, which no other process needs: preloaded, on Linux.
 *
 * Waiting processes sleep: a poll that the MPI library would repeat at once waits up to 1 ms, until data arrive. libevent polls until a
 * poll finds nothing, so only the poll after an empty one waits. TCP connections use CUBIC, whatever the kernel has as default. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int poll(struct pollfd *files, nfds_t count, int milliseconds) {
    static int was_empty;
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    int is_progress = milliseconds == 0 && syscall(SYS_gettid) == getpid();
    if (is_progress && was_empty) time.tv_nsec = 1000000;
    int found = (int)syscall(SYS_ppoll, files, count, milliseconds < 0 ? NULL : &time, NULL, 8);
    if (is_progress) was_empty = found == 0;
    return found;
}

int socket(int domain, int type, int protocol) {
    int made = (int)syscall(SYS_socket, domain, type, protocol);
    if (made >= 0 && domain == AF_INET) setsockopt(made, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
    return made;
}
