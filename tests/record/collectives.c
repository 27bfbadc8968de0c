/* Collectives of several sizes, roots and communicators, blocking and not, in place, with unequal and empty blocks and an operation that
 * does not commute; collectives of neighbours and communicators. With the name of a file as
 * argument, also a file and tests, after which calls complete in an order that depends on times. For a comparison with the library's own accounting. */
#include <mpi.h>
#include <stdlib.h>

enum { MOST = 40000 };
static int ranks, me;
static MPI_Datatype t;
static void minus(void *a, void *b, int *n, MPI_Datatype *of) { (void)of; double *x = a, *y = b; for (int i = 0; i < *n; i++) y[i] = x[i] - y[i]; }

static void blocking(MPI_Comm w, double *a, double *b, int n, int *blocks, int *at, MPI_Op op) {
    int size, rank;
    MPI_Comm_size(w, &size);
    MPI_Comm_rank(w, &rank);
    int root = size / 2;
    MPI_Barrier(w);
    MPI_Bcast(a, n, t, root, w);
    MPI_Reduce(a, b, n, t, MPI_SUM, root, w);
    MPI_Reduce(a, b, n, t, op, root, w);
    MPI_Allreduce(MPI_IN_PLACE, b, n, t, MPI_SUM, w);
    MPI_Allreduce(a, b, n, t, op, w);
    MPI_Gather(rank == root ? MPI_IN_PLACE : a, n, t, b, n, t, root, w);
    MPI_Scatter(a, n, t, rank == root ? MPI_IN_PLACE : b, n, t, root, w);
    MPI_Gatherv(a, blocks[rank], t, b, blocks, at, t, root, w);
    MPI_Allgather(a, n, t, b, n, t, w);
    MPI_Allgatherv(a, blocks[rank], t, b, blocks, at, t, w);
    MPI_Alltoall(MPI_IN_PLACE, n, t, b, n, t, w);
    MPI_Alltoall(a, n, t, b, n, t, w);
    MPI_Reduce_scatter(a, b, blocks, t, MPI_SUM, w);
    MPI_Reduce_scatter_block(a, b, n, t, MPI_SUM, w);
    MPI_Scan(a, b, n, t, op, w);
}
/* Six at a time, in the order of the calls and with another collective and messages before they are complete. */
static void unfinished(MPI_Comm w, MPI_Comm half, double *a, double *b, int n, int *blocks, int *at, int tests) {
    MPI_Request q[6];
    MPI_Ibcast(a, n, t, 0, w, &q[0]);
    MPI_Iallreduce(MPI_IN_PLACE, b, n, t, MPI_SUM, half, &q[1]);
    MPI_Ireduce(a, b + (size_t)MOST, n, t, MPI_SUM, ranks - 1, w, &q[2]);
    MPI_Ibarrier(w, &q[3]);
    MPI_Iallgatherv(a, blocks[me], t, b + 2 * (size_t)MOST, blocks, at, t, w, &q[4]);
    MPI_Iscan(a, b + (2 + (size_t)ranks) * MOST, n, t, MPI_SUM, w, &q[5]);
    MPI_Barrier(half);
    MPI_Sendrecv_replace(a, n, t, (me + 1) % ranks, 9, (me + ranks - 1) % ranks, 9, w, MPI_STATUS_IGNORE);
    for (int k = 0, done; k < tests; k++) MPI_Test(&q[k % 6], &done, MPI_STATUS_IGNORE);
    MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
}
static void file(MPI_Comm w, const char *name, double *a, int n) {
    MPI_File f;
    MPI_Datatype part;
    MPI_File_open(w, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_Type_vector(8, 10, 10 * ranks, t, &part);
    MPI_Type_commit(&part);
    MPI_File_set_view(f, me * 80, t, part, "native", MPI_INFO_NULL);
    MPI_File_write_all(f, a, n < 80 ? n : 80, t, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(f, 0, a, n < 80 ? n : 80, t, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    MPI_Type_free(&part);
}
int main(int argc, char **argv) {
    static const int sizes[] = {0, 3, 1000, MOST};
    MPI_Init(&argc, &argv);
    MPI_Comm w = MPI_COMM_WORLD, half, grid, copy;
    MPI_Comm_size(w, &ranks);
    MPI_Comm_rank(w, &me);
    t = MPI_DOUBLE;
    int dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Op op;
    MPI_Request q;
    MPI_Op_create(minus, 0, &op);
    double *a = calloc((size_t)(ranks + 3) * MOST, sizeof *a), *b = calloc((size_t)(ranks + 3) * MOST, sizeof *b);
    int *blocks = calloc((size_t)ranks, sizeof *blocks), *at = calloc((size_t)ranks, sizeof *at);
    MPI_Comm_split(w, me % 2, -me, &half);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(w, 2, dims, periods, 0, &grid);
    MPI_Comm_idup(half, &copy, &q);
    MPI_Barrier(w);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1, "main");
    for (int i = 0; i < 4; i++) {
        int n = sizes[i];
        for (int p = 0; p < ranks; p++) {
            blocks[p] = p % 3 ? n / (p % 3) : 0;
            at[p] = p ? at[p - 1] + blocks[p - 1] : 0;
        }
        blocking(w, a, b, n, blocks, at, op);
        blocking(copy, a, b, n, blocks, at, op);
        unfinished(w, half, a, b, n, blocks, at, argc > 1 ? 20 : 0);
        MPI_Neighbor_alltoall(a, n, t, b, n, t, grid);
        MPI_Ineighbor_allgather(a, n, t, b, n, t, grid, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (argc > 1) file(w, argv[1], a, n);
    }
    MPI_Pcontrol(-1, "main");
    MPI_Comm_free(&copy);
    return MPI_Finalize();
}
