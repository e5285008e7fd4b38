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

/**
 * Vertices of equal figures, all in one mesh. Not instances: a renderer without graphics card draws each instance by
 * itself, which takes longer than the few vertices of an arrow.
 */
class Figures {
  count = 0;
  readonly geometry = new THREE.BufferGeometry();
  private capacity = 64;
  private arrays: Float32Array[] = [];

  /** `corners` has three numbers for each vertex of a figure; other attributes are the same for all of its vertices. */
  constructor(private readonly corners: number[], private readonly triangles: number[], private readonly widths: Record<string, number>) {
    this.make();
  }
  get perFigure(): number {
    return this.corners.length / 3;
  }

  private make(): void {
    const {capacity, perFigure} = this;
    const corners = new Float32Array(this.corners.length * capacity);
    for (let i = 0; i < capacity; ++i) corners.set(this.corners, i * this.corners.length);
    this.geometry.setAttribute('position', new THREE.BufferAttribute(corners, 3));
    if (this.triangles.length > 0) {
      const index = new Uint32Array(this.triangles.length * capacity);
      for (let i = 0; i < index.length; ++i)
        index[i] = this.triangles[i % this.triangles.length] + perFigure * Math.floor(i / this.triangles.length);
      this.geometry.setIndex(new THREE.BufferAttribute(index, 1));
    }
    this.arrays = Object.entries(this.widths).map(([name, width], k) => {
      const array = new Float32Array(width * perFigure * capacity);
      if (this.arrays[k]) array.set(this.arrays[k]);
      this.geometry.setAttribute(name, new THREE.BufferAttribute(array, width).setUsage(THREE.DynamicDrawUsage));
      return array;
    });
  }
  /** Room for one more, and its number. */
  add(): number {
    if (this.count === this.capacity) {
      this.capacity *= 2;
      this.geometry.dispose();  // the buffers on the device; new ones are made when it is drawn next
      this.make();
    }
    return this.count++;
  }
  /** Sets three numbers of attribute k, and a fourth if there is one. */
  put(k: number, figure: number, width: number, x: number, y: number, z: number, w = 0): void {
    const array = this.arrays[k];
    const {perFigure} = this;
    for (let i = figure * perFigure * width; i < (figure + 1) * perFigure * width; i += width) {
      array[i] = x;
      array[i + 1] = y;
      array[i + 2] = z;
      if (width > 3) array[i + 3] = w;
    }
  }
  end(): void {
    this.geometry.setDrawRange(0, this.count * (this.triangles.length > 0 ? this.triangles.length : this.perFigure));
    for (const name of Object.keys(this.widths)) {
      const attribute = this.geometry.getAttribute(name) as THREE.BufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.count * this.perFigure * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }
}

/** Unlit, and turned to the camera by its shader. */
function makeMaterial(vertexShader: string, fragment: string, uniforms: Record<string, THREE.IUniform>, isOnTop: boolean): THREE.ShaderMaterial {
  return new THREE.ShaderMaterial({
    vertexShader: `attribute vec3 tint; varying vec3 shade; ${vertexShader}`,
    fragmentShader: `varying vec3 shade;\nvoid main() {\n  ${fragment}\n  gl_FragColor = vec4(shade, 1.0);\n  #include <colorspace_fragment>\n}`,
    uniforms, side: THREE.DoubleSide, depthTest: !isOnTop, transparent: isOnTop});
}

/**
 * Flat arrows that turn to the camera: a shaft of two triangles and a head of one. A vertex is (across, along the
 * shaft, along the head).
 */
export class Arrows {
  private readonly figures = new Figures([-1, 0, 0, 1, 0, 0, 1, 1, 0, -1, 1, 0, -2.4, 1, 0, 2.4, 1, 0, 0, 1, 1],
                                         [0, 1, 2, 0, 2, 3, 4, 5, 6], {origin: 3, along: 3, tint: 3});
  private readonly mesh: THREE.Mesh;
  private readonly uniforms = {width: {value: 1}};
  count = 0;

  constructor(parent: THREE.Object3D, private readonly width: () => number) {
    this.mesh = new THREE.Mesh(this.figures.geometry, makeMaterial(`
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
      }`, '', this.uniforms, false));
    this.mesh.frustumCulled = false;
    parent.add(this.mesh);
  }

  begin(): void {
    this.count = this.figures.count = 0;
    this.uniforms.width.value = this.width();
  }
  /** An arrow from `at` along `vector`. */
  add(at: THREE.Vector3, vector: THREE.Vector3, color: THREE.Color): void {
    if (!(vector.lengthSq() > (0.3 * this.uniforms.width.value) ** 2)) return;
    const i = this.figures.add();
    this.figures.put(0, i, 3, at.x, at.y, at.z);
    this.figures.put(1, i, 3, vector.x, vector.y, vector.z);
    this.figures.put(2, i, 3, color.r, color.g, color.b);
    ++this.count;
  }
  end(): void {
    this.figures.end();
    this.mesh.visible = this.count > 0;
  }
}

/** Round dots, a vertex each. */
export class Balls {
  private readonly figures = new Figures([0, 0, 0], [], {place: 4, tint: 3});
  private readonly points: THREE.Points;

  constructor(parent: THREE.Object3D, isOnTop: boolean) {
    const uniforms = {pixels: {value: 1}};
    this.points = new THREE.Points(this.figures.geometry, makeMaterial(`
      attribute vec4 place; uniform float pixels;
      void main() {
        shade = tint;
        gl_Position = projectionMatrix * viewMatrix * vec4(place.xyz, 1.0);
        gl_PointSize = max(2.0, place.w * projectionMatrix[1][1] * pixels / gl_Position.w);
      }`, 'if (length(gl_PointCoord - 0.5) > 0.5) discard;', uniforms, isOnTop));
    this.points.frustumCulled = false;
    this.points.renderOrder = isOnTop ? 5 : 0;
    const size = new THREE.Vector2();
    this.points.onBeforeRender = (renderer) => { uniforms.pixels.value = renderer.getDrawingBufferSize(size).y; };
    parent.add(this.points);
  }
  begin(): void {
    this.figures.count = 0;
  }
  add(at: THREE.Vector3, radius: number, color: THREE.Color): void {
    const i = this.figures.add();
    this.figures.put(0, i, 4, at.x, at.y, at.z, radius);
    this.figures.put(1, i, 3, color.r, color.g, color.b);
  }
  end(): void {
    this.figures.end();
    this.points.visible = this.figures.count > 0;
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
