// Where the processor draws, every pixel costs. While things move a coarser picture that keeps up is worth more; as soon as
// they stand still it is sharp again.
import type {Stage} from './stage';

const TOO_LONG = 0.0195;  // [s] per frame: one in six of a screen with 60 a second is missed
const MEMORY = 0.9;
const STEP = 0.85;
const COARSEST = 0.5;  // pixels of the picture per pixel of the page
const REST = 0.25;  // [s] without motion
const PAUSE = 0.05;  // [s] that motion may pause: rows of a recording and frames are not in step

export class Sharpness {
  private share = 1;
  private slowness = 0;
  private restedFor = 0;
  private isSharp = true;

  constructor(private readonly stage: Stage) {}

  /** A frame that differs from the last one took so long. */
  noteMotion(seconds: number): void {
    const goesOn = this.restedFor < PAUSE;  // in slow motion most frames are the same as the one before
    this.restedFor = 0;
    if (!goesOn) return;
    if (this.isSharp && this.share < 1) this.show(this.share);
    this.slowness = MEMORY * this.slowness + (1 - MEMORY) * seconds;
    if (this.slowness < TOO_LONG || this.stage.fullRatio * this.share <= COARSEST) return;
    this.share = Math.max(this.share * STEP, COARSEST / this.stage.fullRatio);
    this.slowness = 0;
    this.show(this.share);
  }

  noteRest(seconds: number): void {
    this.restedFor += seconds;
    if (!this.isSharp && this.restedFor > REST) this.show(1);
  }

  private show(share: number): void {
    this.isSharp = share === 1;
    this.stage.setSharpness(share);
  }
}
