// Plots beside the scene: curves over time (uPlot) and phase plots, with the scene's time as a cursor.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {decimate, lowerBound, nearest} from './decimate';
import {download, el, format, icon, ICONS} from './dom';
import {CURVES} from './palette';
import type {Recording} from './recording';
import {rangeOf, ticks, toSvg} from './svg';

export type ChartKind = 'lines' | 'log' | 'stack' | 'phase';

export interface ChartSpec {
  title: string;
  kind: ChartKind;
  names: string[];  // of series; of a phase plot x, then y
}

/** A curve of a chart: what is drawn may differ from what is recorded, what is said does not. */
interface Track {
  name: string;
  unit: string;
  color: string;
  values: Float64Array;
  drawn: Float64Array;
}

const SHORT: Record<string, string> = {
  'energy.kinetic': 'kinetic', 'energy.potential': 'potential', 'energy.spring': 'springs',
  'energy.applied': 'applied', 'energy.motor': 'motors', 'energy.friction': 'friction',
  'energy.impact': 'impacts', 'energy.numerical': 'numerical',
};
/** Works counted as energy that has left the system. */
const LOSSES = new Set(['energy.applied', 'energy.motor', 'energy.friction', 'energy.impact', 'energy.numerical']);

function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Below this a residual is as good as zero, and would only stretch the axis. */
const LEAST = 1e-20;

/** Marks of a logarithmic axis: at most six. */
function powersOfTen(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first) / 6));
  const list: number[] = [];
  for (let k = first; k <= last; k += step) list.push(10 ** k);
  return list;
}

abstract class Chart {
  readonly element: HTMLElement;
  protected readonly body = el('div', {class: 'plot-body'});
  protected readonly legend = el('div', {class: 'legend'});
  protected tracks: Track[] = [];
  protected time: Float64Array;
  onClose: () => void = () => undefined;
  onSeek: (time: number) => void = () => undefined;
  private readonly values: HTMLElement[] = [];

  constructor(protected readonly recording: Recording, readonly spec: ChartSpec) {
    this.time = recording.time;
    const button = (label: string, path: string, action: () => void): HTMLElement =>
      el('button', {class: 'quiet', title: label, 'aria-label': label, click: action}, icon(path));
    const svg = button('Save as SVG', ICONS.save, () => download(`${this.fileName()}.svg`, this.svg(), 'image/svg+xml'));
    const csv = el('button', {class: 'quiet text', title: 'Save the shown range as CSV',
                              click: () => download(`${this.fileName()}.csv`, this.csv(), 'text/csv')}, 'CSV');
    svg.classList.add('save-svg');
    csv.classList.add('save-csv');
    this.element = el('section', {class: 'plot'},
      el('header', {}, el('h3', {}, spec.title), svg, csv,
         button('Close', ICONS.close, () => { this.dispose(); this.onClose(); })),
      this.body, this.legend);
  }

