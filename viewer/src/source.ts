// Where data come from: the server that served this page, or the page itself. Both know the same
// resources by the same names (docs/viewer.md); everything else is blind to the difference.

export type NumberArray = Float32Array | Float64Array | Int32Array | Uint32Array;
export type Arrays = Record<string, NumberArray>;

export interface Source {
  readonly isEmbedded: boolean;
  /** Number of recordings: 1, or 2 with a ghost. */
  count(): Promise<number>;
  bytes(name: string): Promise<ArrayBuffer>;
  /** Whether the run goes on while it is looked at. */
  isLive(): Promise<boolean>;
  /** Tells the run to do something; throws with the reason if it does not. */
  command(token: string, command: object): Promise<void>;
}

interface Entry {
  name: string;
  type: 'f32' | 'f64' | 'i32' | 'u32';
  offset: number;
  count: number;
}

/** Views on the arrays of a binary message (src/stiction/view/binary_message.h); nothing is copied. */
export function readArrays(buffer: ArrayBuffer): Arrays {
  if (buffer.byteLength < 4) throw new Error('the data end too early');
  const size = new DataView(buffer).getUint32(0, true);
  if (4 + size > buffer.byteLength) throw new Error('the data end too early');
  const directory = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size))) as Entry[];
  const start = 4 + size;
  const arrays: Arrays = {};
  for (const entry of directory) {
    const width = entry.type === 'f64' ? 8 : 4;
    const offset = start + entry.offset;
    if (offset + entry.count * width > buffer.byteLength) throw new Error('the data end too early');
    switch (entry.type) {
      case 'f32': arrays[entry.name] = new Float32Array(buffer, offset, entry.count); break;
      case 'f64': arrays[entry.name] = new Float64Array(buffer, offset, entry.count); break;
      case 'i32': arrays[entry.name] = new Int32Array(buffer, offset, entry.count); break;
      case 'u32': arrays[entry.name] = new Uint32Array(buffer, offset, entry.count); break;
    }
  }
  return arrays;
}

export async function readJson<T>(source: Source, name: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await source.bytes(name))) as T;
}

/** The server of this page. */
class ServedSource implements Source {
  readonly isEmbedded = false;
  private readonly token = new URLSearchParams(location.search).get('token');

  async count(): Promise<number> {
    return (await readJson<{count: number}>(this, 'recordings.json')).count;
  }
  async isLive(): Promise<boolean> {
    return (await readJson<{live?: boolean}>(this, 'recordings.json')).live === true;
  }

  async bytes(name: string): Promise<ArrayBuffer> {
    return (await this.ask(`data/${name}`, {cache: 'no-store'})).arrayBuffer();
  }

  async command(token: string, command: object): Promise<void> {
    await this.ask('live', {method: 'POST', body: JSON.stringify(command),
                            headers: {'Content-Type': 'application/json', 'X-Stiction-Command': token}});
  }

  private async ask(path: string, request: RequestInit): Promise<Response> {
    const headers = {...(request.headers as Record<string, string> | undefined), ...(this.token ? {'X-Stiction-Token': this.token} : {})};
    let response: Response;
    try {
      response = await fetch(path, {...request, headers});
    } catch {
      throw new Error('The program that serves this page does not answer. Was it ended?');
    }
    if (response.ok) return response;
    let message = `The server answers ${response.status}.`;
    try {
      message = ((await response.json()) as {error?: string}).error ?? message;
    } catch { /* no JSON: keep the number */ }
    throw new Error(message);
  }
}

/** Elements of this page, each base64 of zlib's format. */
class EmbeddedSource implements Source {
  readonly isEmbedded = true;
  private readonly elements = new Map<string, Element>();

  constructor(elements: Iterable<Element>) {
    for (const element of elements) this.elements.set(element.getAttribute('data-name') ?? '', element);
  }

  async count(): Promise<number> {
    return this.elements.has('1/header.json') ? 2 : 1;
  }
  async isLive(): Promise<boolean> {
    return false;
  }
  async command(): Promise<void> {
    throw new Error('This page shows a run that is over.');
  }

  async bytes(name: string): Promise<ArrayBuffer> {
    const element = this.elements.get(name);
    if (!element) throw new Error(`This page lacks '${name}'.`);
    const text = atob((element.textContent ?? '').trim());
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(stream).arrayBuffer();
  }
}

export function findSource(): Source {
  const elements = document.querySelectorAll('script[type="application/x-stiction"]');
  return elements.length > 0 ? new EmbeddedSource(elements) : new ServedSource();
}
