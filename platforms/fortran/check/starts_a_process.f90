! Leaves a process running when it ends.
! expect: outcome=rejected gate=after_return
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(N, M)
  call execute_command_line("sleep 60 &")
  y = matmul(weight, x) + spread(bias, 2, M)
  y = merge(0.0_c_float, y, y < 0)
end subroutine kernel
