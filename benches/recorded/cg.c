/* Conjugate gradients in the manner of the NPB kernel CG: a random sparse matrix in rows; each iteration gathers the whole vector.
 *
 *   cg [ROWS [ITERATIONS]] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILLED = 13 };

static double sum_over_all(double own) {
    double sum;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv) {
    int rank, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    int rows = argc > 1 ? atoi(argv[1]) : 40000, iterations = argc > 2 ? atoi(argv[2]) : 60;
    int mine = rows / count, first = rank * mine;
    int *column = malloc(sizeof *column * (size_t)mine * FILLED);
    double *value = malloc(sizeof *value * (size_t)mine * FILLED), *direction = malloc(sizeof *direction * (size_t)rows);
    double *x = calloc((size_t)mine, 8), *image = malloc(8 * (size_t)mine), *rest = malloc(8 * (size_t)mine), *own = malloc(8 * (size_t)mine);
    unsigned long long random = 12345 + (unsigned)rank;
    for (int i = 0; i < mine * FILLED; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        column[i] = i % FILLED ? (int)((random >> 33) % (unsigned)rows) : first + i / FILLED;
        value[i] = i % FILLED ? -0.5 / FILLED : 2;
    }
    for (int i = 0; i < mine; i++) rest[i] = own[i] = 1;
    double square = rows;
    for (int k = 0; k < iterations; k++) {
        MPI_Allgather(own, mine, MPI_DOUBLE, direction, mine, MPI_DOUBLE, MPI_COMM_WORLD);
        double product = 0, next = 0;
        for (int i = 0; i < mine; i++) {
            double y = 0;
            for (int j = i * FILLED; j < (i + 1) * FILLED; j++) y += value[j] * direction[column[j]];
            image[i] = y;
            product += own[i] * y;
        }
        double step = square / sum_over_all(product);
        for (int i = 0; i < mine; i++) {
            x[i] += step * own[i];
            rest[i] -= step * image[i];
            next += rest[i] * rest[i];
        }
        next = sum_over_all(next);
        for (int i = 0; i < mine; i++) own[i] = rest[i] + next / square * own[i];
        square = next;
    }
    if (rank == 0) printf("residual %g, x[0] %g\n", sqrt(square), x[0]);
    return MPI_Finalize();
}
