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

/** Rows of numbers that grow as needed, one per instance of a shape. */
class Columns {
  count = 0;
  private capacity = 64;
  private arrays: Float32Array[];

  constructor(private readonly geometry: THREE.InstancedBufferGeometry, private readonly widths: Record<string, number>) {
    this.arrays = Object.values(widths).map((width) => new Float32Array(width * this.capacity));
    this.attach();
  }

  private attach(): void {
    Object.keys(this.widths).forEach((name, i) => {
      const attribute = new THREE.InstancedBufferAttribute(this.arrays[i], this.widths[name]);
      attribute.setUsage(THREE.DynamicDrawUsage);
      this.geometry.setAttribute(name, attribute);
    });
  }
  /** Room for one more. */
  add(): number {
    if (this.count === this.capacity) {
      this.capacity *= 2;
      this.arrays = this.arrays.map((old) => { const larger = new Float32Array(2 * old.length); larger.set(old); return larger; });
      this.geometry.dispose();  // the buffers on the device; new ones are made when it is drawn next
      this.attach();
    }
    return this.count++;
  }
  column(i: number): Float32Array {
    return this.arrays[i];
  }
  end(): void {
    this.geometry.instanceCount = this.count;
    for (const name of Object.keys(this.widths)) {
      const attribute = this.geometry.getAttribute(name) as THREE.InstancedBufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.count * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }
}

/** An unlit mesh of which every instance turns to the camera: few vertices, which is what counts without a graphics card. */
function makeBillboards(geometry: THREE.InstancedBufferGeometry, vertexShader: string, uniforms: Record<string, THREE.IUniform>, isOnTop: boolean): THREE.Mesh {
  const material = new THREE.ShaderMaterial({
    vertexShader: `attribute vec3 tint; varying vec3 shade; ${vertexShader}`,
    fragmentShader: 'varying vec3 shade;\nvoid main() {\n  gl_FragColor = vec4(shade, 1.0);\n  #include <colorspace_fragment>\n}',
    uniforms, side: THREE.DoubleSide, depthTest: !isOnTop, transparent: isOnTop});
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.matrixAutoUpdate = false;
  return mesh;
}

/**
 * Flat arrows that turn to the camera: a shaft of two triangles and a head of one. A vertex is (across, along the
 * shaft, along the head).
 */
export class Arrows {
  private readonly geometry = new THREE.InstancedBufferGeometry();
  private readonly columns: Columns;
  private readonly mesh: THREE.Mesh;
  private readonly uniforms = {width: {value: 1}};
  count = 0;

  constructor(parent: THREE.Object3D, private readonly width: () => number) {
    this.geometry.setAttribute('position', new THREE.Float32BufferAttribute(
      [-1, 0, 0, 1, 0, 0, 1, 1, 0, -1, 1, 0, -2.4, 1, 0, 2.4, 1, 0, 0, 1, 1], 3));
    this.geometry.setIndex([0, 1, 2, 0, 2, 3, 4, 5, 6]);
    this.columns = new Columns(this.geometry, {origin: 3, along: 3, tint: 3});
    this.mesh = makeBillboards(this.geometry, `
      attribute vec3 origin; attribute vec3 along; uniform float width;
      void main() {
        float size = length(along);
        float head = min(0.45 * size, 5.0 * width);
        vec3 axis = along / size;
        vec3 place = origin + axis * (position.y * (size - head) + position.z * head);
        vec3 across = cross(axis, cameraPosition - place);
        float far = length(across);
        // Looked at from its tip an arrow has no width to show.
        across = far > 1e-9 * length(cameraPosition - place) ? across / far : vec3(0.0);
        float half_width = abs(position.x) > 1.5 ? min(2.4 * width, 0.5 * head) / 2.4 : width;
        shade = tint;
        gl_Position = projectionMatrix * viewMatrix * vec4(place + across * (position.x * half_width), 1.0);
      }`, this.uniforms, false);
    parent.add(this.mesh);
  }

  begin(): void {
    this.count = this.columns.count = 0;
    this.uniforms.width.value = this.width();
  }
  /** An arrow from `at` along `vector`. */
  add(at: THREE.Vector3, vector: THREE.Vector3, color: THREE.Color): void {
    if (!(vector.lengthSq() > (0.3 * this.uniforms.width.value) ** 2)) return;
    const i = this.columns.add();
    at.toArray(this.columns.column(0), 3 * i);
    vector.toArray(this.columns.column(1), 3 * i);
    color.toArray(this.columns.column(2), 3 * i);
    ++this.count;
  }
  end(): void {
    this.columns.end();
    this.mesh.visible = this.count > 0;
  }
}

/** Dots, as eight-sided discs that turn to the camera. */
export class Balls {
  private readonly geometry = new THREE.InstancedBufferGeometry();
  private readonly columns: Columns;
  private readonly mesh: THREE.Mesh;
  constructor(parent: THREE.Object3D, isOnTop: boolean) {
    const sides = 8;
    const corners: number[] = [];
    const triangles: number[] = [];
    for (let k = 0; k < sides; ++k) {
      corners.push(Math.cos(2 * Math.PI * k / sides), Math.sin(2 * Math.PI * k / sides), 0);
      if (k >= 2) triangles.push(0, k - 1, k);
    }
    this.geometry.setAttribute('position', new THREE.Float32BufferAttribute(corners, 3));
    this.geometry.setIndex(triangles);
    this.columns = new Columns(this.geometry, {place: 4, tint: 3});
    this.mesh = makeBillboards(this.geometry, `
      attribute vec4 place;
      void main() {
        shade = tint;
        gl_Position = projectionMatrix * (viewMatrix * vec4(place.xyz, 1.0) + vec4(position.xy * place.w, 0.0, 0.0));
      }`, {}, isOnTop);
    this.mesh.renderOrder = isOnTop ? 5 : 0;
    parent.add(this.mesh);
  }
  begin(): void {
    this.columns.count = 0;
  }
  add(at: THREE.Vector3, radius: number, color: THREE.Color): void {
    const i = this.columns.add();
    const place = this.columns.column(0);
    at.toArray(place, 4 * i);
    place[4 * i + 3] = radius;
    color.toArray(this.columns.column(1), 3 * i);
  }
  end(): void {
    this.columns.end();
    this.mesh.visible = this.columns.count > 0;
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
