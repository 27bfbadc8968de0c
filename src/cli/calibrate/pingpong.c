/* Ping-pong for `migsim calibrate`: the times of single messages from rank 0 to the first rank on its host and to the first one on another host,
 * one way, and of exchanges of two messages at a time inside a host, into the file of the first argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 11, LARGEST = 4194304, WARM = 20 };
static const int sizes[SIZES] = {1, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, LARGEST};
static char here[MPI_MAX_PROCESSOR_NAME], *names, *data, *other;
static int rank;
static FILE *out;

static int times_of(int size) { return size <= 65536 ? 400 : 40; }
static void row(const char *kind, int to, int size, double time) {
    if (rank == 0) fprintf(out, "%s,%s,%s,%d,%.9g\n", kind, here, names + to * sizeof here, size, time);
}
static void ping(int to, int size) {
    for (int i = -WARM; i < times_of(size); i++) {
        double begun = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(data, size, MPI_CHAR, to, 1, MPI_COMM_WORLD);
            MPI_Recv(data, size, MPI_CHAR, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
        if (i >= 0) row("ping", to, size, (MPI_Wtime() - begun) / 2);
    }
}
/* A short message first, so that both begin together. */
static void exchange(int to, int size) {
    int with = rank == 0 ? to : 0;
    for (int i = -WARM; i < times_of(size); i++) {
        MPI_Sendrecv(data, 1, MPI_CHAR, with, 2, other, 1, MPI_CHAR, with, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double begun = MPI_Wtime();
        MPI_Sendrecv(data, size, MPI_CHAR, with, 2, other, size, MPI_CHAR, with, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i >= 0) row("exchange", to, size, MPI_Wtime() - begun);
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
    data = calloc(LARGEST, 1);
    other = calloc(LARGEST, 1);
    MPI_Allgather(here, sizeof here, MPI_CHAR, names, sizeof here, MPI_CHAR, MPI_COMM_WORLD);
    for (int k = count - 1; k > 0; k--) partners[strcmp(names, names + (size_t)k * sizeof here) != 0] = k;
    if (rank == 0) {
        out = fopen(argv[1], "w");
        if (!out) { perror(argv[1]); MPI_Abort(MPI_COMM_WORLD, 2); }
        fprintf(out, "kind,from,to,bytes,time_s\n");
    }
    for (int far = 0; far < 2; far++)
        for (int k = 0; k < SIZES && partners[far] && (rank == 0 || rank == partners[far]); k++) {
            ping(partners[far], sizes[k]);
            if (!far) exchange(partners[far], sizes[k]);
        }
    if (out && fclose(out)) { perror(argv[1]); MPI_Abort(MPI_COMM_WORLD, 2); }
    return MPI_Finalize();
}
