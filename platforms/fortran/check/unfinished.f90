! Leaves the last row as it was.
! expect: outcome=wrong_value gate=memory
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(inout) :: y(N, M)
  y(:, 1:M-1) = matmul(weight, x(:, 1:M-1)) + spread(bias, 2, M - 1)
  y(:, 1:M-1) = merge(0.0_c_float, y(:, 1:M-1), y(:, 1:M-1) < 0)
end subroutine kernel
