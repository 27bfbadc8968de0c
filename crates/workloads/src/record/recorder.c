/* Recorder of MPI programs: writes what a process computes, sends and receives, one line an event.
 *
 * Preloaded by `migsim record`. Each call is wrapped under both of its names, MPI_ and PMPI_: the second one is what the library's own
 * wrappers for Fortran call. The next library does the work. What that calls itself is not recorded. Variables of the environment:
 * MIGSIM_RECORD_DIR, the folder of the records, MIGSIM_RECORD_CLOCK, `wall` or `cpu`, and MIGSIM_RECORD_PID, the process of
 * `migsim record`. The lines are described in `read.rs`, which reads them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* --- the file --- */

static char buffer[1 << 20];
static size_t filled;
static int file = -1, is_dry, world_rank, world_size;

/* The record becomes the reason why it cannot be written: what it held has made room for that. */
static void fail(void) {
    const char *reason = strerror(errno);
    perror("migsim record");
    if (!ftruncate(file, 0) && !lseek(file, 0, SEEK_SET)) dprintf(file, "migsim-record failed %s\n", reason);
    _exit(74);
}
static void flush(void) {
    size_t done = 0;
    while (!is_dry && file >= 0 && done < filled) {
        ssize_t n = write(file, buffer + done, filled - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail();
        done += (size_t)n;
    }
    filled = 0;
}
static void word(const char *text) {
    size_t n = strlen(text);
    if (filled + n + 32 > sizeof buffer) flush();
    memcpy(buffer + filled, text, n);
    filled += n;
}
static void number(long long value) {
    char digits[24];
    int at = 24;
    unsigned long long left = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;
    if (filled + 32 > sizeof buffer) flush();
    do { digits[--at] = (char)('0' + left % 10); left /= 10; } while (left);
    if (value < 0) digits[--at] = '-';
    buffer[filled++] = ' ';
    memcpy(buffer + filled, digits + at, (size_t)(24 - at));
    filled += (size_t)(24 - at);
}
static void newline(void) { buffer[filled++] = '\n'; }

/* --- the library below --- */

static void *next_of(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) { fprintf(stderr, "migsim record: the MPI library has no %s\n", name); _exit(74); }
    return found;
}
#define REAL(NAME) ({ \
    static __typeof__(&PMPI_##NAME) at_; \
    if (!at_) at_ = (__typeof__(at_))next_of("PMPI_" #NAME); \
    at_; })
/* Whether a call is under way: what the library calls meanwhile is its own affair. */
static int inside;
/* Where several threads may call at once, the first that calls is recorded; what another one calls is noted and refused later. */
static int are_threads;
static const char *stranger;
static int is_stranger(const char *call) {
    static int threads;
    static __thread int thread;
    if (!are_threads) return 0;
    if (!thread) thread = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    if (thread > 1) __atomic_store_n(&stranger, call, __ATOMIC_RELAXED);
    return thread > 1;
}
#define ENTER(NAME, ARGUMENTS) if (is_stranger("MPI_" #NAME) || inside) return REAL(NAME) ARGUMENTS; enter()

/* --- the clock: what passes between two calls is work --- */

