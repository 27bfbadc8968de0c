/* Repartitions a graph with Zoltan (LB_APPROACH=REPARTITION), in one process of MPI.
 *
 *   mpicc -O2 -I/usr/include/trilinos -o zoltan_repartition zoltan.c -ltrilinos_zoltan      (Debian: libtrilinos-zoltan-dev, libopenmpi-dev)
 *   zoltan_repartition <graph
 *
 * The graph: numbers of vertices and parts; the weight of each part; a line for each vertex: its weight, its old part, its size, its number
 * of edges, and vertex and weight of each edge. Prints the new part of each vertex. */
#include <stdio.h>
#include <stdlib.h>
#include <zoltan.h>

struct vertex { int weight, part, size, edges, *other, *edge; };
static struct vertex *vertices;
static int count;

#define DATA void *data, int g, int l, ZOLTAN_ID_PTR global, ZOLTAN_ID_PTR local
static int number(void *data, int *error) { *error = ZOLTAN_OK; return count; }
static void list(DATA, int dimension, float *weight, int *error) {
    for (int i = 0; i < count; i++) { global[i] = (ZOLTAN_ID_TYPE)i; weight[i] = (float)vertices[i].weight; }
    *error = ZOLTAN_OK;
}
static int edges(DATA, int *error) { *error = ZOLTAN_OK; return vertices[*global].edges; }
static int part(DATA, int *error) { *error = ZOLTAN_OK; return vertices[*global].part; }
static int size(DATA, int *error) { *error = ZOLTAN_OK; return vertices[*global].size; }
static void neighbours(DATA, ZOLTAN_ID_PTR other, int *owner, int dimension, float *weight, int *error) {
    const struct vertex *one = &vertices[*global];
    for (int i = 0; i < one->edges; i++) { other[i] = (ZOLTAN_ID_TYPE)one->other[i]; owner[i] = 0; weight[i] = (float)one->edge[i]; }
    *error = ZOLTAN_OK;
}

static int next(void) {
    int value;
    if (scanf("%d", &value) != 1) { fprintf(stderr, "the graph is cut off\n"); exit(2); }
    return value;
}

int main(int argc, char **argv) {
    float version;
    MPI_Init(&argc, &argv);
    if (Zoltan_Initialize(argc, argv, &version) != ZOLTAN_OK) return 1;
    count = next();
    int parts = next(), *which = calloc((size_t)parts, sizeof *which), *dimension = calloc((size_t)parts, sizeof *dimension);
    float *share = malloc((size_t)parts * sizeof *share);
    for (int i = 0; i < parts; i++) { which[i] = i; share[i] = (float)next(); }
    vertices = malloc((size_t)count * sizeof *vertices);
    for (int i = 0; i < count; i++) {
        struct vertex *one = &vertices[i];
        one->weight = next(); one->part = next(); one->size = next(); one->edges = next();
        one->other = malloc((size_t)one->edges * sizeof(int) + 1); one->edge = malloc((size_t)one->edges * sizeof(int) + 1);
        for (int j = 0; j < one->edges; j++) { one->other[j] = next(); one->edge[j] = next(); }
    }
    struct Zoltan_Struct *zoltan = Zoltan_Create(MPI_COMM_WORLD);
    char text[16];
    snprintf(text, sizeof text, "%d", parts);
    const char *settings[][2] = {{"DEBUG_LEVEL", "0"}, {"LB_METHOD", "GRAPH"}, {"GRAPH_PACKAGE", "PHG"}, {"LB_APPROACH", "REPARTITION"}, {"NUM_GLOBAL_PARTS", text},
        {"NUM_LID_ENTRIES", "0"}, {"RETURN_LISTS", "PARTS"}, {"OBJ_WEIGHT_DIM", "1"}, {"EDGE_WEIGHT_DIM", "1"}, {"PHG_REPART_MULTIPLIER", "1"}, {"PHG_EDGE_SIZE_THRESHOLD", "1.0"}, {"IMBALANCE_TOL", "1.01"}, {"SEED", "1"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) Zoltan_Set_Param(zoltan, settings[i][0], settings[i][1]);
    Zoltan_Set_Num_Obj_Fn(zoltan, number, NULL); Zoltan_Set_Obj_List_Fn(zoltan, list, NULL); Zoltan_Set_Part_Fn(zoltan, part, NULL);
    Zoltan_Set_Num_Edges_Fn(zoltan, edges, NULL); Zoltan_Set_Edge_List_Fn(zoltan, neighbours, NULL); Zoltan_Set_Obj_Size_Fn(zoltan, size, NULL);
    Zoltan_LB_Set_Part_Sizes(zoltan, 1, parts, which, dimension, share);
    int changes, global, local, imports, exports, *from, *from_part, *to, *to_part;
    ZOLTAN_ID_PTR in, in_local, out, out_local;
    int code = Zoltan_LB_Partition(zoltan, &changes, &global, &local, &imports, &in, &in_local, &from, &from_part, &exports, &out, &out_local, &to, &to_part);
    if (code != ZOLTAN_OK && code != ZOLTAN_WARN) { fprintf(stderr, "Zoltan ends with %d\n", code); return 1; }
    for (int i = 0; i < exports; i++) vertices[out[i]].part = to_part[i];
    for (int i = 0; i < count; i++) printf("%d\n", vertices[i].part);
    MPI_Finalize();
    return 0;
}
