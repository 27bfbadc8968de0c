/* Processes that the program starts have their own ranks from 0; `migsim record` must refuse them with rank and call. */
#include <mpi.h>

int main(int argc, char **argv) {
    int n;
    MPI_Comm parent, others;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_get_parent(&parent);
    MPI_Barrier(MPI_COMM_WORLD);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&others);
    } else MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}