static clockid_t which = CLOCK_MONOTONIC;
static long long left_at;
static long long now(void) {
    struct timespec t;
    clock_gettime(which, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
/* What the clock itself adds to a piece of work: the time between two readings with nothing between them. */
static long long of_clock;
static void enter(void) {
    inside = 1;
    long long work = now() - left_at - of_clock;
    if (work > 0) { word("w"); number(work); newline(); }
    const char *call = __atomic_load_n(&stranger, __ATOMIC_RELAXED);
    if (call) { word("x "); word(call); word(" from a second thread"); newline(); flush(); }
}
static int leave(int code) { left_at = now(); inside = 0; return code; }
/* Written at once: the program may not come to its end. */
static void cannot(const char *call) { word("x "); word(call); newline(); flush(); }

/* --- memory: pages of its own, so that the heap of the program has the same layout as without the recorder --- */

/* Zeroed pages, until munmap. */
static void *pages(size_t size) {
    void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) { perror("migsim record"); _exit(74); }
    return found;
}
/* Zeroed memory that is never freed; arrays grow by doubling, so that at most as much is lost as is used. */
static void *own(size_t size) {
    static char *next;
    static size_t left;
    size = (size + 15) / 16 * 16;
    if (size > left) {
        left = size > 1 << 18 ? size : 1 << 18;
        next = pages(left);
    }
    left -= size;
    next += size;
    return next - size;
}
/* The resident size of the process [B]; 0 if the system does not name it. */
static long long resident(void) {
    char text[128] = "";
    long pages = 0, held = 0;
    int statm = open("/proc/self/statm", O_RDONLY);
    ssize_t n = statm < 0 ? 0 : read(statm, text, sizeof text - 1);
    if (statm >= 0) close(statm);
    return n > 0 && sscanf(text, "%ld %ld", &pages, &held) == 2 ? (long long)held * sysconf(_SC_PAGESIZE) : 0;
}

/* --- communicators: a number that all members know, and their ranks in MPI_COMM_WORLD --- */

typedef struct { long long id; int n, me, *members; } Group;
static int keyval = MPI_KEYVAL_INVALID;
static long long created;

static void name_group(MPI_Comm comm, Group *g) {
    REAL(Comm_set_attr)(comm, keyval, g);
    word("g"); number(g->id); number(g->n);
    for (int i = 0; i < g->n; i++) number(g->members[i]);
    newline();
}
static long long new_id(void) { return 2 + created++ * world_size + world_rank; }
static void add_group(MPI_Comm comm, long long id) {
    Group *g = own(sizeof *g);
    MPI_Group inner, world;
    int inter = 0;
    REAL(Comm_test_inter)(comm, &inter);
    if (inter) { cannot("MPI_Intercomm_create"); return; }
    REAL(Comm_size)(comm, &g->n);
    REAL(Comm_rank)(comm, &g->me);
    int *from = own(sizeof(int) * (size_t)g->n);
    g->members = own(sizeof(int) * (size_t)g->n);
    for (int i = 0; i < g->n; i++) from[i] = i;
    REAL(Comm_group)(comm, &inner);
    REAL(Comm_group)(MPI_COMM_WORLD, &world);
    REAL(Group_translate_ranks)(inner, g->n, from, world, g->members);
    REAL(Group_free)(&inner);
    REAL(Group_free)(&world);
    if (id < 0) {
        id = new_id();
        REAL(Bcast)(&id, 1, MPI_LONG_LONG, 0, comm);
    }
    g->id = id;
    name_group(comm, g);
}
static Group *group_of(MPI_Comm comm, const char *call) {
    Group *g = NULL;
    int found = 0;
    if (comm != MPI_COMM_NULL) REAL(Comm_get_attr)(comm, keyval, &g, &found);
    if (!found) { cannot(call); return NULL; }
    return g;
}

/* --- requests: a table of open addresses that grows --- */

enum { FREE, GONE, RECEIVE, SEND, COLLECTIVE, MATCHED, COMMUNICATOR };
typedef struct { uint64_t key; int kind, persistent, active, peer, tag; long long seq, bytes; Group *group; MPI_Comm made; MPI_Request agreed; } Pending;
static Pending *table;
static size_t slots, used;
static long long posted, collectives;

static uint64_t key_of(const void *handle, size_t size) {
    uint64_t key = 0;
    memcpy(&key, handle, size < sizeof key ? size : sizeof key);
    return key;
}
static uint64_t request_key(MPI_Request r) { return key_of(&r, sizeof r); }
/* Other than that of any request: some libraries use one handle for both. */
static uint64_t message_key(MPI_Message m) { return ~key_of(&m, sizeof m); }
static size_t start_of(uint64_t key) { return (size_t)((key * 0x9E3779B97F4A7C15ULL) >> 20) & (slots - 1); }
static Pending *find(uint64_t key) {
    for (size_t i = slots ? start_of(key) : 0; slots && table[i].kind != FREE; i = (i + 1) & (slots - 1))
        if (table[i].kind != GONE && table[i].key == key) return &table[i];
    return NULL;
}
static void insert(Pending p) {
    Pending *old = find(p.key);
    if (old) { *old = p; return; }
    if (2 * (used + 1) > slots) {
        Pending *before = table;
        size_t n = slots, live = 0;
        for (size_t i = 0; i < n; i++) live += before[i].kind > GONE;
        slots = 256;
        while (slots < 4 * (live + 1)) slots *= 2;
        table = pages(slots * sizeof *table);
        used = 0;
        for (size_t i = 0; i < n; i++) if (before[i].kind > GONE) insert(before[i]);
        if (n) munmap(before, n * sizeof *table);
    }
    size_t i = start_of(p.key);
    while (table[i].kind != FREE) i = (i + 1) & (slots - 1);
    table[i] = p;
    used++;
}

/* --- events --- */

static long long bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    REAL(Type_size)(type, &size);
    return (long long)count * size;
}
static void sent(Group *g, int to, int tag, long long bytes) {
    if (!g || to == MPI_PROC_NULL) return;
    word("s"); number(g->id); number(g->members[to]); number(tag); number(bytes); newline();
}
static void received(Group *g, long long seq, const MPI_Status *status) {
    if (!g || status->MPI_SOURCE < 0 || status->MPI_SOURCE >= g->n) return;
    word("r"); number(seq); number(g->id); number(g->members[status->MPI_SOURCE]); number(status->MPI_TAG); newline();
}
static void completed(uint64_t key, const MPI_Status *status) {
    Pending *p = find(key);
    if (!p || !p->active) return;
    int cancelled = 0;
    if (p->kind == RECEIVE) REAL(Test_cancelled)(status, &cancelled);
    if (p->kind == RECEIVE && !cancelled) received(p->group, p->seq, status);
    if (p->kind == COLLECTIVE) { word("e"); number(p->seq); newline(); }
    if (p->kind == COMMUNICATOR) { REAL(Wait)(&p->agreed, MPI_STATUS_IGNORE); name_group(p->made, p->group); }
    p->active = 0;
    if (!p->persistent) p->kind = GONE;
}
static long long collective(const char *name, Group *g, int root, long long bytes, const int *counts, MPI_Datatype type, const MPI_Datatype *types) {
    long long id = collectives++;
    if (!g) return id;
    word("c "); word(name); number(g->id); number(root); number(id); number(bytes);
    number(counts ? g->n : 0);
    for (int i = 0; counts && i < g->n; i++) number(bytes_of(counts[i], types ? types[i] : type));
    newline();
    return id;
}
static void ended(Group *g, long long id) { if (g) { word("e"); number(id); newline(); } }
static void track(Group *g, long long id, MPI_Request r) {
    if (!g) return;
    if (g->n == 1) { ended(g, id); return; }
    insert((Pending){.key = request_key(r), .kind = COLLECTIVE, .active = 1, .seq = id, .group = g});
}

/* --- the library, its transport, and the host --- */

