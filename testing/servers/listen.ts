import type { Server as HttpServer } from "node:http";

export { listen } from "@/scripts/support/ports.mjs";

export async function closeServer(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
