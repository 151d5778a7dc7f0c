! Writes through an index that is far outside.
! expect: outcome=crash
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(*)
  y(2000000000 + int(x(1, 1) + weight(1, 1) + bias(1))) = 1
end subroutine kernel
