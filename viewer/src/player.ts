// What time it is in the recording, and how it goes on.

export class Player {
  time = 0;
  speed = 1;
  isPlaying = false;
  loops = true;
  private readonly listeners = new Set<() => void>();

  /** Limits are asked for anew each time: a recording may grow. */
  constructor(private readonly limits: () => [number, number]) {}

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }
  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  seek(time: number): void {
    const [start, end] = this.limits();
    this.time = Math.min(end, Math.max(start, time));
    this.notify();
  }

  toggle(): void {
    const [start, end] = this.limits();
    if (!this.isPlaying && this.time >= end) this.time = start;
    this.isPlaying = !this.isPlaying;
    this.notify();
  }
  pause(): void {
    this.isPlaying = false;
    this.notify();
  }
  setSpeed(speed: number): void {
    this.speed = Math.min(10, Math.max(0.01, speed));
    this.notify();
  }
  setLoop(loops: boolean): void {
    this.loops = loops;
    this.notify();
  }

  /** Goes on by so much real time; `mayWait` says that the picture is not ready yet. */
  advance(seconds: number, mayWait: boolean): void {
    if (!this.isPlaying || mayWait) return;
    const [start, end] = this.limits();
    let time = this.time + seconds * this.speed;
    if (time > end) {
      if (this.loops && end > start) {
        time = start;
      } else {
        time = end;
        this.isPlaying = false;
      }
    }
    this.time = time;
    this.notify();
  }
}
