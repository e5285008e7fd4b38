// One recording: its header, and rows and curves as they are needed. Chunks that were not used for a
// while are forgotten, so that a file of any size can be looked at.
import {type Arrays, readArrays, readJson, type Source} from './source';

/** x, y, z, qw, qx, qy, qz. */
export type Pose7 = [number, number, number, number, number, number, number];

export interface FrameInfo {
  name: string;
  kind: 'dynamic' | 'static' | 'kinematic' | 'view' | 'link';
  pose: number;  // its place among the poses of a row; -1: never moves
  link: number;  // its place among the lengths of a row, or -1
  start: Pose7;
  mass: number;
}

export interface ShapeInfo {
  frame: number;
  geometry: number;
  pose: Pose7;
  touches: boolean;
  color?: string;
}

export type GeometryInfo =
  | {type: 'sphere'; radius: number}
  | {type: 'capsule' | 'cylinder'; radius: number; length: number}
  | {type: 'box'; size: [number, number, number]}
  | {type: 'ellipsoid'; radii: [number, number, number]}
  | {type: 'plane'; normal: [number, number, number]; offset: number}
  | {type: 'triangles'; of: string; resource: string}
  | {type: 'rod' | 'spring'; radius: number};

export interface JointInfo {
  name: string;
  type: string;
  a: number;
  b: number;
  frameA: Pose7;
  frameB: Pose7;
  reaction: number;  // first of its twelve columns, or -1
  efforts: {name: string; column: number}[];
}

export interface SpringInfo {
  name: string;
  a: number;
  b: number;
  pointA: [number, number, number];
  pointB: [number, number, number];
}

export interface SeriesInfo {
  name: string;
  unit: string;
  group: string;
}

export interface Header {
  protocol: number;
  file: string;
  name: string;
  scheme: string;
  solver: string;
  version: string;
  h: number;
  tolerance?: number;
  duration?: number;
  gravity?: [number, number, number];
  fault?: string;
  rows: number;
  rowsPerChunk: number;
  stride: number;
  up: [number, number, number];
  follow: number;  // frame that the camera goes along with, or -1
  frames: FrameInfo[];
  shapes: ShapeInfo[];
  geometries: GeometryInfo[];
  joints: JointInfo[];
  springs: SpringInfo[];
  series: SeriesInfo[];
  contactNames: string[];
  certificateNames: string[];
  eventKinds: string[];
  numPoses: number;
  numLinks: number;
  numReactions: number;
  numEfforts: number;
}

export interface Extent {
  rows: number;
  status: string;
  growing: boolean;
  above: number;
  worst: {row: number; law: string; value: number | null};
}

export interface Events {
  time: Float64Array;
  kind: Int32Array;
  contact: Int32Array;
  energy: Float64Array;
}

type ChunkKind = 'poses' | 'contacts' | 'joints';

/** How many rows a chunk has. */
function rowsIn(arrays: Arrays): number {
  return (arrays['time'] ?? arrays['start'] ?? arrays['reaction'] ?? []).length;
}

/** Chunks kept in memory: half a megabyte each. */
const KEPT_CHUNKS = 160;

export class Recording {
  header!: Header;
  extent!: Extent;
  time: Float64Array = new Float64Array(0);

  private readonly chunks = new Map<string, Arrays>();
  private readonly loading = new Map<string, Promise<Arrays>>();
  private readonly columns = new Map<number, Promise<Float64Array>>();
  /** Chunks that have more rows by now. */
  private readonly stale = new Set<string>();
  private room = new Float64Array(0);

  constructor(private readonly source: Source, private readonly index: number) {}

  async open(): Promise<void> {
    this.header = await readJson<Header>(this.source, `${this.index}/header.json`);
    if (this.header.protocol !== 1)
      throw new Error(`The recording is given in version ${this.header.protocol}, this page knows 1.`);
    this.extent = await readJson<Extent>(this.source, `${this.index}/extent.json`);
    this.header.rows = this.extent.rows;
    this.time = await this.series(0);
  }

  get rows(): number {
    return this.time.length;
  }
  get startTime(): number {
    return this.rows > 0 ? this.time[0] : 0;
  }
  get endTime(): number {
    return this.rows > 0 ? this.time[this.rows - 1] : 0;
  }

