// Many arrows, balls and cones as instanced meshes that grow as needed.
import * as THREE from 'three';

const UP = new THREE.Vector3(0, 0, 1);

/** From so many on they are drawn with few triangles: nobody counts the sides of a thousand arrows. */
const MANY = 400;

/** Instances of one shape along z of height 1, each with a place, a direction, sizes and a colour. */
class Instances {
  readonly mesh: THREE.InstancedMesh;
  private count = 0;
  private static readonly quaternion = new THREE.Quaternion();
  private static readonly matrix = new THREE.Matrix4();
  private static readonly scale = new THREE.Vector3();

  constructor(private readonly parent: THREE.Object3D, private readonly fine: THREE.BufferGeometry,
              private readonly coarse: THREE.BufferGeometry, material: THREE.Material, private capacity = 64) {
    this.mesh = this.make(fine, material);
  }

  private make(geometry: THREE.BufferGeometry, material: THREE.Material): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(geometry, material, this.capacity);
    mesh.frustumCulled = false;
    mesh.count = 0;
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * this.capacity), 3);
    this.parent.add(mesh);
    return mesh;
  }

  begin(): void {
    this.count = 0;
  }
  add(at: THREE.Vector3, direction: THREE.Vector3, width: number, height: number, color: THREE.Color): void {
    if (this.count === this.capacity) this.grow();
    Instances.quaternion.setFromUnitVectors(UP, direction);
    Instances.matrix.compose(at, Instances.quaternion, Instances.scale.set(width, width, height));
    Instances.matrix.toArray(this.mesh.instanceMatrix.array, 16 * this.count);
    color.toArray(this.mesh.instanceColor!.array, 3 * this.count);
    ++this.count;
  }
  end(): void {
    this.mesh.count = this.count;
    this.mesh.visible = this.count > 0;
    this.mesh.geometry = this.count > MANY ? this.coarse : this.fine;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor!.needsUpdate = true;
  }

  private grow(): void {
    const old = this.mesh;
    this.capacity *= 2;
    const matrices = new THREE.InstancedBufferAttribute(new Float32Array(16 * this.capacity), 16);
    const colors = new THREE.InstancedBufferAttribute(new Float32Array(3 * this.capacity), 3);
    (matrices.array as Float32Array).set(old.instanceMatrix.array as Float32Array);
    (colors.array as Float32Array).set(old.instanceColor!.array as Float32Array);
    old.dispose();  // the buffers on the device; new ones are made when it is drawn next
    old.instanceMatrix = matrices;
    old.instanceColor = colors;
  }
}

/** Arrows that look the same from every side. */
export class Arrows {
  private readonly shafts: Instances;
  private readonly heads: Instances;
  private readonly tip = new THREE.Vector3();
  private readonly direction = new THREE.Vector3();
  count = 0;

  constructor(parent: THREE.Object3D, private readonly width: () => number) {
    const material = new THREE.MeshBasicMaterial();
    const shaft = (sides: number): THREE.BufferGeometry =>
      new THREE.CylinderGeometry(1, 1, 1, sides, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const head = (sides: number, isOpen: boolean): THREE.BufferGeometry =>
      new THREE.ConeGeometry(1, 1, sides, 1, isOpen).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.shafts = new Instances(parent, shaft(6), shaft(3), material);
    this.heads = new Instances(parent, head(10, false), head(4, true), material);
  }

  begin(): void {
    this.count = 0;
    this.shafts.begin();
    this.heads.begin();
  }
  /** An arrow from `at` along `vector`. */
  add(at: THREE.Vector3, vector: THREE.Vector3, color: THREE.Color): void {
    const length = vector.length();
    const width = this.width();
    if (!(length > 0.3 * width)) return;
    this.direction.copy(vector).divideScalar(length);
    const head = Math.min(0.45 * length, 5 * width);
    this.shafts.add(at, this.direction, width, length - head, color);
    this.tip.copy(at).addScaledVector(this.direction, length - head);
    this.heads.add(this.tip, this.direction, Math.min(2.4 * width, 0.5 * head), head, color);
    ++this.count;
  }
  end(): void {
    this.shafts.end();
    this.heads.end();
  }
}

export class Balls {
  private readonly instances: Instances;
  constructor(parent: THREE.Object3D, isOnTop: boolean) {
    const material = new THREE.MeshBasicMaterial({depthTest: !isOnTop, transparent: isOnTop});
    this.instances = new Instances(parent, new THREE.IcosahedronGeometry(1, 1), new THREE.OctahedronGeometry(1), material);
    this.instances.mesh.renderOrder = isOnTop ? 5 : 0;
  }
  begin(): void {
    this.instances.begin();
  }
  add(at: THREE.Vector3, radius: number, color: THREE.Color): void {
    this.instances.add(at, UP, radius, radius, color);
  }
  end(): void {
    this.instances.end();
  }
}

/** Friction cones with the apex at the contact. */
export class Cones {
  private readonly instances: Instances;
  constructor(parent: THREE.Object3D) {
    const material = new THREE.MeshBasicMaterial(
      {transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false});
    const cone = (sides: number): THREE.BufferGeometry =>
      new THREE.ConeGeometry(1, 1, sides, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
    this.instances = new Instances(parent, cone(24), cone(8), material);
    this.instances.mesh.renderOrder = 3;
  }
  begin(): void {
    this.instances.begin();
  }
  add(at: THREE.Vector3, normal: THREE.Vector3, height: number, radius: number, color: THREE.Color): void {
    this.instances.add(at, normal, radius, height, color);
  }
  end(): void {
    this.instances.end();
  }
}
