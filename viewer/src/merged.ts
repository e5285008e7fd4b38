// Many equal shapes as one mesh. A renderer without graphics card draws every instance of an instanced mesh by itself,
// which takes longer than what there is to draw of a small shape; here each vertex knows its shape, and finds the place of it
// in a texture.
import * as THREE from 'three';

const MATRICES_PER_ROW = 256;
/** Below so many shapes instances do as well; above so many vertices there is no room to spare. */
const FEWEST = 30;
const MOST_VERTICES = 600000;

const DECLARATIONS = `
  attribute float slot;
  uniform highp sampler2D places;
  mat4 findPlace() {
    int first = 4 * int(slot + 0.5);
    ivec2 at = ivec2(first % ${4 * MATRICES_PER_ROW}, first / ${4 * MATRICES_PER_ROW});
    return mat4(texelFetch(places, at, 0), texelFetch(places, at + ivec2(1, 0), 0),
                texelFetch(places, at + ivec2(2, 0), 0), texelFetch(places, at + ivec2(3, 0), 0));
  }`;
/** As three.js turns normals of instances. */
const NORMAL = `
  mat3 turn = mat3(findPlace());
  objectNormal = turn * (objectNormal / vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2])));`;
const POSITION = 'transformed = (findPlace() * vec4(transformed, 1.0)).xyz;';

function withPlaces<M extends THREE.Material>(material: M, places: THREE.Texture): M {
  material.onBeforeCompile = (shader) => {
    shader.uniforms['places'] = {value: places};
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', `#include <common>\n${DECLARATIONS}`)
      .replace('#include <beginnormal_vertex>', `#include <beginnormal_vertex>\n${NORMAL}`)
      .replace('#include <begin_vertex>', `#include <begin_vertex>\n${POSITION}`);
  };
  return material;
}

export class MergedMesh {
  readonly mesh: THREE.Mesh;
  /** Sixteen numbers per shape, which instances may share. */
  readonly matrices: Float32Array;
  private readonly places: THREE.DataTexture;
  private readonly shades: Float32Array;  // of the shape's own vertices
  private readonly colors: THREE.BufferAttribute;

  static isWorthwhile(shape: THREE.BufferGeometry, count: number): boolean {
    return count >= FEWEST && count * shape.getAttribute('position').count <= MOST_VERTICES;
  }

  constructor(shape: THREE.BufferGeometry, material: THREE.Material, private readonly count: number) {
    const rows = Math.ceil(count / MATRICES_PER_ROW);
    this.matrices = new Float32Array(16 * MATRICES_PER_ROW * rows);
    this.places = new THREE.DataTexture(this.matrices, 4 * MATRICES_PER_ROW, rows, THREE.RGBAFormat, THREE.FloatType);
    const size = shape.getAttribute('position').count;
    const geometry = new THREE.BufferGeometry();
    const repeat = (values: ArrayLike<number>): Float32Array => {
      const all = new Float32Array(values.length * count);
      for (let i = 0; i < count; ++i) all.set(values, i * values.length);
      return all;
    };
    for (const name of ['position', 'normal'])
      geometry.setAttribute(name, new THREE.BufferAttribute(repeat(shape.getAttribute(name).array), 3));
    geometry.setAttribute('slot', new THREE.BufferAttribute(new Float32Array(size * count).map((_value, i) => Math.floor(i / size)), 1));
    this.shades = Float32Array.from(shape.getAttribute('color').array);
    this.colors = new THREE.BufferAttribute(repeat(this.shades), 3);
    geometry.setAttribute('color', this.colors);
    const index = shape.getIndex();
    if (index) {
      const all = new Uint32Array(index.count * count);
      for (let i = 0; i < all.length; ++i) all[i] = index.getX(i % index.count) + size * Math.floor(i / index.count);
      geometry.setIndex(new THREE.BufferAttribute(all, 1));
    }
    this.mesh = new THREE.Mesh(geometry, withPlaces(material.clone(), this.places));
    this.mesh.customDepthMaterial = withPlaces(new THREE.MeshDepthMaterial({depthPacking: THREE.RGBADepthPacking}), this.places);
    this.mesh.frustumCulled = false;
    this.mesh.raycast = () => undefined;  // instances that are not drawn do that
  }

  /** After matrices have changed. */
  update(): void {
    this.places.needsUpdate = true;
  }
  paint(colorOf: (i: number) => THREE.Color): void {
    const {shades} = this;
    const colors = this.colors.array;
    for (let i = 0; i < this.count; ++i) {
      const {r, g, b} = colorOf(i);
      for (let k = 0, to = i * shades.length; k < shades.length; k += 3, to += 3) {
        colors[to] = shades[k] * r;
        colors[to + 1] = shades[k + 1] * g;
        colors[to + 2] = shades[k + 2] * b;
      }
    }
    this.colors.needsUpdate = true;
  }
}
