// Loaded before libc (LD_PRELOAD): the program's wall clock is the true one plus what a file says, so that a test can
// make it jump. CHAOS_CLOCK names the file, eight bytes: nanoseconds, signed. Without it, or while the file cannot be
// mapped, nothing is shifted.
//
// Shifted: CLOCK_REALTIME (also coarse) of clock_gettime, gettimeofday, time, timespec_get. Not shifted: every other clock,
// and what only the kernel reads, such as waits until a moment of CLOCK_REALTIME.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t billion = 1000000000;
static _Atomic(const _Atomic int64_t *) shared;

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("CHAOS_CLOCK");
  const int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) shared = mapped;
}

static int64_t shift(void) {
  const _Atomic int64_t *at = shared;
  return at ? *at : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  const long status = syscall(SYS_clock_gettime, clock, now);
  if (status != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return (int)status;
  const int64_t nanos = now->tv_sec * billion + now->tv_nsec + shift();
  now->tv_sec = nanos / billion;
  now->tv_nsec = nanos % billion;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *to) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  if (to) *to = exact.tv_sec;
  return exact.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}
