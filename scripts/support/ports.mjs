import { once } from "node:events";
import { connect, createServer } from "node:net";
import { codeOf } from "./project.mjs";

/**
 * Ports below the systems' ranges for outgoing connections (from 32768 on Linux, 49152 elsewhere). Any connection can
 * take a port in that range while its server restarts. Even the probe for the server can: it may get the same port and
 * connect to itself.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** @returns {Promise<number>} a free port on loopback */
export async function freePort() {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}

/**
 * Lets a server listen on loopback.
 * @param {import("node:net").Server} server
 * @param {number} [port] by default a free one
 * @returns {Promise<number>} the port
 */
export async function listen(server, port = 0) {
  await once(server.listen(port, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

/** @param {number} port */
export async function isFree(port) {
  return (await tryPort(port, "127.0.0.1")) === undefined;
}

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<string | undefined>} the code of the error if the port cannot be listened on
 */
export function tryPort(port, host) {
  return new Promise((resolve) => {
    const probe = createServer().once("error", (error) => resolve(codeOf(error) ?? error.message));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}

/**
 * Returns true if a server listens.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).once("error", () => resolve(false));
  });
}