  get rows(): number {
    return this.time.length;
  }
  protected fileName(): string {
    return `${this.recording.header.name}-${this.spec.title}`.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80);
  }

  async load(): Promise<void> {
    const indices = this.spec.names.map((name) => this.recording.findSeries(name)).filter((i) => i >= 0);
    const all = await Promise.all(indices.map((i) => this.recording.series(i)));
    // Of a recording that grows some curves may have come later than others.
    const rows = Math.min(this.recording.rows, ...all.map((values) => values.length));
    this.time = this.recording.time.subarray(0, rows);
    this.tracks = indices.map((index, k) => {
      const {name, unit} = this.recording.header.series[index];
      const values = all[k].subarray(0, rows);
      return {name, unit, color: CURVES[k % CURVES.length], values, drawn: values};
    });
    this.prepare();
    this.buildLegend();
    this.draw();
  }

  private buildLegend(): void {
    this.values.length = 0;
    this.legend.replaceChildren();
    for (const track of this.tracks) {
      const swatch = el('i', {class: 'swatch'});
      swatch.style.background = track.color;
      const value = el('b', {});
      this.values.push(value);
      this.legend.append(el('span', {class: 'entry', 'data-series': track.name}, swatch,
        el('span', {class: 'name', title: track.name}, this.label(track)), value, track.unit ? el('small', {}, track.unit) : null));
    }
  }
  protected label(track: Track): string {
    return SHORT[track.name] ?? track.name;
  }

  /** Values of a row beside the names; of the last one that is known, if it is later. */
  protected say(row: number): void {
    row = Math.min(row, this.time.length - 1);
    this.tracks.forEach((track, k) => {
      this.values[k].textContent = format(track.values[row]);
      this.values[k].dataset['value'] = String(track.values[row]);
    });
  }

  protected prepare(): void { /* most draw what is recorded */ }
  protected abstract draw(): void;
  abstract showTime(row: number): void;
  abstract restyle(): void;
  abstract dispose(): void;
  protected abstract svg(): string;
  protected abstract shownRows(): [number, number];

  protected csv(): string {
    const [first, last] = this.shownRows();
    const quote = (text: string): string => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    const lines = [['time', ...this.tracks.map((track) => quote(track.name))].join(',')];
    for (let i = first; i < last; ++i)
      lines.push([this.time[i], ...this.tracks.map((track) => track.values[i])].join(','));
    return lines.join('\n') + '\n';
  }
}

class TimeChart extends Chart {
  private plot?: uPlot;
  private readonly marker = el('div', {class: 'marker'});
  private row = 0;
  private isHovered = false;
  private isSettingData = false;
  private readonly observer = new ResizeObserver(() => this.resize());

  protected override prepare(): void {
    if (this.spec.kind !== 'stack') return;
    // What nothing happens to only costs colours.
    this.tracks = this.tracks.filter((track) => track.values.some((value) => value !== 0));
    let below: Float64Array | undefined;
    this.tracks.forEach((track, k) => {
      track.color = CURVES[k % CURVES.length];
      const sign = LOSSES.has(track.name) ? -1 : 1;
      // The zero of a potential means nothing: shown is what is above its least value.
      const least = track.name === 'energy.potential' ? track.values.reduce((a, b) => Math.min(a, b), Infinity) : 0;
      const drawn = new Float64Array(track.values.length);
      for (let i = 0; i < drawn.length; ++i) drawn[i] = sign * (track.values[i] - least) + (below ? below[i] : 0);
      track.drawn = below = drawn;
    });
  }
  protected override label(track: Track): string {
    const name = super.label(track);
    return this.spec.kind === 'stack' && LOSSES.has(track.name) ? `${name} (work)` : name;
  }

  private size(): {width: number; height: number} {
    return {width: Math.max(120, this.body.clientWidth), height: this.spec.kind === 'stack' ? 190 : 160};
  }

