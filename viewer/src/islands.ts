// Islands: bodies that act on each other through contacts that carry load, or through joints.

/** Union–find over frames. Static bodies join nothing. */
export class Islands {
  private readonly parent: Int32Array;
  private readonly size: Int32Array;

  constructor(private readonly isMoving: boolean[]) {
    this.parent = new Int32Array(isMoving.length);
    this.size = new Int32Array(isMoving.length);
    this.clear();
  }

  clear(): void {
    for (let i = 0; i < this.parent.length; ++i) {
      this.parent[i] = i;
      this.size[i] = 1;
    }
  }

  join(a: number, b: number): void {
    if (a < 0 || b < 0 || !this.isMoving[a] || !this.isMoving[b]) return;
    const rootA = this.find(a);
    const rootB = this.find(b);
    if (rootA === rootB) return;
    // The lower index stays, so that an island keeps its colour while others come and go.
    const root = Math.min(rootA, rootB);
    this.parent[Math.max(rootA, rootB)] = root;
    this.size[root] = this.size[rootA] + this.size[rootB];
  }

  /** The lowest frame of its island. */
  find(frame: number): number {
    let root = frame;
    while (this.parent[root] !== root) root = this.parent[root];
    while (this.parent[frame] !== root) [frame, this.parent[frame]] = [this.parent[frame], root];
    return root;
  }

  /** How many islands of two bodies or more there are. */
  count(): number {
    let count = 0;
    for (let i = 0; i < this.parent.length; ++i)
      if (this.parent[i] === i && this.size[i] > 1) ++count;
    return count;
  }
}
