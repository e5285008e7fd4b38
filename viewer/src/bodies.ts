// The shapes of a recording. Shapes of a kind are one instanced mesh: spheres and ellipsoids, boxes,
// cylinders; a capsule is a cylinder with two spheres. Whatever comes as triangles has a mesh of its
// own, shared by equal shapes.
import * as THREE from 'three';
import {MergedMesh} from './merged';
import {colorOfBody, parseColor, STATIC_COLOR, WALL_OPACITY} from './palette';
import type {GeometryInfo, Header, Pose7, Recording} from './recording';
import type {Arrays} from './source';
import {hasRim, isSteep, makeTriangles} from './triangles';

/**
 * A sphere of eight octants in two shades, which show how it turns: each a triangle divided `parts` times along its
 * edges. Octants share no corners, all triangles of one do: a third of the corners of separate triangles.
 */
function makeSphere(parts: number): THREE.BufferGeometry {
  const positions: number[] = [];
  const colors: number[] = [];
  const triangles: number[] = [];
  const corner = new THREE.Vector3();
  for (const x of [1, -1]) for (const y of [1, -1]) for (const z of [1, -1]) {
    const first = positions.length / 3;
    const isOutward = x * y * z > 0;
    const at = (i: number, j: number): number => first + i * (i + 1) / 2 + j;  // row i has i + 1 corners
    for (let i = 0; i <= parts; ++i)
      for (let j = 0; j <= i; ++j) {
        corner.set(x * (i - j), y * j, z * (parts - i)).normalize().toArray(positions, positions.length);
        colors.push(...Array<number>(3).fill(isOutward ? 1 : 0.78));
        if (i === parts) continue;
        const [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), j < i ? at(i, j + 1) : -1];
        triangles.push(...(isOutward ? [a, b, c] : [a, c, b]));
        if (d >= 0) triangles.push(...(isOutward ? [a, c, d] : [a, d, c]));
      }
  }
  const sphere = new THREE.BufferGeometry();
  sphere.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  sphere.setAttribute('normal', new THREE.Float32BufferAttribute(positions, 3));
  sphere.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
  sphere.setIndex(triangles);
  return sphere;
}

/** Marks that show how a round thing turns: octants in two shades. */
function withMarks(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  const flat = geometry.toNonIndexed();
  const position = flat.getAttribute('position');
  const colors = new Float32Array(position.count * 3);
  for (let face = 0; face < position.count; face += 3) {
    let [x, y, z] = [0, 0, 0];
    for (let k = 0; k < 3; ++k) {
      x += position.getX(face + k);
      y += position.getY(face + k);
      z += position.getZ(face + k);
    }
    const shade = x * y * z > 0 ? 1 : 0.78;
    colors.fill(shade, 3 * face, 3 * face + 9);
  }
  flat.setAttribute('color', new THREE.BufferAttribute(colors, 3));
  return flat;
}

function withoutMarks(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  const count = geometry.getAttribute('position').count;
  geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(3 * count).fill(1), 3));
  return geometry;
}

/** A coil along z of length 1 and radius 1. */
function makeCoil(): THREE.BufferGeometry {
  const turns = 9;
  class Coil extends THREE.Curve<THREE.Vector3> {
    constructor() { super(); }
    override getPoint(t: number, target = new THREE.Vector3()): THREE.Vector3 {
      const inner = Math.min(1, Math.max(0, (t - 0.08) / 0.84));
      const radius = t < 0.08 || t > 0.92 ? 0 : Math.min(1, 12 * Math.min(inner, 1 - inner));
      const angle = 2 * Math.PI * turns * inner;
      return target.set(radius * Math.cos(angle), radius * Math.sin(angle), t - 0.5);
    }
  }
  return new THREE.TubeGeometry(new Coil(), 180, 0.02, 5);
}

type Group = 'sphere' | 'box' | 'cylinder' | 'spring' | `triangles ${number}`;

/** One drawn thing: which frame carries it, and how it lies there. */
interface Instance {
  frame: number;
  local: THREE.Matrix4;
  color: THREE.Color;
  stretches: boolean;  // along z, by the length of its link
}

const poseMatrix = (pose: Pose7, scale: THREE.Vector3, target = new THREE.Matrix4()): THREE.Matrix4 =>
  target.compose(new THREE.Vector3(pose[0], pose[1], pose[2]),
                 new THREE.Quaternion(pose[4], pose[5], pose[6], pose[3]), scale);

