// A recording as a document: what was simulated and how, the verdict, where the energy went, what
// the solver did, how large forces were; the moving picture among it. Every number is computed here
// from the recorded rows.
import {Charts, firstCharts} from './charts';
import {el, format} from './dom';
import {CURVES} from './palette';
import type {Recording} from './recording';

type Cell = string | number;

function tableOf(head: string[], rows: Cell[][]): HTMLElement {
  const cell = (value: Cell): HTMLElement =>
    typeof value === 'number' ? el('td', {class: 'number'}, format(value, 5)) : el('td', {}, value);
  return el('table', {}, el('thead', {}, el('tr', {}, ...head.map((text) => el('th', {}, text)))),
            el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map(cell)))));
}

interface Summary {
  least: number;
  median: number;
  high: number;  // 99th percentile
  largest: number;
  mean: number;
}

function summarise(values: Float64Array): Summary {
  const sorted = values.filter(Number.isFinite).sort();
  if (sorted.length === 0) return {least: NaN, median: NaN, high: NaN, largest: NaN, mean: NaN};
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return {least: sorted[0], median: at(0.5), high: at(0.99), largest: sorted[sorted.length - 1],
          mean: sorted.reduce((a, b) => a + b, 0) / sorted.length};
}

/** Bars over equal classes, of logarithms if asked for. Values that have none are counted apart. */
function histogram(title: string, values: Float64Array, isLog: boolean, unit: string, mark?: number): SVGSVGElement {
  const [width, height, left, bottom, top] = [420, 190, 44, 34, 26];
  const usable = values.filter((v) => Number.isFinite(v) && (!isLog || v > 0));
  const shown = isLog ? usable.map(Math.log10) : usable;
  let low = shown.reduce((a, b) => Math.min(a, b), Infinity);
  let high = shown.reduce((a, b) => Math.max(a, b), -Infinity);
  if (isLog && mark) high = Math.max(high, Math.log10(mark));
  if (!(low < high)) [low, high] = Number.isFinite(low) ? [low - 0.5, low + 0.5] : [0, 1];
  const bins = new Array<number>(30).fill(0);
  for (const value of shown) ++bins[Math.min(29, Math.floor((value - low) / (high - low) * 30))];
  const most = Math.max(1, ...bins);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('class', 'histogram');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', title);
  const add = (name: string, attributes: Record<string, string | number>, text?: string): void => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    if (text !== undefined) element.textContent = text;
    svg.append(element);
  };
  const x = (value: number): number => left + (value - low) / (high - low) * (width - left - 8);
  add('text', {x: 4, y: 15, class: 'title'}, title);
  bins.forEach((count, i) => {
    const tall = count / most * (height - top - bottom);
    if (count > 0)
      add('rect', {x: x(low + i * (high - low) / 30) + 0.5, y: height - bottom - Math.max(1, tall), width: (width - left - 8) / 30 - 1,
                   height: Math.max(1, tall), fill: CURVES[0]});
  });
  add('path', {d: `M${left} ${height - bottom}H${width - 8}`, class: 'axis'});
  for (let k = 0; k <= 4; ++k) {
    const value = low + k * (high - low) / 4;
    add('text', {x: x(value), y: height - bottom + 15, 'text-anchor': k === 0 ? 'start' : k === 4 ? 'end' : 'middle'},
        isLog ? (10 ** value).toExponential(0) : format(value, 3));
  }
  add('text', {x: left - 6, y: top + 8, 'text-anchor': 'end'}, String(most));
  if (unit) add('text', {x: width - 8, y: height - 4, 'text-anchor': 'end'}, unit);
  if (isLog && mark && Math.log10(mark) >= low) {
    add('path', {d: `M${x(Math.log10(mark))} ${top}V${height - bottom}`, class: 'mark'});
    add('text', {x: x(Math.log10(mark)) - 4, y: top + 8, 'text-anchor': 'end'}, 'tolerance');
  }
  const rest = values.length - usable.length;
  if (rest > 0) add('text', {x: left, y: height - 4}, `and ${rest} ${isLog ? 'at zero' : 'not finite'}`);
  return svg;
}

async function column(recording: Recording, name: string): Promise<Float64Array> {
  const index = recording.findSeries(name);
  return index < 0 ? new Float64Array(0) : recording.series(index);
}

function largestOf(recording: Recording, columns: Float64Array[]): {value: number; time: number} {
  let value = 0;
  let row = 0;
  for (let i = 0; i < recording.rows; ++i) {
    const size = Math.hypot(...columns.map((one) => one[i] ?? 0));
    if (size > value) { value = size; row = i; }
  }
  return {value, time: recording.time[row]};
}

function verdict(recording: Recording): HTMLElement {
  const {extent, header} = recording;
  const worst = extent.worst.value === null ? 'not finite' : format(extent.worst.value, 3);
  const at = extent.worst.row >= 0 ? ` (law: ${extent.worst.law}, at ${format(recording.time[extent.worst.row], 5)} s)` : '';
  const isGood = extent.above === 0 && !['rejected', 'above tolerance'].includes(extent.status);
  return el('p', {class: `verdict ${isGood ? 'good' : 'bad'}`},
    isGood ? `Every step is within tolerance. The largest residual is ${worst}${at}; the scene asks for ${format(header.tolerance ?? NaN, 3)}.`
      : `${extent.above === 1 ? '1 step is' : `${extent.above} steps are`} above tolerance; the run ended '${extent.status}'. The largest residual is ${worst}${at}.`);
}

