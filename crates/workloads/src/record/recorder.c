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
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
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
static void work(void) {
    long long done = now() - left_at - of_clock;
    if (done > 0) { word("w"); number(done); newline(); }
    left_at = now();
}
static void enter(void) {
    inside = 1;
    work();
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

typedef struct { MPI_Comm comm; long long id, copies; int n, me, *members; } Group;
static int keyval = MPI_KEYVAL_INVALID;
static long long created;

static void name_group(MPI_Comm comm, Group *g) {
    g->comm = comm;
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

enum { FREE, GONE, RECEIVE, SEND, COLLECTIVE, MATCHED, COMMUNICATOR, OPENED };
typedef struct Call Call;
typedef struct { uint64_t key; int kind, persistent, active, peer, tag; long long seq, bytes; Group *group; MPI_Comm made; Call *call; } Pending;
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
static uint64_t file_key(MPI_File f) { return key_of(&f, sizeof f) ^ (1ULL << 63); }
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
    if (!g || to < 0 || to >= g->n) return; /* no process, or one that the library will refuse */
    word("s"); number(g->id); number(g->members[to]); number(tag); number(bytes); newline();
}
static void received(Group *g, long long seq, const MPI_Status *status) {
    if (!g || status->MPI_SOURCE < 0 || status->MPI_SOURCE >= g->n) return;
    word("r"); number(seq); number(g->id); number(g->members[status->MPI_SOURCE]); number(status->MPI_TAG); newline();
}

/* --- calls of several processes: collectives, and those that create communicators or use files together --- */

/* Whether the messages of collectives are recorded as the library sends them; otherwise `migsim` replaces collectives by formulas. */
static int are_sent;
/* A message inside a call: `value` is its size, or for a receive the number of its posting. The peer of a receive from any process is
 * negative until it is complete. */
typedef struct { int is_send, peer, tag; long long value; MPI_Request request; MPI_Comm comm; } Part;
typedef struct { Part *parts; int n, room; } Parts;
/* `ready` has the messages of persistent requests, `posted` the receives that wait, `later` what a non-blocking call has exchanged since it returned. `id` is the
 * number of a call whose lines do not all stand in one place. `kind` says which tags of non-blocking collectives the messages of the call can have. */
enum { NO_TAG, OWN_TAG, ANY_TAG };
struct Call { Call *next; Group *g; MPI_Comm comm; int tag, kind, is_file; long long id, epoch; char *frame; Parts ready, posted, later; };
/* Of the recorded thread: what other threads send belongs to no call. */
static __thread Call *at_hand, *spare, *live;
/* That of the request of all non-blocking calls without anything to do. */
static uint64_t done_key;

static void append(Parts *to, Part part) {
    if (to->n == to->room) {
        Part *before = to->parts;
        to->room = 2 * to->room + 8;
        to->parts = own(sizeof *to->parts * (size_t)to->room);
        memcpy(to->parts, before, sizeof *before * (size_t)to->n);
    }
    to->parts[to->n++] = part;
}
static void write_part(Group *g, Part part) {
    if (part.peer < 0) { cannot("MPI_ANY_SOURCE"); return; }
    if (part.is_send) { word("s"); number(g->id); number(part.peer); number(part.tag); number(part.value); }
    else { word("r"); number(part.value); number(g->id); number(part.peer); number(part.tag); }
    newline();
}
/* A non-blocking call writes what follows its return when it is complete: in which later call that happens depends on times. */
static void tell(Call *call, Part part) {
    if (call == at_hand) write_part(call->g, part);
    else append(&call->later, part);
}
static void settle(Call *call) {
    for (int i = 0; i < call->posted.n; i++) tell(call, call->posted.parts[i]);
    call->posted.n = 0;
}
static Call *begin_call(Group *g, int kind) {
    Call *call = spare ? spare : own(sizeof *call);
    spare = spare ? spare->next : NULL;
    *call = (Call){.g = g, .kind = kind, .id = -1, .ready = call->ready, .posted = call->posted, .later = call->later};
    return at_hand = call;
}
static void end_call(Call *call) {
    at_hand = call;
    if (call->id >= 0 && are_sent) { word("f"); number(call->id); newline(); }
    for (int i = 0; i < call->later.n; i++) write_part(call->g, call->later.parts[i]);
    settle(call);
    if (call->id >= 0) { word("e"); number(call->id); newline(); }
    for (Call **at = &live; *at; at = &(*at)->next) if (*at == call) { *at = call->next; break; }
    at_hand = NULL;
    call->ready.n = call->later.n = 0;
    call->next = spare;
    spare = call;
}

#ifdef OPEN_MPI
/* Open MPI hands all messages, those of its collectives too, to functions behind two tables of pointers: the place of a function in
 * its table (versions 2 to 5), what the library put there, and which of them have been seen to work. */
enum { AT_IRECV_INIT = 6, AT_IRECV, AT_RECV, AT_ISEND_INIT, AT_ISEND, AT_SEND, AT_START = 14, AT_WAIT = 4, AT_WAIT_ALL = 6 };
static struct {
    int (*irecv_init)(void *, size_t, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*isend_init)(const void *, size_t, MPI_Datatype, int, int, int, MPI_Comm, MPI_Request *);
    int (*start)(size_t, MPI_Request *);
    int (*irecv)(void *, size_t, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*recv)(void *, size_t, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*isend)(const void *, size_t, MPI_Datatype, int, int, int, MPI_Comm, MPI_Request *);
    int (*send)(const void *, size_t, MPI_Datatype, int, int, int, MPI_Comm);
    int (*wait)(MPI_Request *, MPI_Status *);
    int (*wait_all)(size_t, MPI_Request *, MPI_Status *);
} below;
enum { ALL_SEEN = 63, PROBE_BYTES = 24, PROBE_TAG = 77 };
static int is_probing, seen, last_tag, first_tag = INT_MIN;
static __thread int is_posting;
static __thread long long epoch;

static void probe(int bit, size_t n, MPI_Datatype t, int peer, int tag, MPI_Comm c) {
    if (n == PROBE_BYTES && t == MPI_BYTE && peer == 0 && tag == PROBE_TAG && c == MPI_COMM_SELF) seen |= bit;
    if (c == MPI_COMM_WORLD) last_tag = tag;
}
static int in_world(MPI_Comm c, int peer) {
    Group *g;
    MPI_Group inner, world;
    int found = 0;
    REAL(Comm_get_attr)(c, keyval, &g, &found);
    if (found) return g->members[peer];
    REAL(Comm_group)(c, &inner);
    REAL(Comm_group)(MPI_COMM_WORLD, &world);
    REAL(Group_translate_ranks)(inner, 1, &peer, world, &found);
    REAL(Group_free)(&inner);
    REAL(Group_free)(&world);
    return found;
}
/* The call to which a message belongs. Each non-blocking collective has a tag of its own on its communicator, and sends in rounds. A
 * round begins when all receives of the one before are complete: in another run of the library's progress, or deeper on the stack. */
static Call *call_of(MPI_Comm c, int tag, char *frame) {
    enum { CALL_DEPTH = 64 };
    Call *call = at_hand;
    if (tag <= first_tag && tag > -(1 << 29)) {
        Call *oldest = NULL;
        for (call = live; call && (call->comm != c || call->tag != tag); call = call->next)
            if (call->g->comm == c && (call->kind == ANY_TAG || !call->tag)) oldest = call;
        int is_own = at_hand && (at_hand->kind == ANY_TAG || (at_hand->kind == OWN_TAG && (!at_hand->tag || at_hand->tag == tag)));
        if (!call) call = is_own && (!oldest || (at_hand->g && at_hand->g->comm == c)) ? at_hand : oldest;
        if (call && (call->tag != tag || call->epoch != epoch || call->frame - frame > CALL_DEPTH)) {
            settle(call);
            call->comm = c;
            call->tag = tag;
            call->epoch = epoch;
            call->frame = frame;
        }
    }
    if (call && call == at_hand && call->is_file) work();
    return call && call->g ? call : NULL;
}
static Part message(int is_send, MPI_Comm c, int peer, int tag, long long value, MPI_Request r) {
    return (Part){.is_send = is_send, .peer = peer < 0 ? peer : in_world(c, peer), .tag = tag, .value = value, .request = r, .comm = c};
}
static void on_send(int bit, size_t n, MPI_Datatype t, int to, int tag, MPI_Comm c, char *frame) {
    if (is_probing) probe(bit, n, t, to, tag, c);
    Call *call = call_of(c, tag, frame);
    if (call && to >= 0) tell(call, message(1, c, to, tag, (long long)n * bytes_of(1, t), MPI_REQUEST_NULL));
}
static int see_isend(const void *b, size_t n, MPI_Datatype t, int to, int tag, int mode, MPI_Comm c, MPI_Request *r) {
    on_send(1, n, t, to, tag, c, __builtin_frame_address(0));
    is_posting++;
    int e = below.isend(b, n, t, to, tag, mode, c, r);
    is_posting--;
    return e;
}
/* What a file call waits for others is no work. */
static int waited(int e) { if (at_hand && at_hand->is_file) left_at = now(); return e; }
static int see_send(const void *b, size_t n, MPI_Datatype t, int to, int tag, int mode, MPI_Comm c) {
    on_send(2, n, t, to, tag, c, __builtin_frame_address(0));
    return waited(below.send(b, n, t, to, tag, mode, c));
}
static int see_irecv(void *b, size_t n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r) {
    if (is_probing) probe(4, n, t, from, tag, c);
    Call *call = call_of(c, tag, __builtin_frame_address(0));
    is_posting++;
    int e = below.irecv(b, n, t, from, tag, c, r);
    is_posting--;
    if (call && from != MPI_PROC_NULL) append(&call->posted, message(0, c, from, tag, posted++, *r));
    return e;
}
static int see_isend_init(const void *b, size_t n, MPI_Datatype t, int to, int tag, int mode, MPI_Comm c, MPI_Request *r) {
    int e = below.isend_init(b, n, t, to, tag, mode, c, r);
    if (at_hand && to >= 0) append(&at_hand->ready, message(1, c, to, tag, (long long)n * bytes_of(1, t), *r));
    return e;
}
static int see_irecv_init(void *b, size_t n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r) {
    int e = below.irecv_init(b, n, t, from, tag, c, r);
    if (at_hand && from != MPI_PROC_NULL) append(&at_hand->ready, message(0, c, from, tag, 0, *r));
    return e;
}
static int see_start(size_t n, MPI_Request r[]) {
    for (size_t i = 0; at_hand && at_hand->g && i < n; i++)
        for (int k = at_hand->ready.n - 1; k >= 0; k--) if (at_hand->ready.parts[k].request == r[i]) {
            Part part = at_hand->ready.parts[k];
            if (part.is_send) tell(at_hand, part);
            else { part.value = posted++; append(&at_hand->posted, part); }
            break;
        }
    return below.start(n, r);
}
static int see_recv(void *b, size_t n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s) {
    MPI_Status own;
    if (is_probing) probe(8, n, t, from, tag, c);
    Call *call = call_of(c, tag, __builtin_frame_address(0));
    long long seq = call ? posted++ : 0;
    if (s == MPI_STATUS_IGNORE) s = &own;
    int e = waited(below.recv(b, n, t, from, tag, c, s));
    if (call && s->MPI_SOURCE >= 0) tell(call, message(0, c, s->MPI_SOURCE, tag, seq, MPI_REQUEST_NULL));
    return e;
}
static void on_wait(MPI_Request r, const MPI_Status *s) {
    Parts *all = &at_hand->posted;
    for (int i = 0; i < all->n; i++) if (all->parts[i].request == r) {
        Part part = all->parts[i];
        memmove(all->parts + i, all->parts + i + 1, sizeof *all->parts * (size_t)(--all->n - i));
        if (part.peer < 0) part.peer = in_world(part.comm, s->MPI_SOURCE);
        tell(at_hand, part);
        return;
    }
}
static int see_wait(MPI_Request *r, MPI_Status *s) {
    if (is_probing) seen |= 16;
    if (!at_hand) return below.wait(r, s);
    MPI_Request before = *r;
    MPI_Status own;
    if (s == MPI_STATUS_IGNORE) s = &own;
    if (at_hand->is_file) work();
    int e = waited(below.wait(r, s));
    on_wait(before, s);
    return e;
}
static int see_wait_all(size_t n, MPI_Request r[], MPI_Status s[]) {
    static MPI_Request *before;
    static MPI_Status *statuses;
    static size_t many;
    if (is_probing) seen |= 32;
    if (!at_hand) return below.wait_all(n, r, s);
    if (n > many) {
        many = 2 * n;
        before = own(sizeof *before * many);
        statuses = own(sizeof *statuses * many);
    }
    memcpy(before, r, sizeof *before * n);
    if (s == MPI_STATUSES_IGNORE) s = statuses;
    if (at_hand->is_file) work();
    int e = waited(below.wait_all(n, r, s));
    for (size_t i = 0; i < n; i++) on_wait(before[i], &s[i]);
    return e;
}
/* The library's own, which begins the rounds. */
void opal_progress(void) {
    static void (*next)(void);
    if (!next) next = (void (*)(void))next_of("opal_progress");
    epoch += !is_posting;
    next();
}
/* Puts the functions of the recorder into the tables, or those of the library back. */
static void exchange(void **pml, void **waits) {
#define EXCHANGE(AT, NAME) { void *other = below.NAME ? (void *)below.NAME : (void *)see_##NAME; below.NAME = below.NAME ? NULL : (__typeof__(below.NAME))AT; AT = other; }
    EXCHANGE(pml[AT_IRECV_INIT], irecv_init) EXCHANGE(pml[AT_IRECV], irecv) EXCHANGE(pml[AT_RECV], recv) EXCHANGE(pml[AT_START], start)
    EXCHANGE(pml[AT_ISEND_INIT], isend_init) EXCHANGE(pml[AT_ISEND], isend) EXCHANGE(pml[AT_SEND], send)
    EXCHANGE(waits[AT_WAIT], wait) EXCHANGE(waits[AT_WAIT_ALL], wait_all)
}
/* Whether all processes see what the library sends; if not, its tables are as before. */
static int watch(void) {
    void **pml = dlsym(RTLD_DEFAULT, "mca_pml"), **waits = dlsym(RTLD_DEFAULT, "ompi_request_functions");
    void *done = dlsym(RTLD_DEFAULT, "ompi_request_empty");
    int is_seen = pml && waits && done, are_seen;
    char out[PROBE_BYTES] = "", in[PROBE_BYTES];
    MPI_Request r[2];
    if (is_seen) {
        exchange(pml, waits);
        is_probing = 1;
        REAL(Isend)(out, PROBE_BYTES, MPI_BYTE, 0, PROBE_TAG, MPI_COMM_SELF, &r[0]);
        REAL(Recv)(in, PROBE_BYTES, MPI_BYTE, 0, PROBE_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        REAL(Wait)(&r[0], MPI_STATUS_IGNORE);
        for (int i = 0; i < 2; i++) REAL(Irecv)(in, PROBE_BYTES, MPI_BYTE, 0, PROBE_TAG, MPI_COMM_SELF, &r[i]);
        for (int i = 0; i < 2; i++) REAL(Send)(out, PROBE_BYTES, MPI_BYTE, 0, PROBE_TAG, MPI_COMM_SELF);
        REAL(Waitall)(2, r, MPI_STATUSES_IGNORE);
    }
    REAL(Barrier)(MPI_COMM_WORLD);
    int blocking_tag = last_tag;
    REAL(Ibarrier)(MPI_COMM_WORLD, &r[0]);
    REAL(Wait)(&r[0], MPI_STATUS_IGNORE);
    is_probing = 0;
    is_seen = is_seen && seen == ALL_SEEN && (world_size == 1 || (epoch && blocking_tag < 0 && last_tag < blocking_tag));
    if (last_tag < 0) first_tag = last_tag;
    done_key = key_of(&done, sizeof done);
    REAL(Allreduce)(&is_seen, &are_seen, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!are_seen && below.isend) exchange(pml, waits);
    return are_seen;
}
static void returned(void) { at_hand = NULL; epoch++; }
#else
static int watch(void) { return 0; }
static void returned(void) { at_hand = NULL; }
#endif
static void completed(uint64_t key, const MPI_Status *status) {
    Pending *p = find(key);
    if (!p || !p->active) return;
    int cancelled = 0;
    if (p->kind == RECEIVE) REAL(Test_cancelled)(status, &cancelled);
    if (p->kind == RECEIVE && !cancelled) received(p->group, p->seq, status);
    if (p->call) end_call(p->call);
    if (p->kind == COMMUNICATOR) name_group(p->made, p->group);
    p->active = 0;
    if (!p->persistent) p->kind = GONE;
}
static Call *collective(int kind, const char *name, Group *g, int root, long long bytes, const int *counts, MPI_Datatype type, const MPI_Datatype *types) {
    Call *call = begin_call(g, kind);
    if (!g || are_sent) return call;
    call->id = collectives++;
    word("c "); word(name); number(g->id); number(root); number(call->id); number(bytes);
    number(counts ? g->n : 0);
    for (int i = 0; counts && i < g->n; i++) number(bytes_of(counts[i], types ? types[i] : type));
    newline();
    return call;
}
static void track(Call *call, Pending p) {
    returned();
    if (!call->g || call->g->n == 1 || p.key == done_key) { end_call(call); return; }
    if (are_sent) { call->id = collectives++; word("b"); number(call->id); newline(); }
    call->next = live;
    live = call;
    p.active = 1;
    p.call = call;
    insert(p);
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
static int threads(void) {
    char text[4096] = "";
    int status = open("/proc/self/status", O_RDONLY);
    if (status >= 0 && read(status, text, sizeof text - 1) < 0) text[0] = 0;
    if (status >= 0) close(status);
    const char *line = strstr(text, "\nThreads:");
    return line ? atoi(line + 9) : 1;
}
/* What MPI_Init added to the memory of the process, and the threads that ran at its end. */
static long long of_library;
static int own_threads;
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
    are_sent = watch();
    fact("collectives", are_sent ? "sent" : "formulas");
    clock_rate();
    own_threads = threads();
    of_library = resident() - before;
}
/* A recorder that was compiled for another library would call it with wrong handles. */
static void expect_library(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
#ifdef OPEN_MPI
    int is_open = 1;
#else
    int is_open = 0;
#endif
    REAL(Get_library_version)(text, &length);
    if (is_open == !strncmp(text, "Open MPI", 8)) return;
    const char *folder = getenv("MIGSIM_RECORD_DIR");
    world_rank = (int)getpid();
    create(folder ? folder : ".");
    text[strcspn(text, ",\n")] = 0;
    for (char *at = text; *at; at++) if (*at == '\t') *at = ' ';
    dprintf(file, "migsim-record library %s\n", text);
    _exit(74);
}
int MPI_Init(int *argc, char ***argv) { inside = 1; expect_library(); long long before = resident(); int e = REAL(Init)(argc, argv); begin(before); return leave(e); }
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    inside = 1;
    expect_library();
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
    char more[16];
    snprintf(more, sizeof more, "%d", threads() - own_threads + 1);
    fact("threads", more);
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
    if (!p) { cannot("MPI_Start"); return; }
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
    int MPI_##NAME PARAMETERS { \
        ENTER(NAME, ARGUMENTS); Call *call = begin_call(group_of(c, "MPI_" #NAME), ANY_TAG); int e = REAL(NAME) ARGUMENTS; end_call(call); \
        if (*made != MPI_COMM_NULL) add_group(*made, -1); \
        return leave(e); }
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

/* Known once its request is complete. All members give it the same number, without a message: they copy in the same order. */
int MPI_Comm_idup(MPI_Comm c, MPI_Comm *made, MPI_Request *r) {
    ENTER(Comm_idup, (c, made, r));
    Group *from = group_of(c, "MPI_Comm_idup"), *g = own(sizeof *g);
    Call *call = begin_call(from, ANY_TAG);
    int e = REAL(Comm_idup)(c, made, r);
    if (from) {
        *g = *from;
        g->copies = 0;
        g->id = (long long)(((uint64_t)from->id * 1000003 + (uint64_t)++from->copies) >> 2 | 1ULL << 61);
        if (g->n == 1) { REAL(Wait)(r, MPI_STATUS_IGNORE); name_group(*made, g); } /* some libraries use one handle for all that is complete */
    }
    track(call, (Pending){.key = request_key(*r), .kind = COMMUNICATOR, .group = g, .made = *made});
    return leave(e);
}

/* --- collectives: the blocking form, and the one that a request completes --- */

#define STRIP(...) __VA_ARGS__
#define COLLECTIVES(NAME, INAME, LABEL, PARAMETERS, ARGUMENTS, ROOT, BYTES, COUNTS, TYPE, TYPES) \
    int MPI_##NAME(STRIP PARAMETERS MPI_Comm c) { \
        ENTER(NAME, (STRIP ARGUMENTS c)); Group *g = group_of(c, "MPI_" #NAME); Call *call = collective(NO_TAG, LABEL, g, ROOT, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(NAME)(STRIP ARGUMENTS c); end_call(call); return leave(e); } \
    int MPI_##INAME(STRIP PARAMETERS MPI_Comm c, MPI_Request *r) { \
        ENTER(INAME, (STRIP ARGUMENTS c, r)); Group *g = group_of(c, "MPI_" #INAME); Call *call = collective(OWN_TAG, LABEL, g, ROOT, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(INAME)(STRIP ARGUMENTS c, r); track(call, (Pending){.key = request_key(*r), .kind = COLLECTIVE}); return leave(e); }
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
static Call *neighbours(int kind, const char *name, Group *g, MPI_Comm c, long long bytes, const int *counts, MPI_Datatype type, const MPI_Datatype *types) {
    Call *call = begin_call(g, kind);
    if (!g || are_sent) return call;
    int to, from, known = 0, *all = neighbours_of(g, c, &to, &from);
    if (!all) { cannot(name); return call; }
    call->id = collectives++;
    word("n"); number(g->id); number(call->id);
    for (int i = 0; i < to; i++) known += all[i] != MPI_PROC_NULL;
    number(known);
    for (int i = 0; i < to; i++) if (all[i] != MPI_PROC_NULL) { number(all[i]); number(counts ? bytes_of(counts[i], types ? types[i] : type) : bytes); }
    for (int i = 0; i < from; i++) if (all[to + i] != MPI_PROC_NULL) number(all[to + i]);
    newline();
    free(all);
    return call;
}
#define NEIGHBOURS(NAME, INAME, PARAMETERS, ARGUMENTS, BYTES, COUNTS, TYPE, TYPES) \
    int MPI_##NAME(STRIP PARAMETERS MPI_Comm c) { \
        ENTER(NAME, (STRIP ARGUMENTS c)); Group *g = group_of(c, "MPI_" #NAME); Call *call = neighbours(NO_TAG, "MPI_" #NAME, g, c, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(NAME)(STRIP ARGUMENTS c); end_call(call); return leave(e); } \
    int MPI_##INAME(STRIP PARAMETERS MPI_Comm c, MPI_Request *r) { \
        ENTER(INAME, (STRIP ARGUMENTS c, r)); Group *g = group_of(c, "MPI_" #INAME); Call *call = neighbours(OWN_TAG, "MPI_" #INAME, g, c, BYTES, COUNTS, TYPE, TYPES); \
        int e = REAL(INAME)(STRIP ARGUMENTS c, r); track(call, (Pending){.key = request_key(*r), .kind = COLLECTIVE}); return leave(e); }
NEIGHBOURS(Neighbor_allgather, Ineighbor_allgather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, ), (b, n, t, rb, rn, rt, ), bytes_of(n, t), NULL, MPI_BYTE, NULL)
NEIGHBOURS(Neighbor_allgatherv, Ineighbor_allgatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int rn[], const int rd[], MPI_Datatype rt, ), (b, n, t, rb, rn, rd, rt, ), bytes_of(n, t), NULL, MPI_BYTE, NULL)
NEIGHBOURS(Neighbor_alltoall, Ineighbor_alltoall, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, ), (b, n, t, rb, rn, rt, ), bytes_of(n, t), NULL, MPI_BYTE, NULL)
NEIGHBOURS(Neighbor_alltoallv, Ineighbor_alltoallv, (const void *b, const int n[], const int d[], MPI_Datatype t, void *rb, const int rn[], const int rd[], MPI_Datatype rt, ), (b, n, d, t, rb, rn, rd, rt, ), 0, n, t, NULL)
NEIGHBOURS(Neighbor_alltoallw, Ineighbor_alltoallw, (const void *b, const int n[], const MPI_Aint d[], const MPI_Datatype t[], void *rb, const int rn[], const MPI_Aint rd[], const MPI_Datatype rt[], ), (b, n, d, t, rb, rn, rd, rt, ), 0, n, MPI_BYTE, t)

/* --- files: what processes exchange to use one together. Reading and writing is work; waiting for each other is not. --- */

static Call *file_call(MPI_File f, int is_work) {
    Pending *p = find(file_key(f));
    Call *call = begin_call(p ? p->group : NULL, ANY_TAG);
    call->is_file = is_work;
    left_at = now();
    return call;
}
static int end_file_call(Call *call, int e) {
    if (call->is_file) work();
    end_call(call);
    return leave(e);
}
int MPI_File_open(MPI_Comm c, const char *name, int mode, MPI_Info i, MPI_File *f) {
    ENTER(File_open, (c, name, mode, i, f));
    Group *g = group_of(c, "MPI_File_open");
    Call *call = begin_call(g, ANY_TAG);
    int e = REAL(File_open)(c, name, mode, i, f);
    if (!e) insert((Pending){.key = file_key(*f), .kind = OPENED, .group = g});
    return end_file_call(call, e);
}
int MPI_File_close(MPI_File *f) {
    ENTER(File_close, (f));
    Pending *p = find(file_key(*f));
    Call *call = file_call(*f, 0);
    if (p) p->kind = GONE;
    return end_file_call(call, REAL(File_close)(f));
}
#define FILES(NAME, IS_WORK, PARAMETERS, ARGUMENTS) \
    int MPI_File_##NAME PARAMETERS { ENTER(File_##NAME, ARGUMENTS); Call *call = file_call(f, IS_WORK); return end_file_call(call, REAL(File_##NAME) ARGUMENTS); }
FILES(set_view, 0, (MPI_File f, MPI_Offset d, MPI_Datatype u, MPI_Datatype t, const char *r, MPI_Info i), (f, d, u, t, r, i))
FILES(set_size, 1, (MPI_File f, MPI_Offset n), (f, n))
FILES(preallocate, 1, (MPI_File f, MPI_Offset n), (f, n))
FILES(sync, 1, (MPI_File f), (f))
#define ACCESSES(NAME, CONST) \
    FILES(NAME##_all, 1, (MPI_File f, CONST void *b, int n, MPI_Datatype t, MPI_Status *s), (f, b, n, t, s)) \
    FILES(NAME##_at_all, 1, (MPI_File f, MPI_Offset o, CONST void *b, int n, MPI_Datatype t, MPI_Status *s), (f, o, b, n, t, s)) \
    FILES(NAME##_ordered, 1, (MPI_File f, CONST void *b, int n, MPI_Datatype t, MPI_Status *s), (f, b, n, t, s)) \
    FILES(NAME##_all_begin, 1, (MPI_File f, CONST void *b, int n, MPI_Datatype t), (f, b, n, t)) \
    FILES(NAME##_at_all_begin, 1, (MPI_File f, MPI_Offset o, CONST void *b, int n, MPI_Datatype t), (f, o, b, n, t)) \
    FILES(NAME##_ordered_begin, 1, (MPI_File f, CONST void *b, int n, MPI_Datatype t), (f, b, n, t)) \
    FILES(NAME##_all_end, 1, (MPI_File f, CONST void *b, MPI_Status *s), (f, b, s)) \
    FILES(NAME##_at_all_end, 1, (MPI_File f, CONST void *b, MPI_Status *s), (f, b, s)) \
    FILES(NAME##_ordered_end, 1, (MPI_File f, CONST void *b, MPI_Status *s), (f, b, s)) \
    FILES(i##NAME##_all, 1, (MPI_File f, CONST void *b, int n, MPI_Datatype t, MPI_Request *r), (f, b, n, t, r)) \
    FILES(i##NAME##_at_all, 1, (MPI_File f, MPI_Offset o, CONST void *b, int n, MPI_Datatype t, MPI_Request *r), (f, o, b, n, t, r))
ACCESSES(read, ) ACCESSES(write, const)

/* --- regions: `MPI_Pcontrol(1, "name")` begins one, and a level of 0 or less ends it. Without a readable name it has that of its level. --- */

int MPI_Pcontrol(const int level, ...) {
    if (is_stranger("MPI_Pcontrol") || inside || file < 0) return MPI_SUCCESS;
    enter();
    va_list list;
    va_start(list, level);
    const char *name = level > 0 ? va_arg(list, const char *) : NULL;
    va_end(list);
    int n = 0, is_name = name && (!access(name, F_OK) || errno != EFAULT);
    while (is_name && name[n] > ' ' && name[n] <= '~' && n < 200) n++;
    word("p");
    if (n && !name[n]) { word(" "); word(name); }
    else if (level > 0) number(level);
    newline();
    return leave(MPI_SUCCESS);
}

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
ALSO(Comm_accept) ALSO(Comm_connect) ALSO(Pcontrol) ALSO(File_open) ALSO(File_close) ALSO(File_set_view) ALSO(File_set_size)
ALSO(File_preallocate) ALSO(File_sync)
#define ALSO_ACCESSES(NAME) \
    ALSO(File_##NAME##_all) ALSO(File_##NAME##_at_all) ALSO(File_##NAME##_ordered) ALSO(File_##NAME##_all_begin) ALSO(File_##NAME##_at_all_begin) \
    ALSO(File_##NAME##_ordered_begin) ALSO(File_##NAME##_all_end) ALSO(File_##NAME##_at_all_end) ALSO(File_##NAME##_ordered_end) \
    ALSO(File_i##NAME##_all) ALSO(File_i##NAME##_at_all)
ALSO_ACCESSES(read) ALSO_ACCESSES(write)
