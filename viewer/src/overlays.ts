// What is drawn over the bodies: contacts and their impulses, joints and their reactions, trails.
import * as THREE from 'three';
import {Arrows, Balls, Cones} from './arrows';
import type {Bodies} from './bodies';
import {EFFORT, FRICTION, NORMAL, REACTION, STATUS} from './palette';
import type {Pose7, Recording} from './recording';
import type {Arrays} from './source';

const colors = (texts: string[]): THREE.Color[] => texts.map((text) => new THREE.Color(text));
const vectorAt = (array: ArrayLike<number>, i: number, target: THREE.Vector3): THREE.Vector3 =>
  target.set(array[3 * i], array[3 * i + 1], array[3 * i + 2]);

export interface ContactLayers {
  points: boolean;
  normals: boolean;
  friction: boolean;
  cones: boolean;
}

/** The contacts of one row of a chunk. */
export interface ContactRows {
  arrays: Arrays;
  first: number;
  last: number;
}

export class ContactOverlay {
  readonly group = new THREE.Group();
  /** [m / (N s)] length of an arrow per impulse. */
  scale = 0;
  private readonly points = new Balls(this.group, true);
  private readonly tips = new Balls(this.group, true);
  private readonly normals: Arrows;
  private readonly friction: Arrows;
  private readonly cones = new Cones(this.group);
  private readonly statusColors = colors(STATUS);
  private readonly normalColor = new THREE.Color(NORMAL);
  private readonly frictionColor = new THREE.Color(FRICTION);
  private readonly tipColor = new THREE.Color('#111827');

  /** Impulses are drawn as they act on a body that can move: the first of the two if it can. */
  constructor(private readonly isMoving: boolean[], private readonly size: () => number) {
    this.normals = new Arrows(this.group, () => 0.05 * this.size());
    this.friction = new Arrows(this.group, () => 0.05 * this.size());
  }

  get numArrows(): number {
    return this.normals.count + this.friction.count;
  }

  setDark(isDark: boolean): void {
    this.tipColor.set(isDark ? '#f8fafc' : '#111827');
  }

  update(rows: ContactRows | undefined, layers: ContactLayers): void {
    const parts = [this.points, this.tips, this.normals, this.friction, this.cones];
    for (const part of parts) part.begin();
    if (rows) this.draw(rows, layers);
    for (const part of parts) part.end();
  }

  private draw({arrays, first, last}: ContactRows, layers: ContactLayers): void {
    const at = new THREE.Vector3();
    const normal = new THREE.Vector3();
    const vector = new THREE.Vector3();
    const {position, normal: normals, friction, impulse, status, mu, a, b} = arrays;
    const size = this.size();
    for (let i = first; i < last; ++i) {
      vectorAt(position, i, at);
      if (Number.isNaN(at.x)) continue;  // a limit of a joint, or a contact without a place
      const sign = b[i] >= 0 && this.isMoving[b[i]] && !this.isMoving[a[i]] ? -1 : 1;
      vectorAt(normals, i, normal).multiplyScalar(sign);
      const color = this.statusColors[status[i]];
      const length = this.scale * impulse[3 * i];
      if (layers.points) this.points.add(at, (status[i] === 0 ? 0.09 : 0.13) * size, color);
      if (layers.cones && length > 0 && mu[i] > 0) {
        this.cones.add(at, normal, length, mu[i] * length, color);
        vectorAt(friction, i, vector).multiplyScalar(sign * this.scale).addScaledVector(normal, length).add(at);
        this.tips.add(vector, 0.1 * size, this.tipColor);
      }
      if (layers.normals && length > 0) this.normals.add(at, vector.copy(normal).multiplyScalar(length), this.normalColor);
      if (layers.friction) this.friction.add(at, vectorAt(friction, i, vector).multiplyScalar(sign * this.scale), this.frictionColor);
    }
  }
}

