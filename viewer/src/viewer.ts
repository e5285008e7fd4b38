// The moving picture: what is drawn of which row, and what of it the user has switched on.
import * as THREE from 'three';
import {Bodies} from './bodies';
import {Islands} from './islands';
import {ContactOverlay, contactsOf, JointOverlay, Trails} from './overlays';
import {colorOfBody, colorOfIsland} from './palette';
import type {Recording} from './recording';
import {Sharpness} from './sharpness';
import {type Bounds, Stage} from './stage';

export interface Layers {
  points: boolean;
  normals: boolean;
  friction: boolean;
  cones: boolean;
  jointFrames: boolean;
  reactions: boolean;
  efforts: boolean;
  islands: boolean;
  trails: 'none' | 'selected' | 'all';
  ghost: boolean;
  shadows: boolean;
  grid: boolean;
}

const radiusOfBox = (box: THREE.Box3): number => box.getSize(new THREE.Vector3()).length() / 2;

/** Above this many bodies trails of all of them would only be a tangle. */
const MAX_TRAILS = 60;

export class Viewer {
  readonly stage: Stage;
  readonly sharpness?: Sharpness;  // where there is no graphics card
  readonly bodies: Bodies;
  readonly ghostBodies?: Bodies;
  readonly contacts: ContactOverlay;
  readonly joints: JointOverlay;
  readonly trails: Trails;
  readonly islands: Islands;
  readonly layers: Layers;
  selected = -1;
  /** The frame that the camera goes along with, or -1. */
  followed = -1;
  get follows(): boolean {
    return this.followed >= 0 && this.followed === this.selected;
  }
  row = -1;
  /** Set by the user on top of what was found to be sensible. */
  arrowFactor = 1;
  trailSeconds = 1;
  private arrowBase = 0;
  private forceBase = 0;
  private radius = 1;
  private readonly lastFollowed = new THREE.Vector3();
  private readonly isMoving: boolean[];

  /** `isSoftware`: there is no graphics card, so that every pixel costs. */
  constructor(readonly recording: Recording, readonly ghost: Recording | undefined, container: HTMLElement, isSoftware: boolean) {
    const {header} = recording;
    const isLarge = header.shapes.length > 300;
    this.isMoving = header.frames.map((frame) => frame.kind === 'dynamic');
    const isFlat = !header.frames.some((frame) => frame.kind === 'dynamic' || frame.kind === 'kinematic');
    this.stage = new Stage(container, header.up, isFlat || isPlanar(recording), isLarge && isSoftware);
    if (isSoftware) this.sharpness = new Sharpness(this.stage);
    this.bodies = new Bodies(header, {opacity: 1, merges: isSoftware});
    if (ghost) this.ghostBodies = new Bodies(ghost.header, {opacity: 0.35, tint: new THREE.Color('#7c8aa5')});
    const size = (): number => this.markSize();
    this.contacts = new ContactOverlay(this.isMoving, size);
    this.joints = new JointOverlay(recording, this.bodies, size);
    this.trails = new Trails(recording);
    this.islands = new Islands(this.isMoving);
    this.layers = {points: true, normals: true, friction: true, cones: false, jointFrames: false, reactions: false,
                   efforts: false, islands: false, trails: 'none', ghost: true, shadows: !isLarge, grid: true};
    this.stage.scene.add(this.bodies.group, this.contacts.group, this.joints.group, this.trails.group);
    if (this.ghostBodies) this.stage.scene.add(this.ghostBodies.group);
  }

