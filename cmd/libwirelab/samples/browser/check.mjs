// node check.mjs LIBRARY.wasm SCHEMA N: sends N states to a receiver in the same process, with a fifth of the packets and acks
// lost, and prints figures. It uses the same code as index.html.
import { readFileSync } from "node:fs";
import { Link, load, world } from "./wirelab.mjs";

const [wasm, schema, n] = process.argv.slice(2);
const lib = await load(readFileSync(wasm));
let random = 0; // a linear congruential generator of 32 bits
const link = new Link(lib, readFileSync(schema, "utf8"), () => (random = (Math.imul(random, 1664525) + 1013904223) >>> 0) < 2 ** 32 / 5);
for (let i = 0; i < Number(n); i++) link.exchange(world(i));
console.log(`${link.states} states, ${link.dropped} lost, ${link.wrong} wrong, ${link.size} bytes`);
try {
  lib.openSender("rows = 0");
} catch (error) {
  console.log(error.message);
}
