/** How the page talks to the server: a request has one answer, and events come unasked. */

import { decode } from "./msgpack.ts";
import type { Answer, Event, Request } from "./protocol.ts";

export interface Channel {
  /** Send a request and return its answer; an answer that says no is a Refusal. */
  ask(request: Request): Promise<Answer>;
  /** Hand over a file; return the server's name for it. */
  upload(file: File): Promise<string>;
  onEvent: (event: Event) => void;
  /** Called with true when there is a connection, with false when it is lost. */
  onConnection: (connected: boolean) => void;
  /** Called when the server does not know this page: trying again would not help. */
  onShutOut: () => void;
}

/** The server said no, in a sentence for the user. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly stale = false,
  ) {
    super(message);
  }
}

type Waiting = { resolve: (answer: Answer) => void; reject: (reason: Refusal) => void };

/** The half of a channel that does not depend on the transport: numbers of requests, and who waits for which answer. */
export abstract class AnyChannel implements Channel {
  onEvent: (event: Event) => void = () => {};
  onConnection: (connected: boolean) => void = () => {};
  onShutOut: () => void = () => {};
  private last = 0;
  private waiting = new Map<number, Waiting>();

  protected abstract send(message: object, data?: ArrayBuffer): void;
  abstract upload(file: File): Promise<string>;

  ask(request: Request, data?: ArrayBuffer): Promise<Answer> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, ...request }, data);
    });
  }

  protected receive(message: any): void {
    if (typeof message.event === "string") return this.onEvent(message);
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.ok) waiting?.resolve(message);
    else waiting?.reject(new Refusal(String(message.error), message.stale === true));
  }

  protected lose(): void {
    for (const { reject } of this.waiting.values())
      reject(new Refusal("The connection was lost before there was an answer."));
    this.waiting.clear();
    this.onConnection(false);
  }
}

/** The channel of the page in a browser; connects again by itself when the connection is lost. */
export class SocketChannel extends AnyChannel {
  private socket!: WebSocket;
  private delay = 250; // milliseconds until the next attempt

  constructor(private address: string) {
    super();
  }

  connect(): void {
    this.socket = new WebSocket(this.address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.delay = 250;
      this.onConnection(true);
    };
    this.socket.onclose = () => {
      this.lose();
      void this.again();
    };
    this.socket.onmessage = ({ data }) => this.receive(decode(new Uint8Array(data)));
  }

  /** Try again soon, unless a server is there that does not know this page: a socket does not say why it was refused. */
  private async again(): Promise<void> {
    const answer = await fetch("take/nothing").catch(() => null);
    if (answer?.status === 403) return this.onShutOut();
    setTimeout(() => this.connect(), this.delay);
    this.delay = Math.min(2 * this.delay, 8000);
  }

  protected send(message: object): void {
    if (this.socket.readyState !== WebSocket.OPEN) return this.lose();
    this.socket.send(JSON.stringify(message));
  }

  async upload(file: File): Promise<string> {
    const form = new FormData();
    form.append("file", file);
    const response = await fetch("upload", { method: "POST", body: form });
    const answer = await response.json();
    if (!response.ok) throw new Refusal(String(answer.error));
    return String(answer.file);
  }
}
