import type { Socket } from "node:net";
import { z } from "zod";
import type { Services } from "@/server/services";

/** Bounds open connections, so that idle ones cannot use up file descriptors and memory. */

const MAX_CONNECTIONS = 10_000;
/** For the database, calls of functions and files. */
const RESERVED_FILES = 256;
const FEWEST_CONNECTIONS = 64;
/** One address may have this part of the connections. */
const SHARE_OF_ADDRESS = 4;
const WARN_EVERY_MS = 60_000;

/** The most connections of a process, in total and from one address. Behind a proxy, all have its address. */
export function connectionLimits(openFiles: number, { trustProxy }: { trustProxy: boolean }) {
  const total = Math.min(MAX_CONNECTIONS, Math.max(FEWEST_CONNECTIONS, openFiles - RESERVED_FILES));
  return { total, address: trustProxy ? total : Math.floor(total / SHARE_OF_ADDRESS) };
}

/** Creates a listener for new connections that closes those beyond the limits, and logs it at most once a minute. */
export function createConnectionBound(
  { clock, log }: Pick<Services, "clock" | "log">,
  limits: ReturnType<typeof connectionLimits>,
): (socket: Socket) => void {
  const open = new Map<string, number>();
  let total = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (socket) => {
    const address = socket.remoteAddress ?? "unknown";
    const ofAddress = open.get(address) ?? 0;
    if (total >= limits.total || ofAddress >= limits.address) {
      socket.destroy();
      const now = clock.now().getTime();
      if (now - warnedAt < WARN_EVERY_MS) return;
      warnedAt = now;
      log.warn("Connections are closed: too many are open", { address, ofAddress, open: total, limits });
      return;
    }
    total += 1;
    open.set(address, ofAddress + 1);
    socket.once("close", () => {
      total -= 1;
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  };
}

const report = z.object({ userLimits: z.object({ open_files: z.object({ soft: z.number() }) }) });

/** The limit of file descriptors of this process; Infinity if there is none or it is unknown, such as on Windows. */
export function readOpenFiles(): number {
  // Otherwise it looks up the names of connected addresses.
  Object.assign(process.report, { excludeNetwork: true });
  const read = report.safeParse(process.report.getReport());
  return read.success ? read.data.userLimits.open_files.soft : Number.POSITIVE_INFINITY;
}
