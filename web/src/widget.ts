/** The workbench in a notebook: messages go through anywidget, and several views of it show the same study. */

import { AnyChannel, Refusal } from "./channel.ts";
import { decode } from "./msgpack.ts";
import { mount } from "./workbench.ts";
import "./style.css";

interface Model {
  send(content: object, callbacks?: object, buffers?: ArrayBuffer[]): void;
  on(event: "msg:custom", listener: (message: object, buffers: DataView[]) => void): void;
  off(event: "msg:custom", listener: (message: object, buffers: DataView[]) => void): void;
}

/** One view of the widget. All views hear all messages, so each adds a name of its own to its requests. */
class ModelChannel extends AnyChannel {
  private name = crypto.randomUUID();
  private listener = (_: object, [view]: DataView[]) => {
    const message = decode(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    if (message.from === undefined || message.from === this.name) this.receive(message);
  };

  constructor(private model: Model) {
    super();
    model.on("msg:custom", this.listener);
  }

  protected send(message: object, data?: ArrayBuffer): void {
    this.model.send({ ...message, from: this.name }, undefined, data && [data]);
  }

  async upload(file: File): Promise<string> {
    const answer = await this.ask({ do: "upload", name: file.name }, await file.arrayBuffer());
    if (typeof answer.file !== "string") throw new Refusal("The file was not taken.");
    return answer.file;
  }

  close(): void {
    this.model.off("msg:custom", this.listener);
  }
}

export default {
  render({ model, el }: { model: Model; el: HTMLElement }): () => void {
    const channel = new ModelChannel(model);
    const root = document.createElement("div"); // of its own: marimo gives the same element to the next widget of a cell
    root.dataset.lmSuppressShortcuts = "true"; // keys on the map are no commands of JupyterLab
    el.append(root);
    const unmount = mount(root, channel);
    channel.onConnection(true);
    return () => {
      unmount();
      channel.close();
      root.remove();
    };
  },
};