/* `i KEY VALUE`: what does not print, such as the lines of a version, becomes a space. */
static void fact(const char *key, const char *value) {
    word("i "); word(key); word(" ");
    for (int i = 0; value[i] && i < 200; i++) {
        char letter[2] = {value[i] > ' ' && value[i] <= '~' ? value[i] : ' ', 0};
        word(letter);
    }
    newline();
}
/* A control variable of the library (MPI 3.1), which counts whatever file, flag or variable of the environment set it. */
static void control(const char *key, const char *name) {
    static char value[65536];
    __typeof__(&MPI_T_cvar_get_index) index_of = (__typeof__(index_of))dlsym(RTLD_DEFAULT, "MPI_T_cvar_get_index");
    __typeof__(&MPI_T_cvar_get_info) describe = (__typeof__(describe))dlsym(RTLD_DEFAULT, "MPI_T_cvar_get_info");
    __typeof__(&MPI_T_cvar_handle_alloc) open = (__typeof__(open))dlsym(RTLD_DEFAULT, "MPI_T_cvar_handle_alloc");
    __typeof__(&MPI_T_cvar_read) get = (__typeof__(get))dlsym(RTLD_DEFAULT, "MPI_T_cvar_read");
    __typeof__(&MPI_T_cvar_handle_free) shut = (__typeof__(shut))dlsym(RTLD_DEFAULT, "MPI_T_cvar_handle_free");
    MPI_Datatype type;
    MPI_T_cvar_handle handle;
    MPI_T_enum names;
    int index, count, detail, bound, scope, none = 0;
    if (!index_of || !describe || !open || !get || !shut || index_of(name, &index)) return;
    if (describe(index, NULL, &none, &detail, &type, &names, NULL, &none, &bound, &scope) || open(index, NULL, &handle, &count)) return;
    if (count < (int)sizeof value / 8 && !get(handle, value)) {
        value[sizeof value - 1] = 0;
        if (type != MPI_CHAR) snprintf(value, sizeof value, "%d", value[0] != 0);
        fact(key, value);
    }
    shut(&handle);
}
/* A process that sleeps while it waits gives up its core by itself and takes little of the processor's time; one that spins or yields does
 * not. Rank 0 waits for the last process. */
static void describe_waiting(void) {
    enum { WAIT = 10000000 };
    struct timespec pause = {0, WAIT}, a, b;
    struct rusage before, after;
    REAL(Barrier)(MPI_COMM_WORLD);
    if (world_size > 1 && world_rank == world_size - 1) nanosleep(&pause, NULL);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    getrusage(RUSAGE_THREAD, &before);
    REAL(Barrier)(MPI_COMM_WORLD);
    getrusage(RUSAGE_THREAD, &after);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    long long took = (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
    if (world_rank == 0 && after.ru_nvcsw > before.ru_nvcsw && took < WAIT / 4) fact("waits", "asleep");
}
static void describe(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING + MPI_MAX_PROCESSOR_NAME];
    __typeof__(&MPI_T_init_thread) tools = (__typeof__(tools))dlsym(RTLD_DEFAULT, "MPI_T_init_thread");
    int length, provided;
    REAL(Get_library_version)(text, &length);
    fact("version", text);
    REAL(Get_processor_name)(text, &length);
    fact("host", text);
    if (!tools || tools(MPI_THREAD_SINGLE, &provided)) return;
    control("btl", "btl");
    control("pml", "pml");
    control("yield", "mpi_yield_when_idle");
}

/* --- beginning and end --- */

/* The command that `migsim record` has started ends with it, even if that is killed. */
__attribute__((constructor)) static void follow(void) {
    const char *text = getenv("MIGSIM_RECORD_PID");
    pid_t recording = text ? (pid_t)atol(text) : 0;
    if (recording <= 1 || getppid() != recording) return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != recording) raise(SIGTERM);
}

/* A new file: another program, or a process that this one starts, may have written a record of the same rank. */
static void create(const char *folder) {
    char path[4096];
    for (int again = 0; file < 0; again++) {
        snprintf(path, sizeof path, "%s/%d-%d.record", folder, world_rank, again);
        file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (file < 0 && errno != EEXIST) { perror(path); _exit(74); }
    }
}
/* Other activity of the computer only lengthens what is measured, so that the least of many short measurements is the value. */
static long long least(long long one, long long other) { return one < other ? one : other; }
static long long clock_alone(void) {
    long long found = INT64_MAX;
    for (int i = 0; i < 1000; i++) { long long begin = now(); found = least(found, now() - begin); }
    return found;
}
static long long wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
/* The cycles of the core in a second: one addition that waits for the one before takes one cycle. The fastest batch, of about 5 us. */
static long long cycles(void) {
    enum { BATCHES = 600, ROUNDS = 2500, ADDITIONS = 8 };
    long long found = INT64_MAX;
    uint64_t sum = 1, one = 1;
    for (int batch = 0; batch < BATCHES; batch++) {
        long long begin = wall();
        for (int i = 0; i < ROUNDS; i++)
            for (int k = 0; k < ADDITIONS; k++) { sum += one; __asm__ volatile("" : "+r"(sum), "+r"(one)); }
        found = least(found, wall() - begin);
    }
    return 1000000000LL * ROUNDS * ADDITIONS / (found > 0 ? found : 1);
}
static void clock_rate(void) { word("h"); number(cycles()); newline(); }
/* What MPI_Init added to the memory of the process. */
static long long of_library;
static void begin(long long before) {
    const char *folder = getenv("MIGSIM_RECORD_DIR"), *clock = getenv("MIGSIM_RECORD_CLOCK");
    MPI_Comm parent;
    REAL(Comm_rank)(MPI_COMM_WORLD, &world_rank);
    REAL(Comm_size)(MPI_COMM_WORLD, &world_size);
    create(folder ? folder : ".");
    if (clock && !strcmp(clock, "cpu")) which = CLOCK_PROCESS_CPUTIME_ID;
    of_clock = clock_alone();
    word("migsim-record 1"); number(world_rank); number(world_size);
    REAL(Comm_get_parent)(&parent);
    if (parent != MPI_COMM_NULL) word(" started");
    newline();
    REAL(Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    add_group(MPI_COMM_WORLD, 0);
    add_group(MPI_COMM_SELF, 1);
    describe_waiting();
    clock_rate();
    of_library = resident() - before;
}
int MPI_Init(int *argc, char ***argv) { inside = 1; long long before = resident(); int e = REAL(Init)(argc, argv); begin(before); return leave(e); }
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    inside = 1;
    long long before = resident();
    int e = REAL(Init_thread)(argc, argv, required, provided);
    begin(before);
    are_threads = required == MPI_THREAD_MULTIPLE;
    return leave(e);
}
/* The time of an event: what the clock and the line of a send cost, in the fastest batch. */
static long long price(void) {
    enum { BATCHES = 400, TIMES = 50 };
    long long found = INT64_MAX, kept = left_at;
    Group *g = group_of(MPI_COMM_WORLD, "MPI_Finalize");
    flush();
    is_dry = 1;
    for (int batch = 0; batch < BATCHES; batch++) {
        long long begin = wall();
        for (int i = 0; i < TIMES; i++) {
            enter();
            g = group_of(MPI_COMM_WORLD, "MPI_Finalize");
            sent(g, 0, i, bytes_of(i, MPI_DOUBLE));
            leave(0);
        }
        found = least(found, wall() - begin);
    }
    flush();
    is_dry = 0;
    left_at = kept;
    inside = 1;
    return found / TIMES;
}
int MPI_Finalize(void) {
    enter();
    long long held = resident();
    if (held > 0) { word("m"); number(held > of_library ? held - of_library : 0); newline(); }
    describe(); /* here, since the tools of MPI allocate from the heap of the program */
    word("o"); number(price()); newline();
    clock_rate();
    word("end\n");
    flush();
    close(file);
    file = -1;
    return REAL(Finalize)();
}

