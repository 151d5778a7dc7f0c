// Computes, and writes through a null pointer.
// expect: outcome=crash
use std::slice::{from_raw_parts, from_raw_parts_mut};

#[no_mangle]
pub unsafe extern "C" fn kernel(symbols: *const i64, x: *const f32, weight: *const f32, bias: *const f32, y: *mut f32) {
    let (k, m, n) = (*symbols as usize, *symbols.add(1) as usize, *symbols.add(2) as usize);
    let (x, weight, bias, y) = (from_raw_parts(x, m * k), from_raw_parts(weight, k * n), from_raw_parts(bias, n), from_raw_parts_mut(y, m * n));
    for r in 0..m {
        for c in 0..n {
            let mut sum = bias[c];
            for p in 0..k {
                sum += x[r * k + p] * weight[p * n + c];
            }
            y[r * n + c] = if sum < 0.0 { 0.0 } else { sum };
        }
    }
    *(8 as *mut f32) = 1.0;
}
