// Regions of planes, averaged or maximised over a grid of points.
#pragma once

#include <cmath>
#include <cstdint>

namespace {

// Where a region ends up: the two pixels around p along a side, and how far p is behind the first.
template <class T>
inline T split_place(T p, long size, long& low, long& high) {
  p = p < 0 ? 0 : p;
  low = (long)p;
  if (low >= size - 1) {
    low = high = size - 1;
    return 0;
  }
  high = low + 1;
  return p - (T)low;
}

template <class T>
struct RoiAlignShape {
  long rois, images, channels, height, width, out_height, out_width;
  long ratio;  // points of a bin along each side; 0: as many as it has pixels
  T scale, shift;
  bool least_one;  // regions are at least one pixel large
  bool largest;    // the largest of all points, else their mean
};

// Called by every thread of a team.
template <class T>
inline void roi_align(const RoiAlignShape<T> s, const T* x, const T* boxes, const int64_t* images, T* y) {
  const long bins = s.out_height * s.out_width;
#pragma omp for schedule(static)
  for (long i = 0; i < s.rois * s.channels * bins; ++i) {
    const long roi = i / (s.channels * bins), row = i / s.out_width % s.out_height, column = i % s.out_width;
    const T* const box = boxes + roi * 4;
    const T x1 = box[0] * s.scale - s.shift, y1 = box[1] * s.scale - s.shift;
    T width = box[2] * s.scale - s.shift - x1, height = box[3] * s.scale - s.shift - y1;
    if (s.least_one) width = width < 1 ? 1 : width, height = height < 1 ? 1 : height;
    const T bin_h = height / s.out_height, bin_w = width / s.out_width;
    const long grid_h = s.ratio > 0 ? s.ratio : (long)std::ceil(bin_h),
               grid_w = s.ratio > 0 ? s.ratio : (long)std::ceil(bin_w);
    long image = images[roi];
    if (image < 0) image += s.images;
    const T* const plane = x + (image * s.channels + i / bins % s.channels) * s.height * s.width;
    T sum = 0, best = 0;
    bool first = true;
    for (long gy = 0; gy < grid_h; ++gy)
      for (long gx = 0; gx < grid_w; ++gx) {
        const T py = y1 + row * bin_h + (gy + T(0.5)) * bin_h / grid_h;
        const T px = x1 + column * bin_w + (gx + T(0.5)) * bin_w / grid_w;
        T corner[4] = {0, 0, 0, 0};
        if (!(py < -1 || py > s.height || px < -1 || px > s.width)) {
          long y0, y2, x0, x2;
          const T v = split_place(py, s.height, y0, y2), u = split_place(px, s.width, x0, x2);
          corner[0] = (1 - v) * (1 - u) * plane[y0 * s.width + x0];
          corner[1] = (1 - v) * u * plane[y0 * s.width + x2];
          corner[2] = v * (1 - u) * plane[y2 * s.width + x0];
          corner[3] = v * u * plane[y2 * s.width + x2];
        }
        for (const T product : corner) {
          sum += product;
          if (first || product > best) best = product;
          first = false;
        }
      }
    y[i] = s.largest ? best : sum / (grid_h * grid_w > 1 ? grid_h * grid_w : 1);
  }
}

}  // namespace
