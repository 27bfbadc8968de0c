! A program in Fortran, whose calls reach the recorder through the wrappers of the library.
program calls
    use mpi
    implicit none
    integer :: error, me, n, next, before, requests(2), statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE), half, k
    double precision :: a(1000), b(1000)

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, n, error)
    next = modulo(me + 1, n)
    before = modulo(me - 1, n)
    a = me
    do k = 1, 3
        call MPI_Irecv(b, 100 * k, MPI_DOUBLE_PRECISION, before, k, MPI_COMM_WORLD, requests(1), error)
        call MPI_Isend(a, 100 * k, MPI_DOUBLE_PRECISION, next, k, MPI_COMM_WORLD, requests(2), error)
        call MPI_Waitall(2, requests, statuses, error)
    end do
    call MPI_Sendrecv(a, 7, MPI_DOUBLE_PRECISION, next, 9, b, 7, MPI_DOUBLE_PRECISION, before, 9, MPI_COMM_WORLD, status, error)
    call MPI_Comm_split(MPI_COMM_WORLD, modulo(me, 2), me, half, error)
    call MPI_Bcast(a, 50, MPI_DOUBLE_PRECISION, 0, half, error)
    call MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Finalize(error)
end program
