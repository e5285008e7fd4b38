// Puts single WebP pictures, as a browser's canvas encodes them, together to one that moves. The
// container is described in Google's "WebP Container Specification": RIFF with the chunks VP8X,
// ANIM, and one ANMF per frame, each of which covers a rectangle of the picture.

function chunk(name, ...parts) {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

const uint24 = (value) => Buffer.from([value & 255, (value >> 8) & 255, (value >> 16) & 255]);

/** The picture itself in a WebP file: its chunk VP8 or VP8L, without what browsers put around it. */
function findPicture(file) {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP') throw new Error('this is no WebP picture');
  for (let at = 12; at + 8 <= file.length;) {
    const name = file.toString('latin1', at, at + 4);
    const end = at + 8 + file.readUInt32LE(at + 4);
    if (name === 'VP8 ' || name === 'VP8L') return file.subarray(at, end + (end - at) % 2);
    at = end + (end - at) % 2;
  }
  throw new Error('there is no picture in this WebP file');
}

/**
 * Frames are {x, y, width, height, milliseconds, webp}, x and y even; the first one covers all of it. What
 * a frame does not cover stays as it was.
 */
export function animateWebp(width, height, frames) {
  const animation = 2;
  const parts = [
    chunk('VP8X', Buffer.from([animation, 0, 0, 0]), uint24(width - 1), uint24(height - 1)),
    chunk('ANIM', Buffer.from([255, 255, 255, 255, 0, 0])),  // endless
  ];
  const doNotBlend = 2;
  for (const frame of frames)
    parts.push(chunk('ANMF', uint24(frame.x / 2), uint24(frame.y / 2), uint24(frame.width - 1), uint24(frame.height - 1),
                     uint24(frame.milliseconds), Buffer.from([doNotBlend]), findPicture(frame.webp)));
  return chunk('RIFF', Buffer.from('WEBP', 'latin1'), ...parts);
}