  async build(): Promise<void> {
    const {header} = this.recording;
    await this.bodies.build(this.recording);
    if (this.ghost) await this.ghostBodies!.build(this.ghost);
    for (const shape of header.shapes) {
      const geometry = header.geometries[shape.geometry];
      if (geometry.type !== 'plane') continue;
      const matrix = this.bodies.matrixOf(shape.frame).multiply(new THREE.Matrix4().compose(
        new THREE.Vector3(shape.pose[0], shape.pose[1], shape.pose[2]),
        new THREE.Quaternion(shape.pose[4], shape.pose[5], shape.pose[6], shape.pose[3]), new THREE.Vector3(1, 1, 1)));
      const position = new THREE.Vector3();
      const turn = new THREE.Quaternion();
      matrix.decompose(position, turn, new THREE.Vector3());
      this.stage.addPlane([position.x, position.y, position.z, turn.w, turn.x, turn.y, turn.z], geometry.normal, geometry.offset);
    }
    if (this.recording.rows > 0) {
      const first = await this.recording.load('poses', 0);
      this.bodies.update(first, 0);
    }
    const bounds = await this.findBounds();
    this.radius = bounds.radius;
    this.stage.setBounds(bounds);
    this.stage.setShadows(this.layers.shadows);
    this.stage.frame();
    if (header.follow >= 0) {
      this.followed = header.follow;
      this.bodies.positionOf(this.followed, this.lastFollowed);
    }
  }

  /** Size of marks such as contact points: small beside the scene. */
  private markSize(): number {
    return 0.05 * this.radius;
  }

  /** What moves, at the start and, if that does not go too far away, later on. */
  private async findBounds(): Promise<Bounds> {
    const box = new THREE.Box3();
    const {header} = this.recording;
    const grow = (target: THREE.Box3, isForAll: boolean): void => {
      header.frames.forEach((frame, i) => {
        const radius = Math.max(this.bodies.radii[i], frame.link >= 0 ? this.bodies.lengths[frame.link] / 2 : 0);
        if (!isForAll && frame.kind === 'static') return;
        if (!(radius > 0) || !Number.isFinite(radius)) return;
        const at = this.bodies.positionOf(i);
        const reach = new THREE.Vector3(radius, radius, radius);
        target.union(new THREE.Box3(at.clone().sub(reach), at.clone().add(reach)));
      });
      for (const joint of header.joints)
        if (joint.a < 0) target.expandByPoint(new THREE.Vector3(joint.frameA[0], joint.frameA[1], joint.frameA[2]));
    };
    grow(box, false);
    if (box.isEmpty()) grow(box, true);
    if (box.isEmpty()) return {center: new THREE.Vector3(), radius: 1, half: new THREE.Vector3(1, 1, 1), floor: -1};
    const start = radiusOfBox(box);
    // Static things of about the same size belong to the picture, a ground that is far larger does not.
    const center = box.getCenter(new THREE.Vector3());
    header.frames.forEach((frame, i) => {
      const own = this.bodies.boxOf(i);
      if (frame.kind !== 'static' || own.isEmpty() || radiusOfBox(own) > 3 * start) return;
      if (own.distanceToPoint(center) < 3 * start) box.union(own);
    });
    const whole = box.clone();
    const last = this.recording.rows - 1;
    for (const share of [0.25, 0.5, 0.75, 1]) {
      const row = Math.round(share * last);
      const chunk = this.recording.chunkOf(row);
      if (row <= 0) continue;
      this.bodies.update(await this.recording.load('poses', chunk), row - chunk * header.rowsPerChunk);
      grow(whole, false);
    }
    if (this.recording.rows > 0) this.bodies.update(await this.recording.load('poses', 0), 0);
    const isNear = header.follow < 0 && radiusOfBox(whole) < 6 * start;
    const size = (isNear ? whole : box).getSize(new THREE.Vector3());
    // The lowest of what moves and of what stands among it.
    const up = new THREE.Vector3(...header.up);
    const lowest = whole.clone();
    header.frames.forEach((frame, i) => {
      const radius = this.bodies.radii[i];
      if (frame.kind === 'static' && radius > 0 && Number.isFinite(radius)) lowest.expandByPoint(this.bodies.positionOf(i).addScaledVector(up, -radius));
    });
    const corners = [lowest.min, lowest.max];
    let floor = Infinity;
    for (const x of corners) for (const y of corners) for (const z of corners) floor = Math.min(floor, x.x * up.x + y.y * up.y + z.z * up.z);
    return {center: (isNear ? whole : box).getCenter(new THREE.Vector3()), floor, half: size.clone().multiplyScalar(0.46),
            radius: Math.max(0.66 * size.length(), 1.04 * Math.max(size.x, size.y, size.z)) / 2};
  }

