/** Reads messages of the server: msgpack, in which arrays of numbers are extensions (app/_messages.py). */

const ARRAYS = [Uint8Array, Float32Array, Float64Array, Int32Array] as const; // by the number of the extension

export function decode(bytes: Uint8Array): any {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = new TextDecoder();
  let at = 0;

  const whole = (size: 1 | 2 | 4): number => {
    const from = at;
    at += size;
    return size === 1 ? view.getUint8(from) : size === 2 ? view.getUint16(from) : view.getUint32(from);
  };
  const part = (size: number): Uint8Array => {
    if (at + size > bytes.length) throw new Error("A message is shorter than it says.");
    at += size;
    return bytes.slice(at - size, at); // a copy, so that arrays begin where they may
  };
  const number = (size: number, read: (at: number) => number): number => {
    at += size;
    return read(at - size);
  };
  const list = (n: number): any[] => Array.from({ length: n }, value);
  const record = (n: number): object => Object.fromEntries(Array.from({ length: n }, () => [String(value()), value()]));
  const extension = (size: number): unknown => new ARRAYS[whole(1)](part(size).buffer as ArrayBuffer);
  const letters = (size: number): string => text.decode(part(size));

  function value(): any {
    const kind = whole(1);
    if (kind < 0x80) return kind;
    if (kind < 0x90) return record(kind & 15);
    if (kind < 0xa0) return list(kind & 15);
    if (kind < 0xc0) return letters(kind & 31);
    if (kind >= 0xe0) return kind - 256;
    return others[kind]();
  }
  const others: Record<number, () => unknown> = {
    0xc0: () => null,
    0xc2: () => false,
    0xc3: () => true,
    0xc4: () => part(whole(1)),
    0xc5: () => part(whole(2)),
    0xc6: () => part(whole(4)),
    0xc7: () => extension(whole(1)),
    0xc8: () => extension(whole(2)),
    0xc9: () => extension(whole(4)),
    0xcb: () => number(8, (from) => view.getFloat64(from)),
    0xcc: () => whole(1),
    0xcd: () => whole(2),
    0xce: () => whole(4),
    0xcf: () => number(8, (from) => Number(view.getBigUint64(from))),
    0xd0: () => number(1, (from) => view.getInt8(from)),
    0xd1: () => number(2, (from) => view.getInt16(from)),
    0xd2: () => number(4, (from) => view.getInt32(from)),
    0xd3: () => number(8, (from) => Number(view.getBigInt64(from))),
    0xd4: () => extension(1),
    0xd5: () => extension(2),
    0xd6: () => extension(4),
    0xd7: () => extension(8),
    0xd8: () => extension(16),
    0xd9: () => letters(whole(1)),
    0xda: () => letters(whole(2)),
    0xdb: () => letters(whole(4)),
    0xdc: () => list(whole(2)),
    0xdd: () => list(whole(4)),
    0xde: () => record(whole(2)),
    0xdf: () => record(whole(4)),
  };
  return value();
}