/* --- point to point --- */

#define SENDS(NAME) \
    int MPI_##NAME(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { \
        ENTER(NAME, (b, n, t, to, tag, c)); sent(group_of(c, "MPI_" #NAME), to, tag, bytes_of(n, t)); return leave(REAL(NAME)(b, n, t, to, tag, c)); }
SENDS(Send) SENDS(Ssend) SENDS(Bsend) SENDS(Rsend)
#define ISENDS(NAME) \
    int MPI_##NAME(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) { \
        ENTER(NAME, (b, n, t, to, tag, c, r)); sent(group_of(c, "MPI_" #NAME), to, tag, bytes_of(n, t)); return leave(REAL(NAME)(b, n, t, to, tag, c, r)); }
ISENDS(Isend) ISENDS(Issend) ISENDS(Ibsend) ISENDS(Irsend)
#define INITS(NAME) \
    int MPI_##NAME(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) { \
        ENTER(NAME, (b, n, t, to, tag, c, r)); int e = REAL(NAME)(b, n, t, to, tag, c, r); \
        insert((Pending){.key = request_key(*r), .kind = SEND, .persistent = 1, .peer = to, .tag = tag, .bytes = bytes_of(n, t), .group = group_of(c, "MPI_" #NAME)}); \
        return leave(e); }
INITS(Send_init) INITS(Ssend_init) INITS(Bsend_init) INITS(Rsend_init)

int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *status) {
    MPI_Status own;
    ENTER(Recv, (b, n, t, from, tag, c, status));
    long long seq = posted++;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int e = REAL(Recv)(b, n, t, from, tag, c, status);
    received(group_of(c, "MPI_Recv"), seq, status);
    return leave(e);
}
int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r) {
    ENTER(Irecv, (b, n, t, from, tag, c, r));
    int e = REAL(Irecv)(b, n, t, from, tag, c, r);
    if (from != MPI_PROC_NULL) insert((Pending){.key = request_key(*r), .kind = RECEIVE, .active = 1, .seq = posted++, .group = group_of(c, "MPI_Irecv")});
    return leave(e);
}
int MPI_Recv_init(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r) {
    ENTER(Recv_init, (b, n, t, from, tag, c, r));
    int e = REAL(Recv_init)(b, n, t, from, tag, c, r);
    insert((Pending){.key = request_key(*r), .kind = RECEIVE, .persistent = 1, .group = group_of(c, "MPI_Recv_init")});
    return leave(e);
}
static void started(MPI_Request r) {
    Pending *p = find(request_key(r));
    if (!p) return;
    p->active = 1;
    if (p->kind == RECEIVE) p->seq = posted++;
    if (p->kind == SEND) sent(p->group, p->peer, p->tag, p->bytes);
}
int MPI_Start(MPI_Request *r) { ENTER(Start, (r)); started(*r); return leave(REAL(Start)(r)); }
int MPI_Startall(int n, MPI_Request r[]) { ENTER(Startall, (n, r)); for (int i = 0; i < n; i++) started(r[i]); return leave(REAL(Startall)(n, r)); }
int MPI_Request_free(MPI_Request *r) {
    ENTER(Request_free, (r));
    Pending *p = find(request_key(*r));
    if (p && p->active && p->kind != SEND) cannot("MPI_Request_free");
    if (p) p->kind = GONE;
    return leave(REAL(Request_free)(r));
}
int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int to, int stag, void *rb, int rn, MPI_Datatype rt, int from, int rtag, MPI_Comm c, MPI_Status *status) {
    MPI_Status own;
    ENTER(Sendrecv, (b, n, t, to, stag, rb, rn, rt, from, rtag, c, status));
    Group *g = group_of(c, "MPI_Sendrecv");
    long long seq = posted++;
    sent(g, to, stag, bytes_of(n, t));
    if (status == MPI_STATUS_IGNORE) status = &own;
    int e = REAL(Sendrecv)(b, n, t, to, stag, rb, rn, rt, from, rtag, c, status);
    received(g, seq, status);
    return leave(e);
}
int MPI_Sendrecv_replace(void *b, int n, MPI_Datatype t, int to, int stag, int from, int rtag, MPI_Comm c, MPI_Status *status) {
    MPI_Status own;
    ENTER(Sendrecv_replace, (b, n, t, to, stag, from, rtag, c, status));
    Group *g = group_of(c, "MPI_Sendrecv_replace");
    long long seq = posted++;
    sent(g, to, stag, bytes_of(n, t));
    if (status == MPI_STATUS_IGNORE) status = &own;
    int e = REAL(Sendrecv_replace)(b, n, t, to, stag, from, rtag, c, status);
    received(g, seq, status);
    return leave(e);
}
int MPI_Probe(int from, int tag, MPI_Comm c, MPI_Status *s) { ENTER(Probe, (from, tag, c, s)); return leave(REAL(Probe)(from, tag, c, s)); }
int MPI_Iprobe(int from, int tag, MPI_Comm c, int *flag, MPI_Status *s) { ENTER(Iprobe, (from, tag, c, flag, s)); return leave(REAL(Iprobe)(from, tag, c, flag, s)); }

/* A matched probe takes the message out of the queue: it counts as posted there. */
static void matched(MPI_Message m, Group *g, const MPI_Status *status) {
    if (m == MPI_MESSAGE_NO_PROC || status->MPI_SOURCE < 0) return;
    insert((Pending){.key = message_key(m), .kind = MATCHED, .seq = posted++, .group = g});
}
static Pending taken(MPI_Message m) {
    Pending *p = find(message_key(m)), none = {.kind = FREE};
    if (!p) return none;
    none = *p;
    p->kind = GONE;
    return none;
}
int MPI_Mprobe(int from, int tag, MPI_Comm c, MPI_Message *m, MPI_Status *s) {
    MPI_Status own;
    ENTER(Mprobe, (from, tag, c, m, s));
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = REAL(Mprobe)(from, tag, c, m, s);
    matched(*m, group_of(c, "MPI_Mprobe"), s);
    return leave(e);
}
int MPI_Improbe(int from, int tag, MPI_Comm c, int *flag, MPI_Message *m, MPI_Status *s) {
    MPI_Status own;
    ENTER(Improbe, (from, tag, c, flag, m, s));
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = REAL(Improbe)(from, tag, c, flag, m, s);
    if (*flag) matched(*m, group_of(c, "MPI_Improbe"), s);
    return leave(e);
}
int MPI_Mrecv(void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s) {
    MPI_Status own;
    ENTER(Mrecv, (b, n, t, m, s));
    Pending p = taken(*m);
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = REAL(Mrecv)(b, n, t, m, s);
    if (p.kind) received(p.group, p.seq, s);
    return leave(e);
}
int MPI_Imrecv(void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Request *r) {
    ENTER(Imrecv, (b, n, t, m, r));
    Pending p = taken(*m);
    int e = REAL(Imrecv)(b, n, t, m, r);
    if (p.kind) insert((Pending){.key = request_key(*r), .kind = RECEIVE, .active = 1, .seq = p.seq, .group = p.group});
    return leave(e);
}

/* --- waits and tests: the handles are gone afterwards, so that their keys are kept --- */

static uint64_t *keys;
static MPI_Status *statuses;
static int room;
static void keep(int n, MPI_Request r[]) {
    if (n > room) {
        room = 2 * n;
        keys = own(sizeof *keys * (size_t)room);
        statuses = own(sizeof *statuses * (size_t)room);
    }
    for (int i = 0; i < n; i++) keys[i] = request_key(r[i]);
}
int MPI_Wait(MPI_Request *r, MPI_Status *s) {
    MPI_Status own;
    ENTER(Wait, (r, s));
    uint64_t key = request_key(*r);
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = REAL(Wait)(r, s);
    completed(key, s);
    return leave(e);
}
int MPI_Test(MPI_Request *r, int *flag, MPI_Status *s) {
    MPI_Status own;
    ENTER(Test, (r, flag, s));
    uint64_t key = request_key(*r);
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = REAL(Test)(r, flag, s);
    if (*flag) completed(key, s);
    return leave(e);
}
int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[]) {
    ENTER(Waitall, (n, r, s));
    keep(n, r);
    if (s == MPI_STATUSES_IGNORE) s = statuses;
    int e = REAL(Waitall)(n, r, s);
    for (int i = 0; i < n; i++) completed(keys[i], &s[i]);
    return leave(e);
}
int MPI_Testall(int n, MPI_Request r[], int *flag, MPI_Status s[]) {
    ENTER(Testall, (n, r, flag, s));
    keep(n, r);
    if (s == MPI_STATUSES_IGNORE) s = statuses;
    int e = REAL(Testall)(n, r, flag, s);
    for (int i = 0; *flag && i < n; i++) completed(keys[i], &s[i]);
    return leave(e);
}
int MPI_Waitany(int n, MPI_Request r[], int *index, MPI_Status *s) {
    MPI_Status own;
    ENTER(Waitany, (n, r, index, s));
    keep(n, r);
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = REAL(Waitany)(n, r, index, s);
    if (*index != MPI_UNDEFINED) completed(keys[*index], s);
    return leave(e);
}
int MPI_Testany(int n, MPI_Request r[], int *index, int *flag, MPI_Status *s) {
    MPI_Status own;
    ENTER(Testany, (n, r, index, flag, s));
    keep(n, r);
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = REAL(Testany)(n, r, index, flag, s);
    if (*flag && *index != MPI_UNDEFINED) completed(keys[*index], s);
    return leave(e);
}
#define SOMES(NAME) \
    int MPI_##NAME(int n, MPI_Request r[], int *done, int at[], MPI_Status s[]) { \
        ENTER(NAME, (n, r, done, at, s)); keep(n, r); if (s == MPI_STATUSES_IGNORE) s = statuses; \
        int e = REAL(NAME)(n, r, done, at, s); \
        for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++) completed(keys[at[i]], &s[i]); \
        return leave(e); }