  /** The last row that is not later than t, up to rounding. */
  rowAt(t: number): number {
    let low = 0;
    let high = this.rows;
    const limit = t + 1e-9 * this.header.h;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= limit) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  chunkOf(row: number): number {
    return Math.floor(row / this.header.rowsPerChunk);
  }

  /** The chunk if it is here; else it is asked for. */
  peek(kind: ChunkKind, chunk: number): Arrays | undefined {
    const key = `${kind}/${chunk}`;
    const found = this.chunks.get(key);
    if (found && (!this.stale.has(key) || this.loading.has(key))) {
      this.chunks.delete(key);  // now the youngest
      this.chunks.set(key, found);
      return found;
    }
    if (chunk >= 0 && chunk * this.header.rowsPerChunk < this.rows) void this.load(kind, chunk).catch(() => undefined);
    return undefined;
  }

  load(kind: ChunkKind, chunk: number): Promise<Arrays> {
    const key = `${kind}/${chunk}`;
    const here = this.chunks.get(key);
    if (here && !this.stale.has(key)) return Promise.resolve(here);
    const underway = this.loading.get(key);
    if (underway && !this.stale.has(key)) return underway;
    this.stale.delete(key);
    const promise: Promise<Arrays> = this.source.bytes(`${this.index}/${key}`).then((bytes) => {
      const arrays = readArrays(bytes);
      if (this.loading.get(key) === promise) this.loading.delete(key);
      // One that was asked for earlier may come later, with fewer rows.
      const known = this.chunks.get(key);
      if (known && rowsIn(known) > rowsIn(arrays)) return known;
      this.chunks.set(key, arrays);
      for (const old of this.chunks.keys()) {
        if (this.chunks.size <= KEPT_CHUNKS) break;
        this.chunks.delete(old);
      }
      return arrays;
    }, (error: unknown) => {
      this.loading.delete(key);
      throw error;
    });
    this.loading.set(key, promise);
    return promise;
  }

  geometry(resource: string): Promise<Arrays> {
    return this.source.bytes(`${this.index}/${resource}`).then(readArrays);
  }

  series(column: number): Promise<Float64Array> {
    let values = this.columns.get(column);
    if (!values) {
      values = this.source.bytes(`${this.index}/series/${column}`)
        .then((bytes) => readArrays(bytes)['values'] as Float64Array);
      values.catch(() => this.columns.delete(column));
      this.columns.set(column, values);
    }
    return values;
  }

  findSeries(name: string): number {
    return this.header.series.findIndex((series) => series.name === name);
  }

  async events(): Promise<Events> {
    return readArrays(await this.source.bytes(`${this.index}/events`)) as unknown as Events;
  }

  /** Looks for rows that were written since; true if there are any. Curves stay as they are known. */
  async poll(): Promise<boolean> {
    if (!this.extent.growing) return false;
    const extent = await readJson<Extent>(this.source, `${this.index}/extent.json`);
    this.extent = extent;
    const before = this.rows;
    if (extent.rows <= before) return false;
    const added = readArrays(await this.source.bytes(`${this.index}/series/0/${before}`))['values'] as Float64Array;
    // Rows show only when the chunks that they are in are here: the picture does not wait for them.
    const lastKnown = this.chunkOf(Math.max(0, before - 1));
    const last = this.chunkOf(before + added.length - 1);
    for (const chunk of new Set([lastKnown, last]))
      for (const kind of ['poses', 'contacts', 'joints'] as ChunkKind[]) {
        const isKnown = this.chunks.has(`${kind}/${lastKnown}`);
        this.stale.add(`${kind}/${chunk}`);
        if (isKnown) await this.load(kind, chunk);
      }
    this.append(added);
    return true;
  }
  /** Curves are asked for anew. */
  forgetCurves(): void {
    this.columns.clear();
  }

  private append(added: Float64Array): void {
    const rows = this.rows + added.length;
    if (rows > this.room.length) {
      const larger = new Float64Array(Math.max(1024, 2 * rows));
      larger.set(this.time);
      this.room = larger;
    } else if (this.time.buffer !== this.room.buffer) {
      this.room.set(this.time);
    }
    this.room.set(added, this.rows);
    this.time = this.room.subarray(0, rows);
  }
}
