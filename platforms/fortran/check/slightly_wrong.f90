! Leaves out the last term of every sum.
! expect: outcome=wrong_value
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(N, M)
  y = matmul(weight(:, 1:K-1), x(1:K-1, :)) + spread(bias, 2, M)
  y = merge(0.0_c_float, y, y < 0)
end subroutine kernel
