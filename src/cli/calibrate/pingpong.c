/* Ping-pong for `migsim calibrate`: the times of single messages from rank 0 to the first rank on its host and to the first one on another host,
 * one way, of exchanges of two messages at a time inside a host, and of streams of small messages, into the file of the first argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 11, LARGEST = 4194304, WARM = 20, FEWEST = 10, WALK_FROM = 1048576, WALK = 16 * LARGEST, STREAM = 2000 };
static const int sizes[SIZES] = {1, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, WALK_FROM, LARGEST};
static char here[MPI_MAX_PROCESSOR_NAME], *names, *data, *other;
static int rank;
static FILE *out;

static void row(const char *kind, int to, int size, double time) {
    if (rank == 0) fprintf(out, "%s,%s,%s,%d,%.9g\n", kind, here, names + to * sizeof here, size, time);
}
/* Large messages walk through the buffer, since those of programs are in no cache: a program has computed more since it last used them. */
static size_t place(int i, int size) {
    return size < WALK_FROM ? 0 : (size_t)(i + WARM) * (size_t)size % WALK;
}
/* The sender computes before each message, so that the receiver has waited for a while, as in programs: a process that sleeps, or its
 * core, takes longer to wake up than within a loop of messages. */
static void compute(void) {
    double begun = MPI_Wtime();
    while (MPI_Wtime() - begun < 5e-4) continue;
}
/* The time of a message, one way: that of both messages without what the other process computes between them. */
static double there_and_back(int to, int i, int size) {
    char *at = data + place(i, size);
    double held;
    compute();
    if (rank == 0) {
        double begun = MPI_Wtime();
        MPI_Send(at, size, MPI_CHAR, to, 1, MPI_COMM_WORLD);
        MPI_Recv(at, size, MPI_CHAR, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double both = MPI_Wtime() - begun;
        MPI_Recv(&held, 1, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return (both - held) / 2;
    }
    MPI_Recv(at, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double came = MPI_Wtime();
    compute();
    held = MPI_Wtime() - came;
    MPI_Send(at, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    MPI_Send(&held, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
    return 0;
}
/* At most 400 or 40 repetitions, and as many as take a second; rank 0 decides. */
static int repetitions(int to, int size) {
    int most = size <= 65536 ? 400 : 40;
    there_and_back(to, 0, size);
    double time = there_and_back(to, 1, size), count = time > 0 ? 0.5 / time : most;
    int all = count > most ? most : count < FEWEST ? FEWEST : (int)count;
    if (rank == 0) MPI_Send(&all, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
    else MPI_Recv(&all, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return all;
}
static void ping(int to, int size, int all) {
    for (int i = all < 2 * WARM ? 0 : -WARM; i < all; i++) {
        double time = there_and_back(to, i, size);
        if (i >= 0) row("ping", to, size, time);
    }
}
/* A short message first, so that both begin together. */
static void exchange(int to, int size, int all) {
    int with = rank == 0 ? to : 0;
    for (int i = all < 2 * WARM ? 0 : -WARM; i < all; i++) {
        size_t at = place(i, size);
        MPI_Sendrecv(data, 1, MPI_CHAR, with, 2, other, 1, MPI_CHAR, with, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double begun = MPI_Wtime();
        MPI_Sendrecv(data + at, size, MPI_CHAR, with, 2, other + at, size, MPI_CHAR, with, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i >= 0) row("exchange", to, size, MPI_Wtime() - begun);
    }
}
/* The time per message of a stream: that of the end that takes more processor time. */
static void stream(int to, int size) {
    for (int i = -2; i < 20; i++) {
        double begun = MPI_Wtime();
        for (int k = 0; k < STREAM; k++) {
            if (rank == 0) MPI_Send(data, size, MPI_CHAR, to, 4, MPI_COMM_WORLD);
            else MPI_Recv(data, size, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 0) MPI_Recv(data, 1, MPI_CHAR, to, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else MPI_Send(data, 1, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
        if (i >= 0) row("stream", to, size, (MPI_Wtime() - begun) / STREAM);
    }
}

int main(int argc, char **argv) {
    int count, length, partners[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count < 2 || argc < 2) {
        if (rank == 0) fprintf(stderr, "migsim calibrate: start two processes or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Get_processor_name(here, &length);
    names = calloc((size_t)count, sizeof here);
    data = malloc(WALK);
    other = malloc(WALK);
    memset(data, 1, WALK); /* pages that were never written are one page, in the cache */
    memset(other, 1, WALK);
    MPI_Allgather(here, sizeof here, MPI_CHAR, names, sizeof here, MPI_CHAR, MPI_COMM_WORLD);
    for (int k = count - 1; k > 0; k--) partners[strcmp(names, names + (size_t)k * sizeof here) != 0] = k;
    if (rank == 0) {
        out = fopen(argv[1], "w");
        if (!out) { perror(argv[1]); MPI_Abort(MPI_COMM_WORLD, 2); }
        fprintf(out, "kind,from,to,bytes,time_s\n");
    }
    int is_described = getenv("MIGSIM_RECORD_DIR") != NULL; /* the second run, in which the recorder describes the library */
    for (int far = 0; far < 2 && !is_described; far++)
        for (int k = 0; k < SIZES && partners[far] && (rank == 0 || rank == partners[far]); k++) {
            int all = repetitions(partners[far], sizes[k]);
            ping(partners[far], sizes[k], all);
            if (!far) exchange(partners[far], sizes[k], all);
            if (sizes[k] <= 64) stream(partners[far], sizes[k]);
        }
    if (out && fclose(out)) { perror(argv[1]); MPI_Abort(MPI_COMM_WORLD, 2); }
    return MPI_Finalize();
}
