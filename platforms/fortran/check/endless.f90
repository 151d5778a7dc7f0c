! Never comes back.
! expect: outcome=timeout
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(N, M)
  integer, volatile :: turns
  turns = 0
  do
    turns = mod(turns + 1, 1000)
    if (turns < 0) y = x(1, 1) + weight(1, 1) + bias(1)
  end do
end subroutine kernel
