! Fills the disk.
! expect: outcome=crash
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(N, M)
  real(c_float) :: zeros(65536)
  zeros = 0
  open (unit=20, file="large", status="replace", action="write", access="stream", form="unformatted")
  do
    write (20) zeros
    if (zeros(1) > 0) exit
  end do
  y = x(1, 1) + weight(1, 1) + bias(1)
end subroutine kernel
