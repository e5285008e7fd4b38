// Camera, light and ground. Knows nothing of recordings but how large things are.
import * as THREE from 'three';
import {OrbitControls} from 'three/addons/controls/OrbitControls.js';
import {WALL_OPACITY} from './palette';
import type {Pose7} from './recording';

export interface Bounds {
  center: THREE.Vector3;
  radius: number;
  half: THREE.Vector3;  // extent from the centre along the axes
  floor: number;  // along the upward direction: where a grid goes if the scene has no ground
}

/** 1, 2 or 5 times a power of ten, not above x. */
export function roundDown(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const digit = x / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  gridSize = 1;

  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.1);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x8a9099, 1.5);
  private readonly ground = new THREE.Group();
  private readonly up: THREE.Vector3;
  private planes: {point: THREE.Vector3; normal: THREE.Vector3}[] = [];
  private isDark = false;
  private bounds: Bounds = {center: new THREE.Vector3(), radius: 1, half: new THREE.Vector3(1, 1, 1), floor: -1};
  private wantsShadows = true;
  isDirty = true;

  /** Throws if there is no WebGL. */
  constructor(container: HTMLElement, up: [number, number, number], private readonly isFlat: boolean, private readonly isPlain: boolean) {
    this.renderer = new THREE.WebGLRenderer({antialias: !isPlain, powerPreference: 'high-performance'});
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    container.append(this.renderer.domElement);
    this.up = new THREE.Vector3(...up).normalize();
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => { this.isDirty = true; });
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0006;
    this.sky.position.copy(this.up);
    this.scene.add(this.sun, this.sun.target, this.sky, this.ground);
    new ResizeObserver(() => this.resize(container)).observe(container);
    this.resize(container);
  }

  /** Pixels at the left that a panel covers: the middle of the picture is that of the rest. */
  setCovered(pixels: number): void {
    this.covered = pixels;
    this.resize(this.renderer.domElement.parentElement!);
  }
  private covered = 0;

  /** Pixels of the picture per pixel of the page, along a side, where nothing is spared. */
  get fullRatio(): number {
    return Math.min(2, window.devicePixelRatio);
  }

  /** A share of them. */
  setSharpness(share: number): void {
    this.sharpness = share;
    this.resize(this.renderer.domElement.parentElement!);
  }
  private sharpness = 1;

  private resize(container: HTMLElement): void {
    const {clientWidth: width, clientHeight: height} = container;
    if (width === 0 || height === 0) return;
    if (this.covered > 0 && width > 2 * this.covered)
      this.camera.setViewOffset(width, height, -this.covered / 2, 0, width, height);
    else this.camera.clearViewOffset();
    this.renderer.setPixelRatio(this.sharpness * this.fullRatio);
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.isDirty = true;
  }

  setDark(isDark: boolean): void {
    this.isDark = isDark;
    this.scene.background = new THREE.Color(isDark ? 0x15181d : 0xf3f5f8);
    this.sky.groundColor.set(isDark ? 0x565c66 : 0x9aa0a9);
    this.sky.intensity = isDark ? 1.35 : 1.75;
    this.buildGround();
    this.isDirty = true;
  }

  setShadows(wants: boolean): void {
    this.wantsShadows = wants;
    this.sun.castShadow = wants;
    if (this.isPlain) this.buildGround();
    this.isDirty = true;
  }

  /** Planes of the scene: a shape's pose in the world, and normal and offset in it. */
  addPlane(pose: Pose7, normal: [number, number, number], offset: number): void {
    const turn = new THREE.Quaternion(pose[4], pose[5], pose[6], pose[3]);
    const n = new THREE.Vector3(...normal);
    const point = n.clone().multiplyScalar(offset).applyQuaternion(turn)
      .add(new THREE.Vector3(pose[0], pose[1], pose[2]));
    this.planes.push({point, normal: n.applyQuaternion(turn).normalize()});
  }

  setBounds(bounds: Bounds): void {
    this.bounds = bounds;
    this.gridSize = roundDown(bounds.radius / 2.5);
    const {center, radius} = bounds;
    // Light from the side of the camera, so that shadows fall away from it.
    const side = this.sideways();
    const toSun = this.up.clone().multiplyScalar(1.9).addScaledVector(side, -0.75)
      .addScaledVector(this.up.clone().cross(side), -0.55).normalize();
    this.sun.position.copy(center).addScaledVector(toSun, 4 * radius);
    this.sun.target.position.copy(center);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -1.7 * radius;
    shadow.right = shadow.top = 1.7 * radius;
    shadow.near = 0.5 * radius;
    shadow.far = 8 * radius;
    shadow.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * radius;
    this.camera.near = radius / 200;
    this.camera.far = radius * 200;
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = radius / 50;
    this.controls.maxDistance = radius * 60;
    this.buildGround();
    this.isDirty = true;
  }

  /** A direction across the upward one: y where z is up. */
  private sideways(): THREE.Vector3 {
    const y = new THREE.Vector3(0, 1, 0);
    const side = y.addScaledVector(this.up, -y.dot(this.up));
    return side.length() > 0.1 ? side.normalize() : new THREE.Vector3(1, 0, 0).addScaledVector(this.up, -this.up.x).normalize();
  }

  /** Puts everything into view; systems in a plane are looked at from the front. */
  frame(): void {
    const {center, half} = this.bounds;
    const side = this.sideways();
    const right = side.clone().cross(this.up);
    const direction = this.isFlat
      ? side.clone().multiplyScalar(-1).addScaledVector(this.up, 0.24).addScaledVector(right, 0.16)
      : side.clone().multiplyScalar(-1).addScaledVector(this.up, 0.55).addScaledVector(right, 0.62);
    const {clientWidth, clientHeight} = this.renderer.domElement;
    const aspect = (clientWidth - (this.camera.view?.enabled ? this.covered : 0)) / Math.max(1, clientHeight);
    const tall = Math.tan(this.camera.fov * Math.PI / 360);
    direction.normalize();
    const across = this.up.clone().cross(direction).normalize();
    const upward = direction.clone().cross(across);
    // As near as all corners of the box are within the picture.
    let distance = 0;
    const corner = new THREE.Vector3();
    for (const x of [-1, 1]) for (const y of [-1, 1]) for (const z of [-1, 1]) {
      corner.set(x * half.x, y * half.y, z * half.z);
      const needed = Math.max(Math.abs(corner.dot(across)) / (tall * aspect), Math.abs(corner.dot(upward)) / tall);
      distance = Math.max(distance, corner.dot(direction) + needed);
    }
    this.camera.position.copy(center).addScaledVector(direction, 1.1 * distance);
    this.controls.target.copy(center);
    this.controls.update();
    this.isDirty = true;
  }

  /** Looks along an axis: 'x', 'y' or 'z' (from above). */
  lookAlong(axis: 'x' | 'y' | 'z'): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const direction = axis === 'z' ? this.up.clone().addScaledVector(this.sideways(), -0.001)
      : axis === 'y' ? this.sideways().multiplyScalar(-1) : this.sideways().cross(this.up);
    this.camera.position.copy(this.controls.target).addScaledVector(direction.normalize(), distance);
    this.controls.update();
    this.isDirty = true;
  }

  /** Moves camera and target together. */
  shift(by: THREE.Vector3): void {
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.controls.update();
    this.isDirty = true;
  }

  private buildGround(): void {
    for (const child of [...this.ground.children]) {
      this.ground.remove(child);
      const mesh = child as THREE.Mesh;
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
    for (const plane of this.planes) this.addGround(plane.point, plane.normal, true);
    if (this.planes.length === 0) {
      const {center, floor} = this.bounds;
      this.addGround(center.clone().addScaledVector(this.up, floor - center.dot(this.up)), this.up, false);
    }
  }

  /** Without shadows a sheet has one colour, which costs less to know than to compute for every pixel. */
  private makeSheetMaterial(normal: THREE.Vector3, look: THREE.MeshBasicMaterialParameters): THREE.Material {
    const color = new THREE.Color(this.isDark ? 0x2a2f37 : 0xe9ecf1);
    if (!this.isPlain || this.wantsShadows) return new THREE.MeshLambertMaterial({...look, color});
    // Lambert's law with the lights of this stage, as three.js has it.
    const toSun = this.sun.position.clone().sub(this.sun.target.position).normalize();
    const light = this.sky.color.clone().lerp(this.sky.groundColor, 0.5 - 0.5 * normal.dot(this.up)).multiplyScalar(this.sky.intensity);
    light.addScalar(this.sun.intensity * Math.max(0, toSun.dot(normal)));
    return new THREE.MeshBasicMaterial({...look, color: color.multiply(light.multiplyScalar(1 / Math.PI))});
  }

  /** A sheet with a grid of 1, 2 or 5 times a power of ten metres, around the middle of the scene. */
  private addGround(point: THREE.Vector3, normal: THREE.Vector3, isSolid: boolean): void {
    const {center, radius} = this.bounds;
    const spacing = this.gridSize;
    const isLevel = Math.abs(normal.dot(this.up)) > 0.95;
    const half = Math.ceil((isLevel ? 9 : 2.2) * radius / spacing) * spacing;
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const local = center.clone().sub(point).applyQuaternion(turn.clone().invert());
    const middle = new THREE.Vector3(Math.round(local.x / spacing) * spacing, Math.round(local.y / spacing) * spacing, 0)
      .applyQuaternion(turn).add(point);
    const back = new THREE.Color(this.isDark ? 0x15181d : 0xf3f5f8);
    if (isSolid) {
      const sheet = new THREE.Mesh(
        isLevel ? new THREE.CircleGeometry(5 * half, 96) : new THREE.PlaneGeometry(2 * half, 2 * half),
        this.makeSheetMaterial(normal, {polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
                                        side: THREE.DoubleSide, transparent: !isLevel, opacity: isLevel ? 1 : WALL_OPACITY}));
      sheet.position.copy(middle);
      sheet.quaternion.copy(turn);
      sheet.receiveShadow = true;
      this.ground.add(sheet);
    }
    // Lines that fade into the background with distance.
    const positions: number[] = [];
    const colors: number[] = [];
    const minor = new THREE.Color(this.isDark ? 0x3a414b : 0xd3d8e0);
    const major = new THREE.Color(this.isDark ? 0x4a525e : 0xbcc3cd);
    const floor = isSolid ? new THREE.Color(this.isDark ? 0x2a2f37 : 0xe9ecf1) : back;
    const color = new THREE.Color();
    const steps = Math.min(120, Math.round(half / spacing));
    const pieces = 24;
    for (let i = -steps; i <= steps; ++i)
      for (const isAlongX of [true, false]) {
        const where = Math.round((isAlongX ? local.y : local.x) / spacing) + i;
        const base = where % 5 === 0 ? major : minor;
        for (let k = 0; k < pieces; ++k) {
          if (isLevel && Math.hypot(half * ((2 * k + 1) / pieces - 1), i * spacing) > half) continue;
          for (const end of [k, k + 1]) {
            const along = half * (2 * end / pieces - 1);
            const x = isAlongX ? along : i * spacing;
            const y = isAlongX ? i * spacing : along;
            positions.push(x, y, 0);
            const fade = isLevel ? Math.min(1, Math.hypot(x, y) / half) : 0;
            color.copy(base).lerp(floor, fade);
            colors.push(color.r, color.g, color.b);
          }
        }
      }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
    geometry.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
    const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({vertexColors: true}));
    lines.position.copy(middle);
    lines.quaternion.copy(turn);
    this.ground.add(lines);
    this.ground.visible = true;
  }

  setGridVisible(isVisible: boolean): void {
    this.ground.visible = isVisible;
    this.isDirty = true;
  }

  render(hasMoved: boolean): void {
    if (hasMoved && this.wantsShadows) this.renderer.shadowMap.needsUpdate = true;
    this.renderer.render(this.scene, this.camera);
    this.isDirty = false;
  }
}
