#include "polling.h"
#include "process.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int awaited(int descriptor) {
    linux_await(descriptor);
    return descriptor;
}

int linux_poll_create(void) { return awaited(epoll_create1(EPOLL_CLOEXEC)); }

void linux_poll_close(int descriptor) {
    linux_await_no_more(descriptor);
    close(descriptor);
}

int linux_poll_watch(int poll, int descriptor, uint32_t what) {
    struct epoll_event event = {.data.u64 = (uint64_t)descriptor};
    if (what & LINUX_POLL_IN) event.events |= EPOLLIN;
    if (what & LINUX_POLL_OUT) event.events |= EPOLLOUT;
    if (epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
    if (errno != ENOENT) return -1;
    return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

int linux_poll_add(int poll, int descriptor, uint64_t token) {
    struct epoll_event event = {.data.u64 = token, .events = EPOLLIN | EPOLLOUT | EPOLLET};
    return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

void linux_poll_forget(int poll, int descriptor) {
    struct epoll_event event = {0};
    epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &event);
}

int linux_poll_wait(int poll, linux_poll_event *events, int count, int milliseconds) {
    struct epoll_event found[64];
    int number = epoll_wait(poll, found, count < 64 ? count : 64, milliseconds);
    if (number < 0 && (errno == EBADF || errno == EINVAL)) linux_end_without_descriptor();
    for (int i = 0; i < number; i++) {
        uint32_t what = 0;
        if (found[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) what |= LINUX_POLL_IN;
        if (found[i].events & EPOLLOUT) what |= LINUX_POLL_OUT;
        if (found[i].events & EPOLLERR) what |= LINUX_POLL_ERROR;
        if (found[i].events & EPOLLHUP) what |= LINUX_POLL_GONE;
        events[i] = (linux_poll_event){found[i].data.u64, what};
    }
    return number < 0 ? 0 : number;
}

int linux_wake_create(void) { return awaited(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void linux_wake(int wake) { eventfd_write(wake, 1); }

void linux_wake_take(int wake) {
    eventfd_t value;
    eventfd_read(wake, &value);
}