/** Radius of a shape around its own origin; infinite for a plane. */
export function radiusOf(geometry: GeometryInfo): number {
  switch (geometry.type) {
    case 'sphere': return geometry.radius;
    case 'capsule': return geometry.radius + geometry.length / 2;
    case 'cylinder': return Math.hypot(geometry.radius, geometry.length / 2);
    case 'box': return Math.hypot(...geometry.size) / 2;
    case 'ellipsoid': return Math.max(...geometry.radii);
    case 'plane': return Infinity;
    case 'triangles': return NaN;  // known when it is here
    case 'rod': case 'spring': return geometry.radius;
  }
}

export interface BodyLook {
  opacity: number;
  tint?: THREE.Color;
  merges?: boolean;  // many shapes become one mesh: there is no graphics card
}

export class Bodies {
  readonly group = new THREE.Group();
  /** World matrix of every frame, sixteen numbers each. */
  readonly matrices: Float32Array;
  /** Radius of every frame around its origin, 0 without shapes, infinite with a plane. */
  readonly radii: Float64Array;
  /** What a frame's shapes are within, in the frame; without planes. */
  private readonly boxes: THREE.Box3[];
  readonly frameOfInstance = new Map<THREE.InstancedMesh, Int32Array>();

  private readonly instances = new Map<Group, Instance[]>();
  private readonly meshes = new Map<Group, THREE.InstancedMesh>();
  readonly lengths: Float32Array;
  private readonly merged = new Map<Group, MergedMesh>();
  private readonly closed: THREE.Material;  // nobody sees its inside
  private readonly open: THREE.Material;
  private readonly sheer: THREE.Material;  // what is behind it shows
  private readonly scratch = new THREE.Matrix4();

  constructor(private readonly header: Header, private readonly look: BodyLook) {
    this.matrices = new Float32Array(16 * header.frames.length);
    this.radii = new Float64Array(header.frames.length);
    this.boxes = header.frames.map(() => new THREE.Box3());
    this.lengths = new Float32Array(Math.max(1, header.numLinks)).fill(1);
    const one = new THREE.Vector3(1, 1, 1);
    header.frames.forEach((frame, i) => poseMatrix(frame.start, one, this.scratch).toArray(this.matrices, 16 * i));
    const material = (side: THREE.Side, opacity: number): THREE.Material => new THREE.MeshLambertMaterial({
      vertexColors: true, transparent: opacity < 1, opacity, depthWrite: opacity === 1, side});
    this.closed = material(THREE.FrontSide, look.opacity);
    this.open = material(THREE.DoubleSide, look.opacity);
    this.sheer = material(THREE.DoubleSide, WALL_OPACITY * look.opacity);
  }

