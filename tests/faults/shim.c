/* Faults of a file system, for LD_PRELOAD: a chosen call in a folder fails, or ends the process before it is made.

   A call is in the folder if its path is, or that of its descriptor. Calls are counted from `faults_begin` on, in
   memory that forked processes share, so that a process that was killed can be asked too. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    long calls;
    char fired[32];
} *shared;
static char folder[PATH_MAX];
static long chosen;
static int code, lasting, named;

__attribute__((constructor)) static void share(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Count calls in a folder; call `n` fails with `error`, and the ones after it if `lasts`. With error -1 the process is
   killed. With `names`, the file system has no anonymous files. */
void faults_begin(const char *in, long n, int error, int lasts, int names) {
    shared->calls = 0;
    shared->fired[0] = 0;
    chosen = n, code = error, lasting = lasts, named = names;
    strncpy(folder, in, sizeof folder - 1);
}

long faults_calls(void) { return shared->calls; }
const char *faults_fired(void) { return shared->fired; }

static int is_inside(const char *path) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int has_path(const char *path) {
    char here[PATH_MAX];
    return path[0] == '/' ? is_inside(path) : getcwd(here, sizeof here) && is_inside(here);
}

static int has_file(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_inside(path);
}

static int fails(const char *name, int inside) {
    if (!inside)
        return 0;
    long number = __atomic_fetch_add(&shared->calls, 1, __ATOMIC_SEQ_CST);
    if (number < chosen || (number > chosen && !lasting))
        return 0;
    if (number == chosen)
        strncpy(shared->fired, name, sizeof shared->fired - 1);
    if (code < 0)
        kill(getpid(), SIGKILL);
    errno = code;
    return 1;
}

static int has_no_anonymous_files(int flags) {
    if (!named || (flags & O_TMPFILE) != O_TMPFILE)
        return 0;
    errno = EOPNOTSUPP;
    return 1;
}

#define CALL(type, name, inside, parameters, ...)                                   \
    type name parameters {                                                          \
        int saved = errno;                                                          \
        if (folder[0] && fails(#name, inside))                                      \
            return -1;                                                              \
        errno = saved;                                                              \
        return ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__);           \
    }

#define OPEN(name, inside, parameters, ...)                                         \
    int name parameters {                                                           \
        va_list rest;                                                               \
        va_start(rest, flags);                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
        va_end(rest);                                                               \
        int saved = errno;                                                          \
        if (folder[0] && (fails(#name, inside) || has_no_anonymous_files(flags)))   \
            return -1;                                                              \
        errno = saved;                                                              \
        return ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__);           \
    }

OPEN(open, has_path(path), (const char *path, int flags, ...), path, flags, mode)
OPEN(open64, has_path(path), (const char *path, int flags, ...), path, flags, mode)
OPEN(openat, has_path(path), (int at, const char *path, int flags, ...), at, path, flags, mode)
OPEN(openat64, has_path(path), (int at, const char *path, int flags, ...), at, path, flags, mode)

CALL(ssize_t, read, has_file(file), (int file, void *bytes, size_t size), file, bytes, size)
CALL(ssize_t, pread64, has_file(file), (int file, void *bytes, size_t size, off64_t at), file, bytes, size, at)
CALL(ssize_t, write, has_file(file), (int file, const void *bytes, size_t size), file, bytes, size)
CALL(int, fsync, has_file(file), (int file), file)
CALL(int, fdatasync, has_file(file), (int file), file)
CALL(int, flock, has_file(file), (int file, int operation), file, operation)
CALL(int, ftruncate64, has_file(file), (int file, off64_t size), file, size)
CALL(off64_t, lseek64, has_file(file), (int file, off64_t at, int from), file, at, from)

CALL(int, rename, has_path(to), (const char *from, const char *to), from, to)
CALL(int, renameat, has_path(to), (int from, const char *old, int in, const char *to), from, old, in, to)
CALL(int, link, has_path(to), (const char *from, const char *to), from, to)
CALL(int, linkat, has_path(to), (int from, const char *old, int in, const char *to, int flags), from, old, in, to, flags)
CALL(int, unlink, has_path(path), (const char *path), path)
CALL(int, unlinkat, has_path(path), (int in, const char *path, int flags), in, path, flags)
CALL(int, stat64, has_path(path), (const char *path, struct stat64 *status), path, status)
CALL(int, lstat64, has_path(path), (const char *path, struct stat64 *status), path, status)
CALL(int, fstat64, has_file(file), (int file, struct stat64 *status), file, status)

/* A descriptor is free after `close`, whatever it returns. */
int close(int file) {
    int failed = folder[0] && fails("close", has_file(file)), saved = errno;
    int result = ((__typeof__(&close))dlsym(RTLD_NEXT, "close"))(file);
    if (failed)
        errno = saved;
    return failed ? -1 : result;
}
