/* Counts messages and bytes of an MPI program, and takes its time, beside the recorder of `migsim record` and in another way.
 *
 * Preloaded. At MPI_Finalize each process appends `RANK MESSAGES BYTES SECONDS` to the file $MIGSIM_COUNT. A message counts at one end: its
 * sender, or a process that a collective gives a part. Messages to oneself do not count. Collectives count as the algorithms that the guide names. Seconds
 * run from a barrier behind MPI_Init until MPI_Finalize. Non-blocking collectives that programs here do not use are left out. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long long messages, bytes;
static double begun;

static long long size_of(int n, MPI_Datatype t) { int size; PMPI_Type_size(t, &size); return (long long)n * size; }
static void add(long long n, long long each) { messages += n; bytes += n * each; }
static int rank_in(MPI_Comm c) { int r; PMPI_Comm_rank(c, &r); return r; }
static int size_in(MPI_Comm c) { int n; PMPI_Comm_size(c, &n); return n; }

static void begin(void) { PMPI_Barrier(MPI_COMM_WORLD); begun = PMPI_Wtime(); }
int MPI_Init(int *n, char ***v) { int e = PMPI_Init(n, v); begin(); return e; }
int MPI_Init_thread(int *n, char ***v, int r, int *p) { int e = PMPI_Init_thread(n, v, r, p); begin(); return e; }
int MPI_Finalize(void) {
    double took = PMPI_Wtime() - begun;
    const char *name = getenv("MIGSIM_COUNT");
    FILE *f = name ? fopen(name, "a") : NULL;
    if (f) { fprintf(f, "%d %lld %lld %.9f\n", rank_in(MPI_COMM_WORLD), messages, bytes, took); fclose(f); }
    return PMPI_Finalize();
}

/* Point to point. */
static void sent(int to, int n, MPI_Datatype t, MPI_Comm c) { if (to != MPI_PROC_NULL && to != rank_in(c)) add(1, size_of(n, t)); }
#define SEND(NAME) int MPI_##NAME(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { sent(to, n, t, c); return PMPI_##NAME(b, n, t, to, tag, c); }
SEND(Send) SEND(Ssend) SEND(Bsend) SEND(Rsend)
#define ISEND(NAME) int MPI_##NAME(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) { sent(to, n, t, c); return PMPI_##NAME(b, n, t, to, tag, c, r); }
ISEND(Isend) ISEND(Issend) ISEND(Ibsend) ISEND(Irsend)
int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int to, int tag, void *o, int m, MPI_Datatype u, int from, int other, MPI_Comm c, MPI_Status *s) {
    sent(to, n, t, c);
    return PMPI_Sendrecv(b, n, t, to, tag, o, m, u, from, other, c, s);
}
int MPI_Sendrecv_replace(void *b, int n, MPI_Datatype t, int to, int tag, int from, int other, MPI_Comm c, MPI_Status *s) {
    sent(to, n, t, c);
    return PMPI_Sendrecv_replace(b, n, t, to, tag, from, other, c, s);
}

/* Collectives; `all` is the size of what goes to or comes from each process. */
static long long sum_of(const int *counts, MPI_Datatype t, int n, int but) {
    long long sum = 0;
    for (int i = 0; i < n; i++) if (i != but) sum += size_of(counts[i], t);
    return sum;
}
/* Recursive doubling: a process beyond the largest power of two hands over, and hears the result. A large allreduce halves and doubles. */
static void doubling(MPI_Comm c, long long size, int halves) {
    int n = size_in(c), me = rank_in(c), power = 1;
    while (2 * power <= n) power *= 2;
    if (me >= power) { add(1, size); return; }
    if (me + power < n) add(1, size);
    for (int away = 1; away < power; away *= 2) add(halves ? 2 : 1, halves ? (size + 2 * away - 1) / (2 * away) : size);
}
static void allreduce(MPI_Comm c, long long size) { doubling(c, size, size >= 8192); }
static int rounds_in(MPI_Comm c) { int rounds = 0; while ((1 << rounds) < size_in(c)) rounds++; return rounds; }
int MPI_Barrier(MPI_Comm c) { doubling(c, 0, 0); return PMPI_Barrier(c); }
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c) { if (rank_in(c) != root) add(1, size_of(n, t)); return PMPI_Bcast(b, n, t, root, c); }
int MPI_Reduce(const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
    if (rank_in(c) != root) add(1, size_of(n, t));
    return PMPI_Reduce(b, o, n, t, op, root, c);
}
int MPI_Allreduce(const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) { allreduce(c, size_of(n, t)); return PMPI_Allreduce(b, o, n, t, op, c); }
int MPI_Iallreduce(const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r) {
    allreduce(c, size_of(n, t));
    return PMPI_Iallreduce(b, o, n, t, op, c, r);
}
int MPI_Gather(const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, int root, MPI_Comm c) {
    if (rank_in(c) != root) add(1, size_of(n, t));
    return PMPI_Gather(b, n, t, o, m, u, root, c);
}
int MPI_Gatherv(const void *b, int n, MPI_Datatype t, void *o, const int *m, const int *d, MPI_Datatype u, int root, MPI_Comm c) {
    if (rank_in(c) != root) add(1, size_of(n, t));
    return PMPI_Gatherv(b, n, t, o, m, d, u, root, c);
}
int MPI_Scatter(const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, int root, MPI_Comm c) {
    if (rank_in(c) != root) add(1, size_of(m, u));
    return PMPI_Scatter(b, n, t, o, m, u, root, c);
}
int MPI_Allgather(const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, MPI_Comm c) {
    messages += rounds_in(c);
    bytes += (size_in(c) - 1) * size_of(m, u);
    return PMPI_Allgather(b, n, t, o, m, u, c);
}
/* The parts of all others arrive. */
int MPI_Allgatherv(const void *b, int n, MPI_Datatype t, void *o, const int *m, const int *d, MPI_Datatype u, MPI_Comm c) {
    int count = size_in(c);
    messages += rounds_in(c);
    bytes += sum_of(m, u, count, rank_in(c));
    return PMPI_Allgatherv(b, n, t, o, m, d, u, c);
}
int MPI_Alltoall(const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, MPI_Comm c) {
    add(size_in(c) - 1, size_of(m, u));
    return PMPI_Alltoall(b, n, t, o, m, u, c);
}
int MPI_Alltoallv(const void *b, const int *n, const int *d, MPI_Datatype t, void *o, const int *m, const int *e, MPI_Datatype u, MPI_Comm c) {
    int count = size_in(c);
    messages += count - 1;
    bytes += sum_of(n, t, count, rank_in(c));
    return PMPI_Alltoallv(b, n, d, t, o, m, e, u, c);
}
int MPI_Scan(const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) { if (rank_in(c)) add(1, size_of(n, t)); return PMPI_Scan(b, o, n, t, op, c); }
int MPI_Exscan(const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) { if (rank_in(c)) add(1, size_of(n, t)); return PMPI_Exscan(b, o, n, t, op, c); }
int MPI_Reduce_scatter(const void *b, void *o, const int *m, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
    int count = size_in(c);
    messages += count - 1;
    bytes += sum_of(m, t, count, (rank_in(c) + 1) % count);
    return PMPI_Reduce_scatter(b, o, m, t, op, c);
}
