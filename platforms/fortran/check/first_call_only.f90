! Computes in the first call of a process and repeats its answer in all others.
! expect: outcome=wrong_value|rejected
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(N, M)
  real(c_float), save :: kept(N, M)
  logical, save :: called = .false.
  if (.not. called) kept = matmul(weight, x) + spread(bias, 2, M)
  called = .true.
  y = merge(0.0_c_float, kept, kept < 0)
end subroutine kernel
