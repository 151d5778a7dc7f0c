! The work of the example twice in every call: a clock must see it.
! kforge: tune WIDE=32
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(N, M)
  integer :: row, column, time

  do time = 1, 2
    !$omp parallel do schedule(static) private(column)
    do row = 1, M - 3, 4
      do column = 1, N - WIDE + 1, WIDE
        call tile(row, column)
      end do
      call edge(row, row + 3, N / WIDE * WIDE + 1, N)
    end do
  end do
  call edge(M / 4 * 4 + 1, M, 1, N)

contains

  subroutine tile(row, column)
    integer, intent(in) :: row, column
    real(c_float) :: s1(WIDE), s2(WIDE), s3(WIDE), s4(WIDE)
    integer :: i, p
    do i = 1, WIDE
      s1(i) = bias(column + i - 1)
      s2(i) = s1(i)
      s3(i) = s1(i)
      s4(i) = s1(i)
    end do
    do p = 1, K
      !$omp simd
      do i = 1, WIDE
        s1(i) = s1(i) + weight(column + i - 1, p) * x(p, row)
        s2(i) = s2(i) + weight(column + i - 1, p) * x(p, row + 1)
        s3(i) = s3(i) + weight(column + i - 1, p) * x(p, row + 2)
        s4(i) = s4(i) + weight(column + i - 1, p) * x(p, row + 3)
      end do
    end do
    do i = 1, WIDE
      y(column + i - 1, row) = relu(s1(i))
      y(column + i - 1, row + 1) = relu(s2(i))
      y(column + i - 1, row + 2) = relu(s3(i))
      y(column + i - 1, row + 3) = relu(s4(i))
    end do
  end subroutine tile

  ! What whole tiles leave over.
  subroutine edge(first_row, last_row, first_column, last_column)
    integer, intent(in) :: first_row, last_row, first_column, last_column
    real(c_float) :: total
    integer :: r, c, p
    do r = first_row, last_row
      do c = first_column, last_column
        total = bias(c)
        do p = 1, K
          total = total + weight(c, p) * x(p, r)
        end do
        y(c, r) = relu(total)
      end do
    end do
  end subroutine edge

  ! max(0, v) would lose NaN.
  elemental real(c_float) function relu(v)
    real(c_float), intent(in) :: v
    relu = merge(0.0_c_float, v, v < 0)
  end function relu

end subroutine kernel