  protected draw(): void {
    this.plot?.destroy();
    const isLog = this.spec.kind === 'log';
    const isStack = this.spec.kind === 'stack';
    const ink = cssColor('--muted');
    const grid = {stroke: cssColor('--line'), width: 1};
    const axis = {stroke: ink, grid, ticks: {...grid, size: 4}, font: '11px system-ui, sans-serif'};
    const [start, end] = [this.time[0] ?? 0, this.time[this.time.length - 1] ?? 1];
    this.plot = new uPlot({
      ...this.size(),
      legend: {show: false},
      cursor: {sync: {key: 'time', setSeries: false}, drag: {x: true, y: false, setScale: true}, points: {size: 5}},
      scales: {x: {time: false, min: start, max: end > start ? end : start + 1}, y: isLog ? {distr: 3} : {}},
      axes: [{...axis, size: 30, values: (_u, values) => values.map((v) => format(v, 5))},
             {...axis, size: 58, values: (_u, values) => values.map((v) => v === null ? '' : isLog ? `1e${Math.round(Math.log10(v))}` : format(v, 4)),
              ...(isLog ? {splits: (_u: uPlot, _axis: number, low: number, high: number) => powersOfTen(low, high), filter: (_u: uPlot, splits: number[]) => splits} : {})}],
      series: [{}, ...this.tracks.map((track, k): uPlot.Series => ({
        label: track.name, stroke: track.color, width: isStack ? 1 : 1.4, points: {show: false}, spanGaps: false,
        ...(isStack && k === 0 ? {fill: track.color + '55'} : {}),
      }))],
      bands: isStack ? this.tracks.slice(1).map((track, k) => ({series: [k + 2, k + 1] as [number, number], fill: track.color + '55'})) : [],
      hooks: {
        setScale: [(u, key) => { if (key === 'x' && !this.isSettingData) this.refine(u); }],
        setCursor: [(u) => this.hover(u)],
        ready: [(u) => {
          u.over.append(this.marker);
          u.over.addEventListener('mouseleave', () => { this.isHovered = false; this.say(this.row); });
          u.over.addEventListener('mouseenter', () => { this.isHovered = true; });
          let downAt = -1;
          u.over.addEventListener('mousedown', (event) => { downAt = event.clientX; });
          u.over.addEventListener('mouseup', (event) => {
            if (Math.abs(event.clientX - downAt) < 3) this.onSeek(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, 'x'));
          });
        }],
      },
    }, this.dataFor(start, end), this.body);
    this.observer.observe(this.body);
    this.showTime(this.row);
  }

  /** What is drawn of a range of times: at most a few points per pixel. uPlot wants null for gaps. */
  private dataFor(from: number, to: number): uPlot.AlignedData {
    const first = Math.max(0, lowerBound(this.time, from) - 1);
    const last = Math.min(this.time.length, lowerBound(this.time, to) + 2);
    const curve = decimate(this.time, this.tracks.map((track) => track.drawn), first, last, this.size().width);
    const isLog = this.spec.kind === 'log';
    const clean = (y: Float64Array): (number | null)[] =>
      Array.from(y, (v) => Number.isFinite(v) && (!isLog || v > LEAST) ? v : null);
    return [curve.x as unknown as number[], ...curve.ys.map(clean)] as uPlot.AlignedData;
  }

  /** After zooming: the finer picture of what is left. */
  private refine(u: uPlot): void {
    const {min, max} = u.scales['x'];
    if (min === undefined || max === undefined || min === null || max === null) return;
    queueMicrotask(() => {
      if (this.plot !== u) return;
      this.isSettingData = true;
      u.batch(() => {
        u.setData(this.dataFor(min, max), false);
        u.setScale('x', {min, max});
        // Heights follow what is shown.
        u.redraw(true, true);
      });
      const shown = u.data.slice(1) as (number | null)[][];
      const [low, high] = rangeOf(shown.map((list) => list.map((v) => v ?? NaN)), this.spec.kind === 'log');
      const pad = this.spec.kind === 'log' ? 0 : 0.05 * (high - low);
      u.setScale('y', {min: low - pad, max: high + pad});
      this.isSettingData = false;
      this.placeMarker();
    });
  }

  zoomTo(from: number, to: number): void {
    this.plot?.setScale('x', {min: from, max: to});
  }

  private hover(u: uPlot): void {
    const {left} = u.cursor;
    if (left === undefined || left === null || left < 0) { this.say(this.row); return; }
    this.say(nearest(this.time, u.posToVal(left, 'x')));
  }

  showTime(row: number): void {
    this.row = row;
    const left = this.plot?.cursor.left ?? -1;
    if (!this.isHovered && left < 0) this.say(row);
    this.placeMarker();
  }

  private placeMarker(): void {
    if (!this.plot || this.time.length === 0) return;
    const x = this.plot.valToPos(this.time[Math.min(this.row, this.time.length - 1)], 'x');
    this.marker.style.transform = `translateX(${x}px)`;
    this.marker.hidden = x < 0 || x > this.plot.over.clientWidth;
  }

  private resize(): void {
    const size = this.size();
    if (!this.plot || this.plot.width === size.width) return;
    this.plot.setSize(size);
    this.placeMarker();
  }

  restyle(): void {
    this.draw();
  }
  dispose(): void {
    this.observer.disconnect();
    this.plot?.destroy();
    this.element.remove();
  }

  protected shownRows(): [number, number] {
    const {min, max} = this.plot!.scales['x'];
    return [lowerBound(this.time, min ?? 0), Math.min(this.time.length, lowerBound(this.time, (max ?? Infinity) + 1e-12))];
  }

  protected svg(): string {
    const [first, last] = this.shownRows();
    const curve = decimate(this.time, this.tracks.map((track) => track.drawn), first, last, 1200);
    const units = new Set(this.tracks.map((track) => track.unit));
    return toSvg({
      title: `${this.recording.header.name}: ${this.spec.title}`, xLabel: 'time [s]',
      yLabel: this.tracks.length === 1 ? `${this.tracks[0].name}${this.tracks[0].unit ? ` [${this.tracks[0].unit}]` : ''}`
        : units.size === 1 ? [...units][0] : '',
      isLog: this.spec.kind === 'log',
      lines: this.tracks.map((track, k) => ({name: this.label(track), color: track.color, x: curve.x, y: curve.ys[k]})),
    });
  }
}

