/** The page on fixed data: ?n=100000, ?hostile, ?pictures, ?deep (three dimensions) or ?start, else kinship terms. */

import { mount } from "../src/workbench.ts";
import "../src/style.css";
import { FixedChannel, cloudData, kinshipData } from "./channel.ts";

const wanted = new URLSearchParams(location.search);
const has = (name: string) => wanted.has(name);
const n = Number(wanted.get("n"));
const data = n
  ? cloudData(n)
  : kinshipData({ hostile: has("hostile"), pictures: has("pictures"), start: has("start"), deep: has("deep") });
const channel = new FixedChannel(data);
Object.assign(window, { channel });
mount(document.getElementById("root")!, channel);
channel.onConnection(true);
