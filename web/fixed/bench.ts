/** Frames of a moving map of many points: ours, and a bare cloud of points in WebGL2 (?webgl), both in the same window. */

import "../src/style.css";
import { coloursOf } from "../src/colour.ts";
import { MapView } from "../src/map/map.ts";
import { cloudData } from "./channel.ts";

const wanted = new URLSearchParams(location.search);
const n = Number(wanted.get("n") ?? 100000);
const data = cloudData(n);
const points = Float32Array.from(data.maps.get(1)!.flat());
const colours = coloursOf(data.columns.get("table:cloud")!, n, "light");
const root = document.getElementById("root")!;
root.className = "unmask";

/** Return a function that draws the map as it is seen after a drag of so many pixels. */
function ours(): (shift: number) => void {
  const ignore = () => {};
  const map = new MapView({
    choose: ignore,
    area: ignore,
    path: ignore,
    clear: ignore,
    focus: ignore,
    camera: ignore,
    drawing: ignore,
  });
  root.append(map.element);
  const flags = () => new Uint8Array(n);
  map.show({
    coordinates: "1",
    points,
    p: 2,
    axes: [0, 1],
    space: false,
    camera: null,
    before: null,
    names: data.labels,
    colours,
    shapes: flags(),
    hidden: flags(),
    selected: flags(),
    found: new Set(),
    focus: null,
    tool: "pan",
    path: [],
    outlines: [],
    groups: [],
    ellipses: null,
    pictures: null,
    labels: true,
    paper: "light",
    still: true,
  });
  return (shift) => {
    map.camera = { ...map.camera, x: shift / map.camera.zoom };
    map.drawNow();
  };
}

const VERTEX = `#version 300 es
in vec2 place; in vec4 colour; uniform vec3 camera; uniform vec2 size; out vec4 ink;
void main() { gl_Position = vec4((place - camera.xy) * camera.z * 2.0 / size, 0, 1); gl_PointSize = 5.0; ink = colour; }`;
const FRAGMENT = `#version 300 es
precision mediump float; in vec4 ink; out vec4 pixel;
void main() { if (length(gl_PointCoord - 0.5) > 0.5) discard; pixel = ink; }`;

/** The least that WebGL2 can do: one buffer, one call, round points of the same size. */
function webgl(): (shift: number) => void {
  const canvas = document.createElement("canvas");
  const frame = document.createElement("div");
  frame.className = "map";
  frame.append(canvas);
  root.append(frame);
  [canvas.width, canvas.height] = [frame.clientWidth, frame.clientHeight];
  const gl = canvas.getContext("webgl2", { antialias: false })!;
  const program = gl.createProgram()!;
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  const attribute = (name: string, values: BufferSource, count: number, type: number) => {
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, count, type, type === gl.UNSIGNED_BYTE, 0, 0);
  };
  attribute("place", points, 2, gl.FLOAT);
  attribute("colour", colours as BufferSource, 4, gl.UNSIGNED_BYTE);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(1, 1, 1, 1);
  gl.uniform2f(gl.getUniformLocation(program, "size"), canvas.width, canvas.height);
  const camera = gl.getUniformLocation(program, "camera");
  const zoom = (canvas.height - 128) / 190;
  return (shift) => {
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform3f(camera, shift / zoom, 0, zoom);
    gl.drawArrays(gl.POINTS, 0, n);
  };
}

/** Count the frames of so many seconds. */
async function measure(seconds: number): Promise<number> {
  const begin = performance.now();
  let frames = 0;
  return new Promise((done) => {
    const frame = () => {
      draw(20 * Math.sin(frames++ / 5));
      const taken = (performance.now() - begin) / 1000;
      if (taken < seconds) requestAnimationFrame(frame);
      else done(frames / taken);
    };
    requestAnimationFrame(frame);
  });
}

const draw = wanted.has("webgl") ? webgl() : ours();
Object.assign(window, { measure, draw });