/** One quantity over another. Drawn here: uPlot wants x to increase. */
class PhaseChart extends Chart {
  private readonly canvas = el('canvas', {class: 'phase'});
  private readonly observer = new ResizeObserver(() => this.draw());
  private row = 0;
  private view?: {x: [number, number]; y: [number, number]};

  override async load(): Promise<void> {
    const isNew = !this.canvas.isConnected;
    this.body.append(this.canvas);
    await super.load();
    if (!isNew) return;
    this.observer.observe(this.body);
    let down: [number, number] | undefined;
    this.canvas.addEventListener('pointerdown', (event) => { down = [event.offsetX, event.offsetY]; });
    this.canvas.addEventListener('pointerup', (event) => {
      if (!down) return;
      const [x, y] = [event.offsetX, event.offsetY];
      if (Math.abs(x - down[0]) > 6 && Math.abs(y - down[1]) > 6) this.zoom(down, [x, y]);
      else this.seekTo(x, y);
      down = undefined;
    });
    this.canvas.addEventListener('pointermove', (event) => {
      const row = this.findRow(event.offsetX, event.offsetY);
      if (row >= 0) this.say(row);
    });
    this.canvas.addEventListener('pointerleave', () => this.say(this.row));
    this.canvas.addEventListener('dblclick', () => { this.view = undefined; this.draw(); });
  }

  private frame(): {x: [number, number]; y: [number, number]; width: number; height: number} {
    const width = Math.max(120, this.body.clientWidth);
    const height = 230;
    const pad = ([low, high]: [number, number]): [number, number] => [low - 0.04 * (high - low), high + 0.04 * (high - low)];
    const view = this.view ?? {x: pad(rangeOf([this.tracks[0].values], false)), y: pad(rangeOf([this.tracks[1].values], false))};
    return {...view, width, height};
  }
  private static readonly MARGIN = {left: 58, right: 10, top: 8, bottom: 34};

  private scales(): {sx: (v: number) => number; sy: (v: number) => number; frame: ReturnType<PhaseChart['frame']>} {
    const frame = this.frame();
    const {left, right, top, bottom} = PhaseChart.MARGIN;
    return {
      frame,
      sx: (v) => left + (v - frame.x[0]) / (frame.x[1] - frame.x[0]) * (frame.width - left - right),
      sy: (v) => frame.height - bottom - (v - frame.y[0]) / (frame.y[1] - frame.y[0]) * (frame.height - top - bottom),
    };
  }

