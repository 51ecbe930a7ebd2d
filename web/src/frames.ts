/** Messages with binary buffers: one frame of a WebSocket, and typed arrays in place of references to buffers. */

type Json = any;

/** Return the message of a binary frame and its buffers; see "Buffers" in PROTOCOL.md. */
export function unpack(frame: ArrayBuffer): { message: Json; buffers: ArrayBuffer[] } {
  const length = new DataView(frame).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, length)));
  const buffers: ArrayBuffer[] = [];
  let at = 4 + length;
  for (const size of message.buffers ?? []) {
    buffers.push(frame.slice(at, at + size));
    at += padded(size);
  }
  return { message, buffers };
}

/** Return a binary frame of a message and its buffers. */
export function pack(message: Json, buffers: ArrayBuffer[]): ArrayBuffer {
  const text = JSON.stringify({ ...message, buffers: buffers.map((buffer) => buffer.byteLength) });
  const bytes = new TextEncoder().encode(text);
  const start = padded(4 + bytes.length);
  const frame = new Uint8Array(start + buffers.reduce((sum, buffer) => sum + padded(buffer.byteLength), 0));
  frame.fill(32, 4, start);
  frame.set(bytes, 4);
  new DataView(frame.buffer).setUint32(0, start - 4, true);
  let at = start;
  for (const buffer of buffers) {
    frame.set(new Uint8Array(buffer), at);
    at += padded(buffer.byteLength);
  }
  return frame.buffer;
}

const padded = (size: number) => Math.ceil(size / 8) * 8;

/** Replace every reference to a buffer by the numbers in it. */
export function withArrays(message: Json, buffers: ArrayBuffer[]): Json {
  if (message === null || typeof message !== "object") return message;
  if (Array.isArray(message)) return message.map((part) => withArrays(part, buffers));
  if (typeof message.buffer === "number" && typeof message.type === "string") return asArray(buffers[message.buffer], message.type);
  return Object.fromEntries(Object.entries(message).map(([key, part]) => [key, withArrays(part, buffers)]));
}

function asArray(buffer: ArrayBuffer | undefined, type: string): Float32Array | Float64Array | Int32Array | Uint8Array {
  if (!buffer) throw new Error("A message names a buffer that was not sent along.");
  if (type === "f4") return new Float32Array(buffer);
  if (type === "f8") return new Float64Array(buffer);
  if (type === "i4") return new Int32Array(buffer);
  return new Uint8Array(buffer);
}
