// Shapes that come as triangles.
import * as THREE from 'three';
import type {Arrays} from './source';

export function makeTriangles(arrays: Arrays): THREE.BufferGeometry {
  const triangles = new THREE.BufferGeometry();
  triangles.setAttribute('position', new THREE.BufferAttribute(arrays['vertices'], 3));
  triangles.setIndex(new THREE.BufferAttribute(arrays['triangles'], 1));
  return triangles;
}

/** More area of the triangles is steeper than 45 degrees than not. */
export function isSteep(triangles: THREE.BufferGeometry, place: THREE.Matrix4, up: THREE.Vector3): boolean {
  const corners = triangles.getIndex()!;
  const position = triangles.getAttribute('position');
  const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  let balance = 0;
  for (let first = 0; first < corners.count; first += 3) {
    a.fromBufferAttribute(position, corners.getX(first));
    b.fromBufferAttribute(position, corners.getX(first + 1)).sub(a);
    c.fromBufferAttribute(position, corners.getX(first + 2)).sub(a);
    const area = b.cross(c).length();
    balance += Math.abs(b.transformDirection(place).dot(up)) < Math.SQRT1_2 ? area : -area;
  }
  return balance > 0;
}

/** Some edge has no second triangle. */
export function hasRim(triangles: THREE.BufferGeometry): boolean {
  const corners = triangles.getIndex()!;
  const count = triangles.getAttribute('position').count;
  const unmatched = new Set<number>();
  for (let first = 0; first < corners.count; first += 3)
    for (let k = 0; k < 3; ++k) {
      const from = corners.getX(first + k), to = corners.getX(first + (k + 1) % 3);
      const edge = count * Math.min(from, to) + Math.max(from, to);
      if (!unmatched.delete(edge)) unmatched.add(edge);
    }
  return unmatched.size > 0;
}