/** The contacts of a row, or nothing if its chunk is not here yet. */
export function contactsOf(recording: Recording, row: number): ContactRows | undefined {
  const chunk = recording.chunkOf(row);
  const arrays = recording.peek('contacts', chunk);
  if (!arrays) return undefined;
  const local = row - chunk * recording.header.rowsPerChunk;
  const start = arrays['start'];
  if (local + 1 >= start.length) return undefined;
  return {arrays, first: start[local], last: start[local + 1]};
}

const matrixOfPose = (pose: Pose7): THREE.Matrix4 =>
  new THREE.Matrix4().compose(new THREE.Vector3(pose[0], pose[1], pose[2]),
                              new THREE.Quaternion(pose[4], pose[5], pose[6], pose[3]), new THREE.Vector3(1, 1, 1));

export class JointOverlay {
  readonly group = new THREE.Group();
  /** [m/N] length of an arrow per force. */
  scale = 0;
  private readonly lines: THREE.LineSegments;
  private readonly arrows: Arrows;
  private readonly frames: [THREE.Matrix4, THREE.Matrix4][];
  private readonly reactionColor = new THREE.Color(REACTION);
  private readonly effortColor = new THREE.Color(EFFORT);

  constructor(private readonly recording: Recording, private readonly bodies: Bodies, private readonly size: () => number) {
    const {joints, springs} = recording.header;
    this.frames = joints.map((joint) => [matrixOfPose(joint.frameA), matrixOfPose(joint.frameB)]);
    const count = joints.length * 8 + springs.length * 2;  // two sets of three axes and a line each
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * count * 2), 3));
    geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(3 * count * 2), 3));
    this.lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({vertexColors: true, depthTest: false}));
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 4;
    this.group.add(this.lines);
    this.arrows = new Arrows(this.group, () => 0.05 * this.size());
  }

  update(row: number, showsFrames: boolean, showsReactions: boolean, showsEfforts: boolean): void {
    this.drawFrames(showsFrames);
    this.arrows.begin();
    if (showsReactions || showsEfforts) this.drawArrows(row, showsReactions, showsEfforts);
    this.arrows.end();
  }

  private drawFrames(isShown: boolean): void {
    this.lines.visible = isShown;
    if (!isShown) return;
    const position = this.lines.geometry.getAttribute('position') as THREE.BufferAttribute;
    const color = this.lines.geometry.getAttribute('color') as THREE.BufferAttribute;
    let next = 0;
    const put = (a: THREE.Vector3, b: THREE.Vector3, red: number, green: number, blue: number): void => {
      for (const point of [a, b]) {
        position.setXYZ(next, point.x, point.y, point.z);
        color.setXYZ(next++, red, green, blue);
      }
    };
    const matrix = new THREE.Matrix4();
    const origins = [new THREE.Vector3(), new THREE.Vector3()];
    const end = new THREE.Vector3();
    const {joints, springs} = this.recording.header;
    joints.forEach((joint, i) => {
      [joint.a, joint.b].forEach((body, side) => {
        this.bodies.matrixOf(body, matrix).multiply(this.frames[i][side]);
        origins[side].setFromMatrixPosition(matrix);
        if (side === 0) return;  // where the two frames agree one set of axes is enough
        for (const [axis, r, g, b] of [[0, 0.9, 0.25, 0.3], [1, 0.2, 0.65, 0.3], [2, 0.25, 0.45, 0.95]] as const) {
          end.setFromMatrixColumn(matrix, axis).multiplyScalar(1.1 * this.size()).add(origins[side]);
          put(origins[side], end, r, g, b);
        }
      });
      put(origins[0], origins[1], 0.55, 0.55, 0.6);
    });
    for (const spring of springs) {
      origins[0].set(...spring.pointA).applyMatrix4(this.bodies.matrixOf(spring.a, matrix));
      origins[1].set(...spring.pointB).applyMatrix4(this.bodies.matrixOf(spring.b, matrix));
      put(origins[0], origins[1], 0.8, 0.55, 0.1);
    }
    this.lines.geometry.setDrawRange(0, next);
    position.needsUpdate = true;
    color.needsUpdate = true;
  }

  /** Forces on the second body at the joint; efforts along the axis of the joint. */
  private drawArrows(row: number, showsReactions: boolean, showsEfforts: boolean): void {
    const {header} = this.recording;
    const chunk = this.recording.chunkOf(row);
    const arrays = this.recording.peek('joints', chunk);
    if (!arrays) return;
    const local = row - chunk * header.rowsPerChunk;
    const matrix = new THREE.Matrix4();
    const body = new THREE.Matrix4();
    const at = new THREE.Vector3();
    const vector = new THREE.Vector3();
    header.joints.forEach((joint, i) => {
      this.bodies.matrixOf(joint.b, body);
      matrix.copy(body).multiply(this.frames[i][1]);
      at.setFromMatrixPosition(matrix);
      if (showsReactions && joint.reaction >= 0) {
        const first = local * header.numReactions + joint.reaction + 6;
        const reaction = arrays['reaction'];
        vector.set(reaction[first], reaction[first + 1], reaction[first + 2]).multiplyScalar(this.scale);
        this.arrows.add(at, turned(vector, body), this.reactionColor);
      }
      if (showsEfforts)
        for (const effort of joint.efforts) {
          vector.setFromMatrixColumn(matrix, 2)
            .multiplyScalar(this.scale * arrays['effort'][local * header.numEfforts + effort.column]);
          this.arrows.add(at, vector, this.effortColor);
        }
    });
  }

  /** The largest force in a chunk, for a first scale. */
  largestForce(arrays: Arrays): number {
    const {numReactions, joints} = this.recording.header;
    const reaction = arrays['reaction'];
    let largest = 0;
    for (let row = 0; row < reaction.length; row += Math.max(1, numReactions))
      for (const joint of joints)
        if (joint.reaction >= 0) {
          const k = row + joint.reaction + 6;
          largest = Math.max(largest, Math.hypot(reaction[k], reaction[k + 1], reaction[k + 2]));
        }
    for (const effort of arrays['effort']) largest = Math.max(largest, Math.abs(effort));
    return largest;
  }
}