  /** Whether the row can be drawn now; else it is on its way. */
  isReady(row: number): boolean {
    const chunk = this.recording.chunkOf(row);
    // The next chunk is asked for early.
    const {rowsPerChunk} = this.recording.header;
    if (row - chunk * rowsPerChunk > 0.5 * rowsPerChunk) {
      this.recording.peek('poses', chunk + 1);
      this.recording.peek('contacts', chunk + 1);
    }
    return this.recording.peek('poses', chunk) !== undefined;
  }

  /** Draws a row; false if its data are not here yet. */
  show(row: number): boolean {
    const {header} = this.recording;
    const chunk = this.recording.chunkOf(row);
    const arrays = this.recording.peek('poses', chunk);
    if (!arrays) return false;
    this.row = row;
    this.bodies.update(arrays, row - chunk * header.rowsPerChunk);
    this.showGhost(row);
    this.updateOverlays();
    this.follow();
    this.stage.isDirty = true;
    return true;
  }

  private showGhost(row: number): void {
    if (!this.ghost || !this.ghostBodies) return;
    this.ghostBodies.group.visible = this.layers.ghost;
    const other = this.ghost.rowAt(this.recording.time[row]);
    const chunk = this.ghost.chunkOf(other);
    const arrays = this.ghost.peek('poses', chunk);
    if (arrays) this.ghostBodies.update(arrays, other - chunk * this.ghost.header.rowsPerChunk);
  }

  updateOverlays(): void {
    const {layers, recording, row} = this;
    if (row < 0) return;
    const wantsContacts = layers.points || layers.normals || layers.friction || layers.cones || layers.islands;
    const rows = wantsContacts ? contactsOf(recording, row) : undefined;
    if (rows && this.arrowBase === 0) this.arrowBase = this.findArrowBase(rows.arrays['impulse']);
    this.contacts.scale = this.arrowBase * this.arrowFactor;
    this.contacts.update(rows, layers);
    if (recording.header.joints.length > 0 || recording.header.springs.length > 0) {
      if ((layers.reactions || layers.efforts) && this.forceBase === 0) {
        const arrays = recording.peek('joints', recording.chunkOf(row));
        const largest = arrays ? this.joints.largestForce(arrays) : 0;
        if (largest > 0) this.forceBase = 0.5 * this.radius / largest;
      }
      this.joints.scale = this.forceBase * this.arrowFactor;
      this.joints.update(row, layers.jointFrames, layers.reactions, layers.efforts);
    }
    this.trails.update(row, this.trailSeconds);
    if (layers.islands) {
      this.islands.clear();
      for (const joint of recording.header.joints) this.islands.join(joint.a, joint.b);
      if (rows) {
        const {a, b, impulse} = rows.arrays;
        for (let i = rows.first; i < rows.last; ++i) if (impulse[3 * i] > 0) this.islands.join(a[i], b[i]);
      }
    }
    this.repaint();
    this.stage.isDirty = true;
    this.onOverlays();
  }
  /** After contacts, joints or islands were drawn anew. */
  onOverlays: () => void = () => undefined;

  private painted = '';
  private repaint(): void {
    const {islands} = this.layers;
    const key = `${islands} ${this.selected}`;
    if (!islands && key === this.painted) return;
    this.painted = key;
    const chosen = new THREE.Color('#ffd166');
    this.bodies.paint(!islands && this.selected < 0 ? undefined : (frame) => {
      if (frame === this.selected) return chosen;
      return islands && this.isMoving[frame] ? colorOfIsland(this.islands.find(frame)) : undefined;
    });
  }

  /** A length per impulse such that large ones, but for rare impacts, are a third of the scene. */
  private findArrowBase(impulse: ArrayLike<number>): number {
    const values: number[] = [];
    for (let i = 0; i < impulse.length; i += 3) if (impulse[i] > 0) values.push(impulse[i]);
    if (values.length === 0) return 0;
    values.sort((a, b) => a - b);
    return 0.25 * this.radius / values[Math.floor(0.7 * (values.length - 1))];
  }

