/* Bucket sort in the manner of the NPB kernel IS: keys are exchanged all to all and counted, again and again.
 *
 *   sort [KEYS [ITERATIONS [BUCKETS]]]
 *
 * There is one bucket for each process. BUCKETS is for one process alone: it does the work of one of BUCKETS processes, without the exchange,
 * and shows how the work of a key depends on the number of buckets. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 16 };

int main(int argc, char **argv) {
    int rank, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    int mine = (argc > 1 ? atoi(argv[1]) : 1 << 22) / count, iterations = argc > 2 ? atoi(argv[2]) : 20, is_alone = argc > 3;
    if (is_alone) count = atoi(argv[3]);
    int *key = malloc(4 * (size_t)mine), *out = malloc(4 * (size_t)mine), *in = malloc(8 * (size_t)mine), *found = malloc(4 * LARGEST);
    int *sends = malloc(4 * (size_t)count), *receives = malloc(4 * (size_t)count), *from = malloc(4 * (size_t)count), *to = malloc(4 * (size_t)count);
    int *next = malloc(4 * (size_t)count);
    unsigned long long random = 99 + (unsigned)rank;
    for (int i = 0; i < mine; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        key[i] = (int)((random >> 40) % LARGEST);
    }
    if (is_alone)
        for (int i = 0; i < mine; i++) in[i] = key[i] / count; /* the keys of one bucket */
    long long sum = 0, all;
    for (int k = 0; k < iterations; k++) {
        key[k] = k;
        memset(sends, 0, 4 * (size_t)count);
        for (int i = 0; i < mine; i++) sends[(long)key[i] * count / LARGEST]++;
        if (is_alone)
            memcpy(receives, sends, 4 * (size_t)count);
        else
            MPI_Alltoall(sends, 1, MPI_INT, receives, 1, MPI_INT, MPI_COMM_WORLD);
        from[0] = to[0] = 0;
        for (int i = 1; i < count; i++) {
            from[i] = from[i - 1] + sends[i - 1];
            to[i] = to[i - 1] + receives[i - 1];
        }
        memcpy(next, from, 4 * (size_t)count);
        for (int i = 0; i < mine; i++) out[next[(long)key[i] * count / LARGEST]++] = key[i];
        if (!is_alone) MPI_Alltoallv(out, sends, from, MPI_INT, in, receives, to, MPI_INT, MPI_COMM_WORLD);
        memset(found, 0, 4 * LARGEST);
        for (int i = 0; i < to[count - 1] + receives[count - 1]; i++) found[in[i]]++;
        for (int i = 1; i < LARGEST; i++) found[i] += found[i - 1];
        sum += found[LARGEST - 1];
    }
    MPI_Reduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%lld keys\n", all);
    return MPI_Finalize();
}
