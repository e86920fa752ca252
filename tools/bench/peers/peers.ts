import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { SetupError } from "../../../scripts/support/project.mjs";
import { openDatabase } from "../database";
import type { Target } from "../target";
import { openDbos, serveDbos } from "./dbos";
import { openRestate, serveRestate } from "./restate";

/** Packages and versions that people install outside the repository to compare with, by the name of the peer. */
const PACKAGES = {
  restate: { "@restatedev/restate-server": "1.7.12", "@restatedev/restate-sdk": "1.17.2" },
  dbos: { "@dbos-inc/dbos-sdk": "5.3.0" },
};
type Peer = keyof typeof PACKAGES;

const INSTALLED = Object.values(PACKAGES).flatMap((packages) => Object.entries(packages));

export const HELP = `--beside restate,dbos --peers FOLDER measures peers as well. Install them in a folder outside the repository:
  mkdir FOLDER && cd FOLDER && npm init -y
  npm install ${INSTALLED.map((each) => each.join("@")).join(" ")}
Each peer does the same work in durable steps: an agent run is three model calls and two function calls, a tool run
one step. Restate runs with its default settings. DBOS gets a PostgreSQL like ours, and 20 connections to it.`;

/** The peers of `--beside`. Fails with a sentence if one is unknown or not installed in `folder`. */
export function readPeers(names: string, folder: string | undefined): Peer[] {
  const peers = names.split(",").map((name) => {
    if (name !== "restate" && name !== "dbos")
      throw new SetupError(`There is no peer "${name}". Use restate or dbos.\n\n${HELP}`);
    return name;
  });
  const missing = peers
    .flatMap((peer) => Object.keys(PACKAGES[peer]))
    .filter((name) => folder === undefined || !existsSync(join(folder, "node_modules", name)));
  if (missing.length > 0)
    throw new SetupError(`${missing.join(" and ")} not found in --peers ${folder ?? "FOLDER"}.\n\n${HELP}`);
  return peers;
}

/** Serves the runs of a peer, in the process that `openPeer` starts. Returns the port. */
export function servePeer(peer: string, folder: string, modelPort: number): Promise<number> {
  return peer === "restate" ? serveRestate(folder, modelPort) : serveDbos(folder, modelPort);
}

type Places = { folder: string; modelPort: number; counts: boolean };

export async function openPeer(peer: Peer, { folder, modelPort, counts }: Places): Promise<Target> {
  const began = performance.now();
  const database = peer === "dbos" ? await openDatabase({ counts }) : undefined;
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_ENV: "production",
    RESTATE_LOGGING: "ERROR",
    DBOS_SYSTEM_DATABASE_URL: database?.url,
  };
  const child = fork(import.meta.filename, ["peer", peer, resolve(folder), String(modelPort)], { env });
  const [port] = await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error(`The service of ${peer} ended.`))),
  ]);
  const service = { port: Number(port), pid: child.pid ?? 0, readyMs: performance.now() - began };
  const target = database ? openDbos(service, database) : await openRestate(resolve(folder), service);
  return {
    ...target,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      await target.stop();
    },
  };
}
