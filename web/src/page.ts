/** The page in a browser: exchanges the token for a cookie, then connects. */

import { SocketChannel } from "./channel.ts";
import { mount } from "./workbench.ts";
import "./style.css";

async function enter(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname + location.search); // it is not to stay in the address
  await fetch("enter", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
}

await enter();
const address = new URL("socket", location.href);
address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
address.hash = "";
const channel = new SocketChannel(address.href);
mount(document.getElementById("root")!, channel, true);
channel.connect();
