// Plots as SVG files, for papers.
import {format} from './dom';

export interface Line {
  name: string;
  color: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

export interface Drawing {
  title: string;
  xLabel: string;
  yLabel: string;
  isLog: boolean;
  xRange?: [number, number];
  lines: Line[];
}

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** Round numbers within a range, about `count` of them. */
export function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count;
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= raw) ?? raw;
  const list: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) list.push(k * step);
  return list;
}

export function rangeOf(arrays: ArrayLike<number>[], isLog: boolean): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const array of arrays)
    for (let i = 0; i < array.length; ++i) {
      const value = array[i];
      if (!Number.isFinite(value) || (isLog && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  if (!(low <= high)) return isLog ? [1e-16, 1] : [0, 1];
  if (low === high) return isLog ? [low / 10, high * 10] : [low - Math.max(1e-12, Math.abs(low) / 10), high + Math.max(1e-12, Math.abs(high) / 10)];
  return [low, high];
}

export function toSvg(drawing: Drawing): string {
  const [width, height, left, right, top, bottom] = [720, 420, 78, 16, 38, 52];
  const transform = drawing.isLog ? Math.log10 : (v: number) => v;
  const [x0, x1] = drawing.xRange ?? rangeOf(drawing.lines.map((line) => line.x), false);
  const [yLow, yHigh] = rangeOf(drawing.lines.map((line) => line.y), drawing.isLog);
  let [y0, y1] = [transform(yLow), transform(yHigh)];
  if (drawing.isLog) [y0, y1] = [Math.floor(y0), Math.ceil(y1)];
  const sx = (x: number): number => left + (x - x0) / (x1 - x0) * (width - left - right);
  const sy = (y: number): number => height - bottom - (transform(y) - y0) / (y1 - y0) * (height - top - bottom);
  const parts: string[] = [];
  const text = (x: number, y: number, content: string, anchor = 'middle', extra = ''): void => {
    parts.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${extra}>${escape(content)}</text>`);
  };
  for (const x of ticks(x0, x1, 7)) {
    parts.push(`<path class="grid" d="M${sx(x).toFixed(1)} ${top}V${height - bottom}"/>`);
    text(sx(x), height - bottom + 18, format(x, 4));
  }
  const yTicks = drawing.isLog
    ? ticks(y0, y1, Math.min(8, y1 - y0)).filter(Number.isInteger).map((k) => 10 ** k)
    : ticks(y0, y1, 6);
  for (const y of yTicks) {
    parts.push(`<path class="grid" d="M${left} ${sy(y).toFixed(1)}H${width - right}"/>`);
    text(left - 8, sy(y) + 4, drawing.isLog ? `1e${Math.round(Math.log10(y))}` : format(y, 4), 'end');
  }
  for (const line of drawing.lines) {
    let path = '';
    let isDown = false;
    for (let i = 0; i < line.x.length; ++i) {
      const y = line.y[i];
      if (!Number.isFinite(y) || (drawing.isLog && y <= 0)) { isDown = false; continue; }
      path += `${isDown ? 'L' : 'M'}${sx(line.x[i]).toFixed(2)} ${sy(y).toFixed(2)}`;
      isDown = true;
    }
    parts.push(`<path class="curve" stroke="${line.color}" d="${path}"/>`);
  }
  text(width / 2, height - 12, drawing.xLabel);
  text(18, height / 2, drawing.yLabel, 'middle', ` transform="rotate(-90 18 ${height / 2})"`);
  text(left, 20, drawing.title, 'start', ' font-weight="600"');
  drawing.lines.forEach((line, i) => {
    const x = width - right - 150 * (drawing.lines.length - i);
    if (drawing.lines.length > 3) return;
    parts.push(`<path class="curve" stroke="${line.color}" d="M${x} 16h18"/>`);
    text(x + 24, 20, line.name.slice(0, 20), 'start');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">` +
    '<style>text{font:12px system-ui,sans-serif;fill:#333}.grid{stroke:#e2e5ea;fill:none}' +
    '.curve{fill:none;stroke-width:1.5;stroke-linejoin:round}</style>' +
    `<rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>`;
}