  setLayer<K extends keyof Layers>(layer: K, value: Layers[K]): void {
    this.layers[layer] = value;
    if (layer === 'shadows') this.stage.setShadows(this.layers.shadows);
    if (layer === 'grid') this.stage.setGridVisible(this.layers.grid);
    if (layer === 'islands' && !value) this.painted = '?';
    if (layer === 'trails') this.updateTrails();
    if (layer === 'ghost' && this.row >= 0) this.showGhost(this.row);
    this.updateOverlays();
  }

  select(frame: number): void {
    this.selected = frame;
    this.updateTrails();
    this.updateOverlays();
  }

  setFollow(follows: boolean): void {
    this.followed = follows ? this.selected : -1;
    if (this.followed < 0) return;
    this.bodies.positionOf(this.followed, this.lastFollowed);
    this.stage.shift(this.lastFollowed.clone().sub(this.stage.controls.target));
  }
  private follow(): void {
    if (this.followed < 0) return;
    const at = this.bodies.positionOf(this.followed);
    this.stage.shift(at.clone().sub(this.lastFollowed));
    this.lastFollowed.copy(at);
  }

  private updateTrails(): void {
    const frames = new Set<number>();
    this.recording.header.frames.forEach((frame, i) => {
      if (frame.pose < 0 || frame.kind === 'link') return;
      if (this.layers.trails === 'all' && frames.size < MAX_TRAILS) frames.add(i);
      if (this.layers.trails === 'selected' && i === this.selected) frames.add(i);
    });
    this.trails.show(frames, colorOfBody);
    if (this.row >= 0) this.trails.update(this.row, this.trailSeconds);
  }

  /** The frame under a point of the canvas, or -1. */
  pick(x: number, y: number): number {
    return this.pickPoint(x, y)?.frame ?? -1;
  }
  /** With the point of its surface. */
  pickPoint(x: number, y: number): {frame: number; point: THREE.Vector3} | undefined {
    const raycaster = this.raycasterAt(x, y);
    for (const mesh of this.bodies.frameOfInstance.keys()) mesh.computeBoundingSphere();
    const hit = raycaster.intersectObjects(this.bodies.group.children, false)[0];
    if (!hit || hit.instanceId === undefined) return undefined;
    const frame = this.bodies.frameOfInstance.get(hit.object as THREE.InstancedMesh)?.[hit.instanceId] ?? -1;
    return frame < 0 ? undefined : {frame, point: hit.point};
  }
  /** What is seen at a point of the canvas. */
  rayAt(x: number, y: number): THREE.Ray {
    return this.raycasterAt(x, y).ray;
  }
  private raycasterAt(x: number, y: number): THREE.Raycaster {
    const {domElement} = this.stage.renderer;
    const raycaster = new THREE.Raycaster();
    raycaster.setFromCamera(new THREE.Vector2(2 * x / domElement.clientWidth - 1, 1 - 2 * y / domElement.clientHeight), this.stage.camera);
    return raycaster;
  }
  get sceneRadius(): number {
    return this.radius;
  }

  setDark(isDark: boolean): void {
    this.stage.setDark(isDark);
    this.contacts.setDark(isDark);
    this.updateOverlays();
  }
}

/** Whether all bodies that move start on one plane y = const, as drawings of mechanisms do. */
function isPlanar(recording: Recording): boolean {
  const moving = recording.header.frames.filter((frame) => frame.kind === 'dynamic');
  if (moving.length < 2 || recording.header.up[2] < 0.9) return false;
  const ys = moving.map((frame) => frame.start[1]);
  const xs = moving.map((frame) => frame.start[0]);
  const zs = moving.map((frame) => frame.start[2]);
  const spread = (values: number[]): number => Math.max(...values) - Math.min(...values);
  return spread(ys) < 1e-9 && spread(xs) > 0 && spread(zs) + spread(xs) > 0;
}
