/* Counts the messages that a process sends between MPI_Init and MPI_Finalize, as Open MPI accounts for them, and takes its time.
 *
 * Preloaded. Open MPI's monitoring component calls `mca_common_monitoring_record_pml` for each message that the library hands to its
 * transport, also inside collectives and calls that create communicators or use files; the dynamic linker takes the function below.
 * At MPI_Finalize each process appends `RANK SECONDS` and then, for each other process to which it has sent, `RANK RECEIVER MESSAGES BYTES`
 * to the file $MIGSIM_COUNT. Seconds run from a barrier behind MPI_Init until MPI_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
static uint64_t messages_to[MOST], bytes_to[MOST]; /* by rank in MPI_COMM_WORLD */
static double begun;

__attribute__((constructor)) static void enable(void) { setenv("OMPI_MCA_pml_monitoring_enable", "1", 1); }
void mca_common_monitoring_record_pml(int to, size_t bytes, int tag) {
    (void)tag;
    if (to < 0 || to >= MOST) return;
    messages_to[to]++;
    bytes_to[to] += bytes;
}
#define REAL(NAME) ((__typeof__(&PMPI_##NAME))dlsym(RTLD_NEXT, "PMPI_" #NAME))
static void begin(void) {
    REAL(Barrier)(MPI_COMM_WORLD);
    memset(messages_to, 0, sizeof messages_to);
    memset(bytes_to, 0, sizeof bytes_to);
    begun = MPI_Wtime();
}
int MPI_Init(int *n, char ***v) { int e = REAL(Init)(n, v); begin(); return e; }
int MPI_Init_thread(int *n, char ***v, int r, int *p) { int e = REAL(Init_thread)(n, v, r, p); begin(); return e; }
int MPI_Finalize(void) {
    double took = MPI_Wtime() - begun;
    const char *name = getenv("MIGSIM_COUNT");
    FILE *f = name ? fopen(name, "a") : NULL;
    static char text[1 << 17];
    int me;
    REAL(Comm_rank)(MPI_COMM_WORLD, &me);
    if (!f) return REAL(Finalize)();
    setvbuf(f, text, _IOFBF, sizeof text); /* one write, so that lines of two processes do not mix */
    fprintf(f, "%d %.9f\n", me, took);
    for (int to = 0; to < MOST; to++)
        if (to != me && messages_to[to]) fprintf(f, "%d %d %llu %llu\n", me, to, (unsigned long long)messages_to[to], (unsigned long long)bytes_to[to]);
    fclose(f);
    return REAL(Finalize)();
}
#define ALSO(NAME) extern __typeof__(PMPI_##NAME) PMPI_##NAME __attribute__((alias("MPI_" #NAME))); /* for Fortran */
ALSO(Init) ALSO(Init_thread) ALSO(Finalize)
