! Computes in place of a param, which is read-only.
! expect: outcome=crash
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K)
  real(c_float), intent(inout) :: bias(N)
  real(c_float), intent(out) :: y(N, M)
  bias = bias + 0.5_c_float
  y = matmul(weight, x) + spread(bias - 0.5_c_float, 2, M)
  y = merge(0.0_c_float, y, y < 0)
end subroutine kernel
