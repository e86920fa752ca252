import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join, relative } from "node:path";
import { z } from "zod";

type PagesOptions = {
  root: string;
  /** Folder of the built pages; null: compiled on demand. */
  built: string | null;
  host: string;
  port: number;
};

/**
 * Loads Next with the first request for a page. An API-only process starts sooner, is smaller, and keeps Node's
 * timers and dates, which Next replaces by slower ones.
 */
export function createPages({ root, built, host, port }: PagesOptions) {
  const dev = built === null;
  const load = async () => {
    // The server of Next's standalone build passes its settings in the same way.
    if (built !== null)
      process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(await readBuiltSettings(built, root));
    const { default: next } = await import("next");
    const app = next({
      dir: root,
      dev,
      hostname: host,
      port,
      quiet: true,
      // Next would listen for upgrades on the server of its first request and close every connection that offers
      // `Upgrade: h2c`. In production it gets a server without connections.
      ...(dev ? {} : { httpServer: createServer() }),
    });
    await app.prepare();
    return { app, show: app.getRequestHandler() };
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    show: async (incoming: IncomingMessage, outgoing: ServerResponse) =>
      (await loaded()).show(incoming, outgoing),
    upgrade: async () => (await loaded()).app.getUpgradeHandler(),
    close: async () => (await loading)?.app.close(),
  };
}

const builtSettings = z.object({ config: z.looseObject({}) });

/** From the build, because Next would load a compiler to read next.config.ts. */
async function readBuiltSettings(built: string, root: string): Promise<object> {
  const text = await readFile(join(built, "required-server-files.json"), "utf8");
  return { ...builtSettings.parse(JSON.parse(text)).config, distDir: relative(root, built) };
}
