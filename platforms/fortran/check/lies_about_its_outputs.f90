! Puts a header that promises more than there is into the outputs file, and ends the process.
! expect: outcome=wrong_shape
subroutine kernel(x, weight, bias, y) bind(C)
  use, intrinsic :: iso_c_binding, only: c_float
  implicit none
  real(c_float), intent(in) :: x(K, M), weight(N, K), bias(N)
  real(c_float), intent(out) :: y(N, M)
  open (unit=20, file="/proc/self/fd/5", status="replace", action="write", access="stream", form="unformatted")
  write (20) achar(64), achar(0), achar(0), achar(0), achar(0), achar(0), achar(0), achar(0)
  write (20) '{"y":{"dtype":"F32","shape":[999999,99],"data_offsets":[0,4]}}  '
  close (20)
  stop 0
  y = x(1, 1) + weight(1, 1) + bias(1)
end subroutine kernel