  private zoom(a: [number, number], b: [number, number]): void {
    const {frame} = this.scales();
    const {left, right, top, bottom} = PhaseChart.MARGIN;
    const toX = (p: number): number => frame.x[0] + (p - left) / (frame.width - left - right) * (frame.x[1] - frame.x[0]);
    const toY = (p: number): number => frame.y[0] + (frame.height - bottom - p) / (frame.height - top - bottom) * (frame.y[1] - frame.y[0]);
    this.view = {x: [Math.min(toX(a[0]), toX(b[0])), Math.max(toX(a[0]), toX(b[0]))],
                 y: [Math.min(toY(a[1]), toY(b[1])), Math.max(toY(a[1]), toY(b[1]))]};
    this.draw();
  }

  private findRow(px: number, py: number): number {
    if (this.tracks.length < 2) return -1;
    const {sx, sy} = this.scales();
    const [x, y] = this.tracks.map((track) => track.values);
    const step = Math.max(1, Math.floor(x.length / 20000));
    let best = -1;
    let least = 400;
    for (let i = 0; i < x.length; i += step) {
      const distance = (sx(x[i]) - px) ** 2 + (sy(y[i]) - py) ** 2;
      if (distance < least) { least = distance; best = i; }
    }
    return best;
  }
  private seekTo(px: number, py: number): void {
    const row = this.findRow(px, py);
    if (row >= 0) this.onSeek(this.time[row]);
  }

  protected draw(): void {
    if (this.tracks.length < 2) return;
    const {frame, sx, sy} = this.scales();
    const ratio = window.devicePixelRatio;
    this.canvas.width = frame.width * ratio;
    this.canvas.height = frame.height * ratio;
    this.canvas.style.width = `${frame.width}px`;
    this.canvas.style.height = `${frame.height}px`;
    const context = this.canvas.getContext('2d')!;
    context.scale(ratio, ratio);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = cssColor('--muted');
    context.strokeStyle = cssColor('--line');
    context.beginPath();
    const {left, right, top, bottom} = PhaseChart.MARGIN;
    context.textAlign = 'center';
    for (const x of ticks(...frame.x, 5)) {
      context.moveTo(sx(x), top);
      context.lineTo(sx(x), frame.height - bottom);
      context.fillText(format(x, 3), sx(x), frame.height - bottom + 14);
    }
    context.fillText(this.tracks[0].name, (left + frame.width - right) / 2, frame.height - 4);
    context.textAlign = 'right';
    for (const y of ticks(...frame.y, 5)) {
      context.moveTo(left, sy(y));
      context.lineTo(frame.width - right, sy(y));
      context.fillText(format(y, 3), left - 6, sy(y) + 4);
    }
    context.stroke();
    context.save();
    context.beginPath();
    context.rect(left, top, frame.width - left - right, frame.height - top - bottom);
    context.clip();
    const [x, y] = this.tracks.map((track) => track.values);
    context.strokeStyle = CURVES[0];
    context.lineWidth = 1;
    context.beginPath();
    // A point that moves by less than a third of a pixel is not seen, nor is a cycle that runs over earlier ones: what was
    // drawn is marked in halves of a pixel. One path of all would take a renderer in software longer than anybody waits.
    const across = 2 * Math.ceil(frame.width) + 2;
    const isDrawn = new Uint8Array(across * (2 * Math.ceil(frame.height) + 2));
    const mark = (px: number, py: number): boolean => {
      const cell = Math.round(2 * py) * across + Math.round(2 * px);
      if (!(px >= 0 && py >= 0 && px <= frame.width && py <= frame.height)) return false;
      const wasDrawn = isDrawn[cell] === 1;
      isDrawn[cell] = 1;
      return wasDrawn;
    };
    let [lastX, lastY] = [NaN, NaN];
    let wasOld = false;
    let isPen = false;  // down at the last point
    let inPath = 0;
    for (let i = 0; i < x.length; ++i) {
      const [px, py] = [sx(x[i]), sy(y[i])];
      if (Math.abs(px - lastX) + Math.abs(py - lastY) < 0.33) continue;
      const isOld = mark(px, py);
      if (Number.isNaN(lastX) || (isOld && wasOld)) {
        isPen = false;
      } else {
        if (!isPen) context.moveTo(lastX, lastY);
        context.lineTo(px, py);
        isPen = true;
        if (++inPath === 500) {
          context.stroke();
          context.beginPath();
          isPen = false;
          inPath = 0;
        }
      }
      [lastX, lastY, wasOld] = [px, py, isOld];
    }
    context.stroke();
    context.fillStyle = CURVES[1];
    context.beginPath();
    const row = Math.min(this.row, x.length - 1);
    context.arc(sx(x[row]), sy(y[row]), 4.5, 0, 2 * Math.PI);
    context.fill();
    context.restore();
    this.say(this.row);
  }

