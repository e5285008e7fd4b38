// Curves of a million samples on a thousand pixels: of every pixel the least and the largest value, in
// the order in which they come, so that no peak is lost.

export interface Curve {
  x: Float64Array;
  ys: Float64Array[];
}

/** Rows [first, last) of columns that share x, by about `pixels` pairs; as they are if these suffice. */
export function decimate(x: Float64Array, ys: Float64Array[], first: number, last: number, pixels: number): Curve {
  const count = last - first;
  if (count <= 2 * pixels) return {x: x.subarray(first, last), ys: ys.map((y) => y.subarray(first, last))};
  const out: Curve = {x: new Float64Array(2 * pixels), ys: ys.map(() => new Float64Array(2 * pixels))};
  for (let pixel = 0; pixel < pixels; ++pixel) {
    const begin = first + Math.floor(pixel * count / pixels);
    const end = first + Math.floor((pixel + 1) * count / pixels);
    out.x[2 * pixel] = x[begin];
    out.x[2 * pixel + 1] = x[(begin + end - 1) >> 1] > x[begin] ? x[(begin + end - 1) >> 1] : x[end - 1];
    ys.forEach((y, k) => {
      let low = begin;
      let high = begin;
      for (let i = begin + 1; i < end; ++i) {
        // A gap in a curve (NaN) is passed over where there is anything else.
        if (y[i] < y[low] || Number.isNaN(y[low])) low = i;
        if (y[i] > y[high] || Number.isNaN(y[high])) high = i;
      }
      out.ys[k][2 * pixel] = y[Math.min(low, high)];
      out.ys[k][2 * pixel + 1] = y[Math.max(low, high)];
    });
  }
  return out;
}

/** First index with x[index] >= value. */
export function lowerBound(x: Float64Array, value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index whose x is nearest. */
export function nearest(x: Float64Array, value: number): number {
  const after = Math.min(lowerBound(x, value), x.length - 1);
  return after > 0 && value - x[after - 1] <= x[after] - value ? after - 1 : after;
}