SOMES(Waitsome) SOMES(Testsome)

/* --- communicators --- */

#define CREATES(NAME, PARAMETERS, ARGUMENTS) \
    int MPI_##NAME PARAMETERS { ENTER(NAME, ARGUMENTS); int e = REAL(NAME) ARGUMENTS; if (*made != MPI_COMM_NULL) add_group(*made, -1); return leave(e); }
CREATES(Comm_dup, (MPI_Comm c, MPI_Comm *made), (c, made))
CREATES(Comm_dup_with_info, (MPI_Comm c, MPI_Info i, MPI_Comm *made), (c, i, made))
CREATES(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *made), (c, color, key, made))
CREATES(Comm_split_type, (MPI_Comm c, int kind, int key, MPI_Info i, MPI_Comm *made), (c, kind, key, i, made))
CREATES(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *made), (c, g, made))
CREATES(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *made), (c, g, tag, made))
CREATES(Cart_create, (MPI_Comm c, int n, const int d[], const int p[], int reorder, MPI_Comm *made), (c, n, d, p, reorder, made))
CREATES(Cart_sub, (MPI_Comm c, const int remain[], MPI_Comm *made), (c, remain, made))
CREATES(Graph_create, (MPI_Comm c, int n, const int i[], const int d[], int reorder, MPI_Comm *made), (c, n, i, d, reorder, made))
CREATES(Dist_graph_create, (MPI_Comm c, int n, const int s[], const int k[], const int d[], const int w[], MPI_Info i, int reorder, MPI_Comm *made), (c, n, s, k, d, w, i, reorder, made))
CREATES(Dist_graph_create_adjacent, (MPI_Comm c, int in, const int s[], const int sw[], int out, const int d[], const int dw[], MPI_Info i, int reorder, MPI_Comm *made), (c, in, s, sw, out, d, dw, i, reorder, made))

