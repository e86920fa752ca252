import { connect, createServer } from "node:net";

/**
 * Ports below the ones systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere). A port above can be
 * taken by anybody's connection while its server restarts, and even by the call that asks whether the server is up: a
 * connection to a port of that range on which nobody listens may be given the very same port and meet itself.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** @returns {Promise<number>} a port on loopback that is free at the moment */
export async function freePort() {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}

/** @param {number} port @returns {Promise<boolean>} */
export function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer().once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/** Whether somebody listens. @param {number} port @returns {Promise<boolean>} */
export function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).once("error", () => resolve(false));
  });
}