/** Turns a vector by a matrix and keeps its length. */
function turned(vector: THREE.Vector3, matrix: THREE.Matrix4): THREE.Vector3 {
  const length = vector.length();
  return length > 0 ? vector.transformDirection(matrix).multiplyScalar(length) : vector;
}

/** Paths of the origins of frames over the last rows. */
export class Trails {
  readonly group = new THREE.Group();
  private readonly lines = new Map<number, THREE.Line>();
  private static readonly POINTS = 600;

  constructor(private readonly recording: Recording) {}

  /** The frames that leave a trail. */
  show(frames: Set<number>, colorOf: (frame: number) => THREE.Color): void {
    for (const [frame, line] of this.lines)
      if (!frames.has(frame)) {
        this.group.remove(line);
        line.geometry.dispose();
        this.lines.delete(frame);
      }
    for (const frame of frames) {
      if (this.lines.has(frame)) continue;
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * Trails.POINTS), 3));
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({color: colorOf(frame)}));
      line.frustumCulled = false;
      this.lines.set(frame, line);
      this.group.add(line);
    }
  }

  get count(): number {
    return this.lines.size;
  }

  /** Over `seconds` before `row`, as far as the rows are here. */
  update(row: number, seconds: number): void {
    if (this.lines.size === 0) return;
    const {header, time} = this.recording;
    const first = this.recording.rowAt(time[row] - seconds);
    const step = Math.max(1, Math.ceil((row - first) / (Trails.POINTS - 1)));
    for (const [frame, line] of this.lines) {
      const pose = header.frames[frame].pose;
      const position = line.geometry.getAttribute('position') as THREE.BufferAttribute;
      let count = 0;
      for (let k = row; k >= first && pose >= 0 && count < Trails.POINTS; k -= step) {
        const chunk = this.recording.chunkOf(k);
        const arrays = this.recording.peek('poses', chunk);
        if (!arrays) break;
        const at = (k - chunk * header.rowsPerChunk) * 7 * header.numPoses + 7 * pose;
        const values = arrays['pose'];
        position.setXYZ(count++, values[at], values[at + 1], values[at + 2]);
      }
      line.geometry.setDrawRange(0, count);
      position.needsUpdate = true;
    }
  }
}