  /** Makes the meshes; those of triangles come as they are loaded. */
  async build(recording: Recording): Promise<void> {
    const one = new THREE.Vector3(1, 1, 1);
    this.header.shapes.forEach((shape) => {
      const geometry = this.header.geometries[shape.geometry];
      const radius = radiusOf(geometry);
      const offset = Math.hypot(shape.pose[0], shape.pose[1], shape.pose[2]);
      if (!Number.isNaN(radius)) this.radii[shape.frame] = Math.max(this.radii[shape.frame], radius + offset);
      if (Number.isFinite(radius)) {
        const cube = new THREE.Box3().expandByPoint(new THREE.Vector3()).expandByScalar(radius);
        if (geometry.type === 'box') cube.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3(...geometry.size));
        this.boxes[shape.frame].union(cube.applyMatrix4(poseMatrix(shape.pose, one)));
      }
      this.addShape(shape.frame, geometry, shape.geometry, shape.pose, this.colorOf(shape.frame, shape.color));
    });
    // Among many each is small in the picture.
    const segments = this.header.shapes.length <= 300 ? 24 : this.look.merges ? 8 : 12;
    for (const [name, list] of this.instances) {
      if (name === 'sphere') this.addMesh(name, list, makeSphere(segments / 4));
      if (name === 'box') this.addMesh(name, list, withoutMarks(new THREE.BoxGeometry(1, 1, 1)));
      if (name === 'cylinder')
        this.addMesh(name, list, withMarks(new THREE.CylinderGeometry(1, 1, 1, segments, 2).rotateX(Math.PI / 2)));
      if (name === 'spring') this.addMesh(name, list, withoutMarks(makeCoil()));
    }
    await Promise.all(this.header.geometries.map(async (geometry, index) => {
      const list = this.instances.get(`triangles ${index}`);
      if (geometry.type !== 'triangles' || !list) return;
      const triangles = makeTriangles(await recording.geometry(geometry.resource));
      const mesh = withoutMarks(triangles.toNonIndexed());  // faces show as faces
      mesh.computeVertexNormals();
      mesh.computeBoundingSphere();
      mesh.computeBoundingBox();
      const sphere = mesh.boundingSphere!;
      const reach = sphere.radius + sphere.center.length();
      for (const instance of list) {
        const offset = new THREE.Vector3().setFromMatrixPosition(instance.local).length();
        this.radii[instance.frame] = Math.max(this.radii[instance.frame], reach + offset);
        this.boxes[instance.frame].union(mesh.boundingBox!.clone().applyMatrix4(instance.local));
      }
      this.addMesh(`triangles ${index}`, list, mesh, this.isWall(list, triangles) ? this.sheer : this.open);
    }));
  }

  /** A sheet that stands still and hides what is behind it: a funnel is one, a hill is not. */
  private isWall(list: Instance[], triangles: THREE.BufferGeometry): boolean {
    const up = new THREE.Vector3(...this.header.up).normalize();
    return list.every(({frame, local}) => this.header.frames[frame].kind === 'static' &&
                      isSteep(triangles, this.matrixOf(frame).multiply(local), up)) && hasRim(triangles);
  }

  private colorOf(frame: number, given: string | undefined): THREE.Color {
    const info = this.header.frames[frame];
    const color = parseColor(given) ??
      (info.kind === 'static' ? new THREE.Color(STATIC_COLOR) : colorOfBody(frame));
    return this.look.tint ? color.clone().lerp(this.look.tint, 0.65) : color;
  }

  private addShape(frame: number, geometry: GeometryInfo, index: number, pose: Pose7, color: THREE.Color): void {
    const put = (group: Group, scale: THREE.Vector3, shift = 0, stretches = false): void => {
      const local = poseMatrix(pose, new THREE.Vector3(1, 1, 1));
      local.multiply(new THREE.Matrix4().makeTranslation(0, 0, shift));
      local.scale(scale);
      const list = this.instances.get(group) ?? [];
      list.push({frame, local, color, stretches});
      this.instances.set(group, list);
    };
    const vector = (x: number, y: number, z: number): THREE.Vector3 => new THREE.Vector3(x, y, z);
    switch (geometry.type) {
      case 'sphere': put('sphere', vector(geometry.radius, geometry.radius, geometry.radius)); break;
      case 'ellipsoid': put('sphere', vector(...geometry.radii)); break;
      case 'box': put('box', vector(...geometry.size)); break;
      case 'cylinder': put('cylinder', vector(geometry.radius, geometry.radius, geometry.length)); break;
      case 'capsule': {
        const r = geometry.radius;
        if (geometry.length > 0) put('cylinder', vector(r, r, geometry.length));
        for (const end of [-0.5, 0.5]) put('sphere', vector(r, r, r), end * geometry.length);
        break;
      }
      case 'rod': put('cylinder', vector(geometry.radius, geometry.radius, 1), 0, true); break;
      case 'spring': put('spring', vector(geometry.radius, geometry.radius, 1), 0, true); break;
      case 'triangles': put(`triangles ${index}`, vector(1, 1, 1)); break;
      case 'plane': break;  // the ground's business
    }
  }

  private addMesh(name: Group, list: Instance[], geometry: THREE.BufferGeometry, material = this.closed): void {
    const mesh = new THREE.InstancedMesh(geometry, material, list.length);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.frustumCulled = false;  // its bounds change with every row
    mesh.castShadow = this.look.opacity === 1;
    mesh.receiveShadow = this.look.opacity === 1;
    mesh.renderOrder = material.transparent ? 1 : 0;
    if (this.look.merges && MergedMesh.isWorthwhile(geometry, list.length)) this.merge(name, mesh, list);
    this.frameOfInstance.set(mesh, Int32Array.from(list, (instance) => instance.frame));
    list.forEach((instance, i) => mesh.setColorAt(i, instance.color));
    this.meshes.set(name, mesh);
    this.group.add(mesh);
    this.place();
  }

  /** Draws the instances as one mesh; they themselves stay for picking. */
  private merge(name: Group, mesh: THREE.InstancedMesh, list: Instance[]): void {
    const merged = new MergedMesh(mesh.geometry, mesh.material as THREE.Material, list.length);
    mesh.visible = false;
    mesh.instanceMatrix = new THREE.InstancedBufferAttribute(merged.matrices.subarray(0, 16 * list.length), 16);
    merged.mesh.castShadow = mesh.castShadow;
    merged.mesh.receiveShadow = mesh.receiveShadow;
    merged.mesh.renderOrder = mesh.renderOrder;
    merged.paint((i) => list[i].color);
    this.merged.set(name, merged);
    this.group.add(merged.mesh);
  }

  /** Moves everything to a row of a chunk of poses. */
  update(arrays: Arrays, row: number): void {
    const poses = arrays['pose'];
    const stride = 7 * this.header.numPoses;
    const frames = this.header.frames;
    for (let i = 0; i < frames.length; ++i) {
      if (frames[i].pose < 0) continue;
      writeMatrix(poses, row * stride + 7 * frames[i].pose, this.matrices, 16 * i);
    }
    const lengths = arrays['length'];
    for (let i = 0; i < this.header.numLinks; ++i) this.lengths[i] = lengths[row * this.header.numLinks + i];
    this.place();
  }

  private place(): void {
    for (const [name, mesh] of this.meshes) {
      const list = this.instances.get(name)!;
      const out = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < list.length; ++i) {
        const {frame, local, stretches} = list[i];
        const link = stretches ? this.header.frames[frame].link : -1;
        multiply(this.matrices, 16 * frame, local.elements, link >= 0 ? this.lengths[link] : 1, out, 16 * i);
      }
      mesh.instanceMatrix.needsUpdate = true;
      this.merged.get(name)?.update();
    }
  }

  /** Colours frames by a function; without one as they are by themselves. */
  paint(colorOf?: (frame: number) => THREE.Color | undefined): void {
    for (const [name, mesh] of this.meshes) {
      const list = this.instances.get(name)!;
      this.merged.get(name)?.paint((i) => colorOf?.(list[i].frame) ?? list[i].color);
      list.forEach((instance, i) => mesh.setColorAt(i, colorOf?.(instance.frame) ?? instance.color));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  positionOf(frame: number, target = new THREE.Vector3()): THREE.Vector3 {
    return target.fromArray(this.matrices, 16 * frame + 12);
  }
  /** In the world; empty without shapes or with planes only. */
  boxOf(frame: number): THREE.Box3 {
    return this.boxes[frame].clone().applyMatrix4(this.matrixOf(frame));
  }
  matrixOf(frame: number, target = new THREE.Matrix4()): THREE.Matrix4 {
    return frame < 0 ? target.identity() : target.fromArray(this.matrices, 16 * frame);
  }
}

/** A pose as a matrix, column by column. */
function writeMatrix(pose: ArrayLike<number>, at: number, out: Float32Array, to: number): void {
  const w = pose[at + 3], x = pose[at + 4], y = pose[at + 5], z = pose[at + 6];
  const s = 2 / (w * w + x * x + y * y + z * z);
  out[to] = 1 - s * (y * y + z * z);
  out[to + 1] = s * (x * y + z * w);
  out[to + 2] = s * (x * z - y * w);
  out[to + 3] = 0;
  out[to + 4] = s * (x * y - z * w);
  out[to + 5] = 1 - s * (x * x + z * z);
  out[to + 6] = s * (y * z + x * w);
  out[to + 7] = 0;
  out[to + 8] = s * (x * z + y * w);
  out[to + 9] = s * (y * z - x * w);
  out[to + 10] = 1 - s * (x * x + y * y);
  out[to + 11] = 0;
  out[to + 12] = pose[at];
  out[to + 13] = pose[at + 1];
  out[to + 14] = pose[at + 2];
  out[to + 15] = 1;
}

/** out = a · b for matrices whose last row is 0 0 0 1; the third column of b times `stretch`. */
function multiply(a: Float32Array, at: number, b: number[], stretch: number, out: Float32Array, to: number): void {
  for (let column = 0; column < 4; ++column) {
    const factor = column === 2 ? stretch : 1;
    const x = b[4 * column] * factor, y = b[4 * column + 1] * factor, z = b[4 * column + 2] * factor;
    const w = column === 3 ? 1 : 0;
    for (let row = 0; row < 3; ++row)
      out[to + 4 * column + row] = a[at + row] * x + a[at + 4 + row] * y + a[at + 8 + row] * z + a[at + 12 + row] * w;
    out[to + 4 * column + 3] = w;
  }
}
