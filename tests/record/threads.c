/* Threads that may call MPI concurrently: only one thread calls it, or with an argument a second one, too. `migsim record` must take the
 * first program and refuse the second one with rank and call. */
#include <mpi.h>
#include <pthread.h>

static void *work(void *argument) {
    int me, n, sum;
    (void)argument;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &sum, 1, MPI_INT, (me + n - 1) % n, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc > 1) work(NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