async function energySection(recording: Recording): Promise<HTMLElement> {
  const names = ['kinetic', 'potential', 'spring', 'applied', 'motor', 'friction', 'impact', 'numerical'];
  const columns = await Promise.all(names.map((name) => column(recording, `energy.${name}`)));
  const last = recording.rows - 1;
  const total = (row: number): number => columns[0][row] + columns[1][row] + columns[2][row];
  const rows: Cell[][] = names.slice(0, 3).map((name, k) => [name, columns[k][0], columns[k][last], columns[k][last] - columns[k][0]]);
  rows.push(['total', total(0), total(last), total(last) - total(0)]);
  const works: Cell[][] = names.slice(3).map((name, k) => [name, columns[k + 3][last] - columns[k + 3][0]]);
  return el('div', {class: 'pair'}, tableOf(['energy [J]', 'start', 'end', 'change'], rows), tableOf(['work [J]', 'of the run'], works));
}

async function solverSection(recording: Recording): Promise<HTMLElement> {
  const residuals = await Promise.all(['momentum', 'bilateral', 'cone'].map((law) => column(recording, `certificate.${law}`)));
  const largest = new Float64Array(recording.rows).map((_v, i) => Math.max(...residuals.map((one) => one[i])));
  const [iterations, wall] = await Promise.all(['solver.iterations', 'solver.wall'].map((name) => column(recording, name)));
  const rest = (values: Float64Array): Float64Array => values.subarray(1);  // the first row is the start, which nothing was solved for
  const row = (name: string, values: Float64Array): Cell[] => {
    const {median, mean, high, largest: most} = summarise(rest(values));
    return [name, median, mean, high, most];
  };
  return el('div', {},
    tableOf(['per step', 'median', 'mean', '99th percentile', 'largest'],
            [row('residual', largest), row('iterations', iterations), row('solver time [s]', wall)]),
    el('div', {class: 'histograms'}, histogram('Residuals', rest(largest), true, '', recording.header.tolerance),
       histogram('Iterations', rest(iterations), false, 'per step'), histogram('Solver time', rest(wall), true, 's')));
}

async function contactSection(recording: Recording): Promise<HTMLElement> {
  const names = ['number', 'sticking', 'slipping', 'normal impulse', 'friction impulse', 'fastest slip'];
  const columns = await Promise.all(names.map((name) => column(recording, `contacts.${name}`)));
  const rows: Cell[][] = names.map((name, k) => {
    const {median, mean, largest} = summarise(columns[k]);
    return [name, median, mean, largest, recording.time[columns[k].indexOf(largest)] ?? NaN];
  });
  const gap = summarise(await column(recording, 'contacts.smallest gap'));
  return el('div', {}, tableOf(['of all contacts of a step', 'median', 'mean', 'largest', 'at [s]'], rows),
            el('p', {class: 'note'}, `Impulses in N s, slip in m/s. Deepest penetration: ${format(Math.max(0, -gap.least), 4)} m.`));
}

async function jointSection(recording: Recording): Promise<HTMLElement | undefined> {
  const {joints} = recording.header;
  if (joints.length === 0 || recording.findSeries(`${joints[0].name}.b.fx`) < 0) return undefined;
  const rows: Cell[][] = [];
  for (const joint of joints.slice(0, 60)) {
    const part = (letters: string): Promise<Float64Array[]> =>
      Promise.all(['x', 'y', 'z'].map((axis) => column(recording, `${joint.name}.b.${letters}${axis}`)));
    const force = largestOf(recording, await part('f'));
    const torque = largestOf(recording, await part('t'));
    rows.push([joint.name, joint.type, force.value, force.time, torque.value, torque.time]);
  }
  return el('div', {}, tableOf(['joint', 'type', 'force [N]', 'at [s]', 'torque [N m]', 'at [s]'], rows),
            joints.length > 60 ? el('p', {class: 'note'}, `and ${joints.length - 60} more joints`) : null);
}

/** Puts the document around the picture, which is there already. */
export async function buildReport(recording: Recording, onSeek: (time: number) => void): Promise<Charts> {
  const {header, extent} = recording;
  document.documentElement.classList.add('report');
  const app = document.getElementById('app')!;
  const facts: [string, string][] = [
    ['recording', header.file], ['scheme', header.scheme], ['solver', header.solver], ['step', `${format(header.h, 4)} s`],
    ['simulated', `${format(recording.endTime - recording.startTime, 5)} s, ${recording.rows - 1} recorded steps${header.stride > 1 ? `, every ${header.stride}th` : ''}`],
    ['bodies', String(header.frames.filter((frame) => frame.kind === 'dynamic').length)], ['joints', String(header.joints.length)],
    ['coordinates', String(header.series.filter((series) => series.group === 'coordinates').length)],
    ['status', extent.status], ['made by', `Stiction ${header.version}`]];
  app.before(el('article', {class: 'report-head'}, el('h1', {}, header.name), verdict(recording),
    el('dl', {class: 'facts-list'}, ...facts.filter(([, value]) => value !== '0').flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]))));
  const charts = new Charts(recording);
  charts.onSeek = onSeek;
  const joints = await jointSection(recording);
  app.after(el('article', {class: 'report-body'},
    el('h2', {}, 'Energy'), await energySection(recording), el('h2', {}, 'Solver'), await solverSection(recording),
    el('h2', {}, 'Contacts'), await contactSection(recording), joints && el('h2', {}, 'Largest joint reactions'), joints,
    el('h2', {}, 'Plots'), charts.list));
  for (const spec of firstCharts(recording)) await charts.add(spec);
  return charts;
}
