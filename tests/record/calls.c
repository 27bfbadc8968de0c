/* Point-to-point messages in all forms, collectives with v-forms, sub-communicators, neighbours: calls that `migsim record` must support. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int me, n, flag, index, done, at[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int next = (me + 1) % n, before = (me + n - 1) % n;
    double *a = calloc(4096, 8), *b = calloc(4096, 8);
    MPI_Request r[64];

    /* a ring, with all kinds of sends */
    MPI_Sendrecv(a, 100, MPI_DOUBLE, next, 1, b, 100, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(b, 100, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Ssend(a, 50, MPI_DOUBLE, next, 2, MPI_COMM_WORLD);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);

    /* persistent requests */
    MPI_Recv_init(b, 10, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(a, 10, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &r[1]);
    for (int k = 0; k < 3; k++) {
        MPI_Startall(2, r);
        do MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE); while (!flag);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);

    /* wildcards */
    if (me == 0) {
        for (int k = 1; k < n; k++) MPI_Irecv(b + k, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[k - 1]);
        for (int left = n - 1; left > 0; left -= done) MPI_Waitsome(n - 1, r, &done, at, MPI_STATUSES_IGNORE);
    } else MPI_Send(a, 1, MPI_DOUBLE, 0, 10 + me, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* no later message may meet a wildcard */
    MPI_Irecv(b, 1, MPI_DOUBLE, before, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(a, 1, MPI_DOUBLE, next, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);

    /* collectives of the world and of its halves */
    MPI_Comm half, copy;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    MPI_Comm_dup(half, &copy);
    MPI_Comm comms[3] = {MPI_COMM_WORLD, half, copy};
    for (int k = 0; k < 3; k++) {
        int size, rank, counts[64], starts[64];
        MPI_Comm_size(comms[k], &size);
        MPI_Comm_rank(comms[k], &rank);
        for (int i = 0; i < size; i++) { counts[i] = i + 1; starts[i] = i * 8; }
        MPI_Barrier(comms[k]);
        MPI_Bcast(a, 100, MPI_DOUBLE, size - 1, comms[k]);
        MPI_Reduce(a, b, 100, MPI_DOUBLE, MPI_SUM, 0, comms[k]);
        MPI_Allreduce(a, b, 4000, MPI_DOUBLE, MPI_SUM, comms[k]);
        MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, comms[k]);
        MPI_Gatherv(a, counts[rank], MPI_DOUBLE, b, counts, starts, MPI_DOUBLE, 0, comms[k]);
        MPI_Scatterv(a, counts, starts, MPI_DOUBLE, b, counts[rank], MPI_DOUBLE, 0, comms[k]);
        MPI_Allgatherv(a, counts[rank], MPI_DOUBLE, b, counts, starts, MPI_DOUBLE, comms[k]);
        MPI_Alltoall(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comms[k]);
        MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, comms[k]);
        MPI_Scan(a, b, 4, MPI_DOUBLE, MPI_SUM, comms[k]);
        MPI_Ibcast(a, 10, MPI_DOUBLE, 0, comms[k], &r[0]);
        MPI_Iallreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, comms[k], &r[1]);
        MPI_Ibarrier(comms[k], &r[2]);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    }
    /* a communicator that exists when its request is complete: two processes wait before the others do */
    MPI_Comm later, own;
    MPI_Comm_idup(half, &later, &r[0]);
    MPI_Comm_idup(MPI_COMM_SELF, &own, &r[1]);
    if (me < 2) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Bcast(a, 7, MPI_DOUBLE, 0, later);
    MPI_Bcast(a, 7, MPI_DOUBLE, 0, own);

    /* matched probes: for one neighbour, for any process, with and without a wait */
    MPI_Message message;
    MPI_Status status;
    for (int k = 0; k < 2; k++) {
        MPI_Isend(a, 20, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, &r[0]);
        if (k == 0) {
            MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(b, 20, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        } else {
            do MPI_Improbe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE); while (!flag);
            MPI_Imrecv(b, 20, MPI_DOUBLE, &message, &r[1]);
            MPI_Wait(&r[1], &status);
        }
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* no later message may meet a wildcard */
    }

    /* neighbours on a line, on a ring, and in a user-defined graph */
    for (int periodic = 0; periodic < 2; periodic++) {
        MPI_Comm line;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &line);
        MPI_Neighbor_allgather(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, line);
        MPI_Ineighbor_alltoall(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, line, &r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Comm_free(&line);
    }
    MPI_Comm graph;
    int one[1] = {1}, zero[1] = {0};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, one, 1, &next, one, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoallv(a, one, zero, MPI_DOUBLE, b, one, zero, MPI_DOUBLE, graph);
    MPI_Neighbor_allgatherv(a, 1, MPI_DOUBLE, b, one, zero, MPI_DOUBLE, graph);
    MPI_Comm_free(&graph);

    MPI_Finalize();
    return 0;
}