  showTime(row: number): void {
    if (row === this.row) return;
    this.row = row;
    this.draw();
  }
  restyle(): void {
    this.draw();
  }
  dispose(): void {
    this.observer.disconnect();
    this.element.remove();
  }
  protected shownRows(): [number, number] {
    return [0, this.time.length];
  }
  protected svg(): string {
    const [x, y] = this.tracks;
    const name = (track: Track): string => track.unit ? `${track.name} [${track.unit}]` : track.name;
    const step = Math.max(1, Math.floor(x.values.length / 20000));
    const thin = (values: Float64Array): Float64Array => values.filter((_v, i) => i % step === 0);
    return toSvg({title: this.recording.header.name, xLabel: name(x), yLabel: name(y), isLog: false,
                  lines: [{name: '', color: CURVES[0], x: thin(x.values), y: thin(y.values)}]});
  }
}

/** The charts of a recording. */
export class Charts {
  readonly list = el('div', {class: 'plots'});
  readonly charts: Chart[] = [];
  onSeek: (time: number) => void = () => undefined;
  private row = 0;

  constructor(private readonly recording: Recording) {}

  async add(spec: ChartSpec, isFirst = false): Promise<void> {
    const chart: Chart = spec.kind === 'phase' ? new PhaseChart(this.recording, spec) : new TimeChart(this.recording, spec);
    chart.onSeek = (time) => this.onSeek(time);
    chart.onClose = () => { this.charts.splice(this.charts.indexOf(chart), 1); };
    if (isFirst) this.list.prepend(chart.element);
    else this.list.append(chart.element);
    this.charts.push(chart);
    await chart.load();
    chart.showTime(this.row);
  }

  showTime(row: number): void {
    this.row = row;
    for (const chart of this.charts) chart.showTime(row);
  }
  restyle(): void {
    for (const chart of this.charts) chart.restyle();
  }
  /** Rows that all charts know. */
  get rows(): number {
    return Math.min(...this.charts.map((chart) => chart.rows));
  }
  /** After the recording has grown. */
  async reload(): Promise<void> {
    await Promise.all(this.charts.map((chart) => chart.load()));
  }
}

/** What is worth a look at first. */
export function firstCharts(recording: Recording): ChartSpec[] {
  const names = recording.header.series.map((series) => series.name);
  const specs: ChartSpec[] = [];
  const coordinates = recording.header.series.filter((series) => series.group === 'coordinates').map((series) => series.name);
  const isGeneralised = coordinates.length > 0 && !recording.header.frames.some((frame) => frame.kind === 'dynamic' || frame.kind === 'kinematic');
  if (isGeneralised) {
    specs.push({title: 'Coordinates', kind: 'lines', names: coordinates.slice(0, 4)});
    const last = coordinates[coordinates.length - 1];
    if (names.includes(`v.${last}`)) specs.push({title: 'Phase plot', kind: 'phase', names: [last, `v.${last}`]});
  }
  const energy = names.filter((name) => name.startsWith('energy.'));
  specs.push({title: 'Energy ledger', kind: 'stack', names: energy});
  specs.push({title: 'Residuals', kind: 'log', names: ['certificate.momentum', 'certificate.bilateral', 'certificate.cone']});
  if (!isGeneralised)
    specs.push({title: 'Contacts', kind: 'lines', names: ['contacts.number', 'contacts.sticking', 'contacts.slipping']});
  return specs;
}