/* Known once its request is complete. The members agree on its number from the beginning: nobody waits for another one's wait. */
int MPI_Comm_idup(MPI_Comm c, MPI_Comm *made, MPI_Request *r) {
    ENTER(Comm_idup, (c, made, r));
    Group *from = group_of(c, "MPI_Comm_idup"), *g = own(sizeof *g);
    int e = REAL(Comm_idup)(c, made, r);
    if (!from) return leave(e);
    *g = *from;
    g->id = new_id();
    Pending p = {.key = request_key(*r), .kind = COMMUNICATOR, .active = 1, .group = g, .made = *made};
    REAL(Ibcast)(&g->id, 1, MPI_LONG_LONG, 0, c, &p.agreed);
    insert(p);
    if (g->n > 1) return leave(e);
    REAL(Wait)(r, MPI_STATUS_IGNORE); /* one process: some libraries use one handle for all that is complete */
    completed(p.key, MPI_STATUS_IGNORE);
    return leave(e);
}

/* --- collectives: the blocking form, and the one that a request completes --- */

#define STRIP(...) __VA_ARGS__
#define COLLECTIVES(NAME, INAME, LABEL, PARAMETERS, ARGUMENTS, ROOT, BYTES, COUNTS, TYPE, TYPES) \
    int MPI_##NAME(STRIP PARAMETERS MPI_Comm c) { \
        ENTER(NAME, (STRIP ARGUMENTS c)); Group *g = group_of(c, "MPI_" #NAME); long long id = collective(LABEL, g, ROOT, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(NAME)(STRIP ARGUMENTS c); ended(g, id); return leave(e); } \
    int MPI_##INAME(STRIP PARAMETERS MPI_Comm c, MPI_Request *r) { \
        ENTER(INAME, (STRIP ARGUMENTS c, r)); Group *g = group_of(c, "MPI_" #INAME); long long id = collective(LABEL, g, ROOT, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(INAME)(STRIP ARGUMENTS c, r); track(g, id, *r); return leave(e); }
COLLECTIVES(Barrier, Ibarrier, "barrier", (), (), 0, 0, NULL, MPI_BYTE, NULL)
COLLECTIVES(Bcast, Ibcast, "bcast", (void *b, int n, MPI_Datatype t, int root, ), (b, n, t, root, ), root, bytes_of(n, t), NULL, MPI_BYTE, NULL)
COLLECTIVES(Reduce, Ireduce, "reduce", (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, int root, ), (b, rb, n, t, op, root, ), root, bytes_of(n, t), NULL, MPI_BYTE, NULL)
COLLECTIVES(Allreduce, Iallreduce, "allreduce", (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, ), (b, rb, n, t, op, ), 0, bytes_of(n, t), NULL, MPI_BYTE, NULL)
COLLECTIVES(Scan, Iscan, "scan", (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, ), (b, rb, n, t, op, ), 0, bytes_of(n, t), NULL, MPI_BYTE, NULL)
COLLECTIVES(Exscan, Iexscan, "scan", (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, ), (b, rb, n, t, op, ), 0, bytes_of(n, t), NULL, MPI_BYTE, NULL)
COLLECTIVES(Gather, Igather, "gather", (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, ), (b, n, t, rb, rn, rt, root, ), root, b == MPI_IN_PLACE ? 0 : bytes_of(n, t), NULL, MPI_BYTE, NULL)
COLLECTIVES(Gatherv, Igatherv, "gather", (const void *b, int n, MPI_Datatype t, void *rb, const int rn[], const int rd[], MPI_Datatype rt, int root, ), (b, n, t, rb, rn, rd, rt, root, ), root, b == MPI_IN_PLACE ? 0 : bytes_of(n, t), NULL, MPI_BYTE, NULL)
COLLECTIVES(Scatter, Iscatter, "scatter", (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, ), (b, n, t, rb, rn, rt, root, ), root, g && g->me == root ? bytes_of(n, t) : 0, NULL, MPI_BYTE, NULL)
COLLECTIVES(Scatterv, Iscatterv, "scatter", (const void *b, const int n[], const int d[], MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, ), (b, n, d, t, rb, rn, rt, root, ), root, 0, g && g->me == root ? n : NULL, t, NULL)
COLLECTIVES(Allgather, Iallgather, "allgather", (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, ), (b, n, t, rb, rn, rt, ), 0, bytes_of(rn, rt), NULL, MPI_BYTE, NULL)
COLLECTIVES(Allgatherv, Iallgatherv, "allgather", (const void *b, int n, MPI_Datatype t, void *rb, const int rn[], const int rd[], MPI_Datatype rt, ), (b, n, t, rb, rn, rd, rt, ), 0, 0, rn, rt, NULL)
COLLECTIVES(Alltoall, Ialltoall, "alltoall", (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, ), (b, n, t, rb, rn, rt, ), 0, bytes_of(rn, rt), NULL, MPI_BYTE, NULL)
COLLECTIVES(Alltoallv, Ialltoallv, "alltoall", (const void *b, const int n[], const int d[], MPI_Datatype t, void *rb, const int rn[], const int rd[], MPI_Datatype rt, ), (b, n, d, t, rb, rn, rd, rt, ), 0, 0, b == MPI_IN_PLACE ? rn : n, b == MPI_IN_PLACE ? rt : t, NULL)
COLLECTIVES(Alltoallw, Ialltoallw, "alltoall", (const void *b, const int n[], const int d[], const MPI_Datatype t[], void *rb, const int rn[], const int rd[], const MPI_Datatype rt[], ), (b, n, d, t, rb, rn, rd, rt, ), 0, 0, b == MPI_IN_PLACE ? rn : n, MPI_BYTE, b == MPI_IN_PLACE ? rt : t)
COLLECTIVES(Reduce_scatter, Ireduce_scatter, "reduce_scatter", (const void *b, void *rb, const int n[], MPI_Datatype t, MPI_Op op, ), (b, rb, n, t, op, ), 0, 0, n, t, NULL)
COLLECTIVES(Reduce_scatter_block, Ireduce_scatter_block, "reduce_scatter", (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, ), (b, rb, n, t, op, ), 0, bytes_of(n, t), NULL, MPI_BYTE, NULL)

/* --- neighbour collectives: what the topology of the communicator says, as messages --- */

/* To how many neighbours a process sends and from how many it receives, and which; both lists stand in one array. */
static int *neighbours_of(Group *g, MPI_Comm c, int *to, int *from) {
    int kind, n, is_weighted, *all;
    *to = *from = 0;
    REAL(Topo_test)(c, &kind);
    if (kind == MPI_DIST_GRAPH) {
        REAL(Dist_graph_neighbors_count)(c, from, to, &is_weighted);
        n = *from + *to;
        all = malloc(sizeof(int) * (2 * (size_t)n + 1));
        int *in = is_weighted ? all + n : MPI_UNWEIGHTED, *out = is_weighted ? all + n + *from : MPI_UNWEIGHTED;
        REAL(Dist_graph_neighbors)(c, *from, all + *to, in, *to, all, out);
        return all;
    }
    if (kind == MPI_CART) { REAL(Cartdim_get)(c, &n); n *= 2; }
    else if (kind == MPI_GRAPH) REAL(Graph_neighbors_count)(c, g->me, &n);
    else return NULL;
    all = malloc(sizeof(int) * (2 * (size_t)n + 1));
    if (kind == MPI_GRAPH) REAL(Graph_neighbors)(c, g->me, n, all);
    for (int i = 0; kind == MPI_CART && i < n; i += 2) REAL(Cart_shift)(c, i / 2, 1, &all[i], &all[i + 1]);
    memcpy(all + n, all, sizeof(int) * (size_t)n);
    *to = *from = n;
    return all;
}
static long long neighbours(const char *call, Group *g, MPI_Comm c, long long bytes, const int *counts, MPI_Datatype type, const MPI_Datatype *types) {
    long long id = collectives++;
    if (!g) return id;
    int to, from, known = 0, *all = neighbours_of(g, c, &to, &from);
    if (!all) { cannot(call); return id; }
    word("n"); number(g->id); number(id);
    for (int i = 0; i < to; i++) known += all[i] != MPI_PROC_NULL;
    number(known);
    for (int i = 0; i < to; i++) if (all[i] != MPI_PROC_NULL) { number(all[i]); number(counts ? bytes_of(counts[i], types ? types[i] : type) : bytes); }
    for (int i = 0; i < from; i++) if (all[to + i] != MPI_PROC_NULL) number(all[to + i]);
    newline();
    free(all);
    return id;
}
#define NEIGHBOURS(NAME, INAME, PARAMETERS, ARGUMENTS, BYTES, COUNTS, TYPE, TYPES) \
    int MPI_##NAME(STRIP PARAMETERS MPI_Comm c) { \
        ENTER(NAME, (STRIP ARGUMENTS c)); Group *g = group_of(c, "MPI_" #NAME); long long id = neighbours("MPI_" #NAME, g, c, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(NAME)(STRIP ARGUMENTS c); ended(g, id); return leave(e); } \
    int MPI_##INAME(STRIP PARAMETERS MPI_Comm c, MPI_Request *r) { \
        ENTER(INAME, (STRIP ARGUMENTS c, r)); Group *g = group_of(c, "MPI_" #INAME); long long id = neighbours("MPI_" #INAME, g, c, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(INAME)(STRIP ARGUMENTS c, r); track(g, id, *r); return leave(e); }
NEIGHBOURS(Neighbor_allgather, Ineighbor_allgather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, ), (b, n, t, rb, rn, rt, ), bytes_of(n, t), NULL, MPI_BYTE, NULL)
NEIGHBOURS(Neighbor_allgatherv, Ineighbor_allgatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int rn[], const int rd[], MPI_Datatype rt, ), (b, n, t, rb, rn, rd, rt, ), bytes_of(n, t), NULL, MPI_BYTE, NULL)
NEIGHBOURS(Neighbor_alltoall, Ineighbor_alltoall, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, ), (b, n, t, rb, rn, rt, ), bytes_of(n, t), NULL, MPI_BYTE, NULL)
NEIGHBOURS(Neighbor_alltoallv, Ineighbor_alltoallv, (const void *b, const int n[], const int d[], MPI_Datatype t, void *rb, const int rn[], const int rd[], MPI_Datatype rt, ), (b, n, d, t, rb, rn, rd, rt, ), 0, n, t, NULL)
NEIGHBOURS(Neighbor_alltoallw, Ineighbor_alltoallw, (const void *b, const int n[], const MPI_Aint d[], const MPI_Datatype t[], void *rb, const int rn[], const MPI_Aint rd[], const MPI_Datatype rt[], ), (b, n, d, t, rb, rn, rd, rt, ), 0, n, MPI_BYTE, t)

/* --- what has no place in supersteps: told with its rank and name. One-sided communication begins with a window. --- */

#define CANNOT(NAME, PARAMETERS, ARGUMENTS) int MPI_##NAME PARAMETERS { ENTER(NAME, ARGUMENTS); cannot("MPI_" #NAME); return leave(REAL(NAME) ARGUMENTS); }
CANNOT(Win_create, (void *b, MPI_Aint n, int u, MPI_Info i, MPI_Comm c, MPI_Win *w), (b, n, u, i, c, w))
CANNOT(Win_create_dynamic, (MPI_Info i, MPI_Comm c, MPI_Win *w), (i, c, w))
CANNOT(Win_allocate, (MPI_Aint n, int u, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w), (n, u, i, c, b, w))
CANNOT(Win_allocate_shared, (MPI_Aint n, int u, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w), (n, u, i, c, b, w))
CANNOT(Comm_spawn, (const char *p, char *a[], int n, MPI_Info i, int root, MPI_Comm c, MPI_Comm *m, int e[]), (p, a, n, i, root, c, m, e))
CANNOT(Comm_spawn_multiple, (int k, char *p[], char **a[], const int n[], const MPI_Info i[], int root, MPI_Comm c, MPI_Comm *m, int e[]), (k, p, a, n, i, root, c, m, e))
CANNOT(Comm_accept, (const char *p, MPI_Info i, int root, MPI_Comm c, MPI_Comm *m), (p, i, root, c, m))
CANNOT(Comm_connect, (const char *p, MPI_Info i, int root, MPI_Comm c, MPI_Comm *m), (p, i, root, c, m))

/* --- the second names --- */

#define ALSO(NAME) extern __typeof__(PMPI_##NAME) PMPI_##NAME __attribute__((alias("MPI_" #NAME)));
ALSO(Init) ALSO(Init_thread) ALSO(Finalize) ALSO(Recv) ALSO(Irecv) ALSO(Recv_init) ALSO(Start) ALSO(Startall) ALSO(Request_free)
ALSO(Sendrecv) ALSO(Sendrecv_replace) ALSO(Probe) ALSO(Iprobe) ALSO(Mprobe) ALSO(Improbe) ALSO(Mrecv) ALSO(Imrecv) ALSO(Wait)
ALSO(Test) ALSO(Waitall) ALSO(Testall) ALSO(Waitany) ALSO(Testany) ALSO(Send) ALSO(Ssend) ALSO(Bsend) ALSO(Rsend) ALSO(Isend)
ALSO(Issend) ALSO(Ibsend) ALSO(Irsend) ALSO(Send_init) ALSO(Ssend_init) ALSO(Bsend_init) ALSO(Rsend_init) ALSO(Waitsome)
ALSO(Testsome) ALSO(Comm_dup) ALSO(Comm_dup_with_info) ALSO(Comm_split) ALSO(Comm_split_type) ALSO(Comm_create)
ALSO(Comm_create_group) ALSO(Cart_create) ALSO(Cart_sub) ALSO(Graph_create) ALSO(Dist_graph_create)
ALSO(Dist_graph_create_adjacent) ALSO(Barrier) ALSO(Ibarrier) ALSO(Bcast) ALSO(Ibcast) ALSO(Reduce) ALSO(Ireduce)
ALSO(Allreduce) ALSO(Iallreduce) ALSO(Scan) ALSO(Iscan) ALSO(Exscan) ALSO(Iexscan) ALSO(Gather) ALSO(Igather) ALSO(Gatherv)
ALSO(Igatherv) ALSO(Scatter) ALSO(Iscatter) ALSO(Scatterv) ALSO(Iscatterv) ALSO(Allgather) ALSO(Iallgather) ALSO(Allgatherv)
ALSO(Iallgatherv) ALSO(Alltoall) ALSO(Ialltoall) ALSO(Alltoallv) ALSO(Ialltoallv) ALSO(Alltoallw) ALSO(Ialltoallw)
ALSO(Reduce_scatter) ALSO(Ireduce_scatter) ALSO(Reduce_scatter_block) ALSO(Ireduce_scatter_block) ALSO(Neighbor_allgather)
ALSO(Ineighbor_allgather) ALSO(Neighbor_allgatherv) ALSO(Ineighbor_allgatherv) ALSO(Neighbor_alltoall) ALSO(Ineighbor_alltoall)
ALSO(Neighbor_alltoallv) ALSO(Ineighbor_alltoallv) ALSO(Neighbor_alltoallw) ALSO(Ineighbor_alltoallw) ALSO(Win_create)
ALSO(Win_create_dynamic) ALSO(Win_allocate) ALSO(Win_allocate_shared) ALSO(Comm_idup) ALSO(Comm_spawn) ALSO(Comm_spawn_multiple)
ALSO(Comm_accept) ALSO(Comm_connect)
