/* Ping-pong for `migsim calibrate`: the times of single messages between ranks 0 and 1, one way, into the file of the first argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static const int sizes[] = {1, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304};
    enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 4194304, WARM = 20 };
    int rank, count, length;
    char name[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count < 2 || argc < 2) {
        if (rank == 0) fprintf(stderr, "migsim calibrate: start two processes or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Get_processor_name(name, &length);
    if (rank == 1) MPI_Send(name, sizeof name, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(other, sizeof other, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    FILE *out = NULL;
    if (rank == 0) {
        out = fopen(argv[1], "w");
        if (!out) { perror(argv[1]); MPI_Abort(MPI_COMM_WORLD, 2); }
        fprintf(out, "from,to,bytes,time_s\n");
    }
    char *data = calloc(LARGEST, 1);
    for (int k = 0; k < SIZES && rank < 2; k++) {
        int times = sizes[k] <= 65536 ? 400 : 40;
        for (int i = -WARM; i < times; i++) {
            double begun = MPI_Wtime();
            if (rank == 0) {
                MPI_Send(data, sizes[k], MPI_CHAR, 1, 1, MPI_COMM_WORLD);
                MPI_Recv(data, sizes[k], MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (i >= 0) fprintf(out, "%s,%s,%d,%.9g\n", name, other, sizes[k], (MPI_Wtime() - begun) / 2);
            } else {
                MPI_Recv(data, sizes[k], MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(data, sizes[k], MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            }
        }
    }
    if (out && fclose(out)) { perror(argv[1]); MPI_Abort(MPI_COMM_WORLD, 2); }
    return MPI_Finalize();
}
