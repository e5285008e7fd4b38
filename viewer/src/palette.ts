// Colours of the picture. States and arrows differ in lightness too, so that they can be told apart
// without seeing hues.
import {Color} from 'three';

export const STATUS = ['#98a2b3', '#0fa08f', '#f2680c'];  // open, stick, slip
export const STATUS_NAMES = ['open', 'stick', 'slip'];
export const NORMAL = '#3d6bf0';
export const FRICTION = '#e0445c';
export const REACTION = '#8e4ec6';
export const EFFORT = '#c98a00';

const BODY_COLORS = ['#7b9fd4', '#e0a36a', '#84b88a', '#c98bb9', '#d4c071', '#79b8bd', '#b39ddb', '#d98880',
                     '#a3b86c', '#8fa3b8'];
export const STATIC_COLOR = '#b9bec6';
export const WALL_OPACITY = 0.55;  // of static sheets that hide what is behind them

export const CURVES = ['#3d6bf0', '#e5731f', '#0fa08f', '#c2408f', '#8a6fe8', '#b58900', '#5b8c2a', '#d1453b'];

const HEX = /^#[0-9a-f]{6}$/i;

/** A colour of the scene if it is one. */
export function parseColor(text: string | undefined): Color | undefined {
  return text && HEX.test(text) ? new Color(text) : undefined;
}

export function colorOfBody(index: number): Color {
  return new Color(BODY_COLORS[index % BODY_COLORS.length]);
}

/** Colours far apart for neighbouring numbers: the golden ratio around the circle of hues. */
export function colorOfIsland(index: number): Color {
  return new Color().setHSL((index * 0.618034) % 1, 0.55, 0.6);
}
