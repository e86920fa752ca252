import { lookup as systemLookup } from "node:dns";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { guardedLookup, isPublicAddress, privateAddressError } from "@/server/guard/egress/addresses";
import { EgressError, explainFailure } from "@/server/guard/egress/failures";

const CONNECT_TIMEOUT_MS = 10_000;

export type GuardedConnect = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

/**
 * Connections for protocols other than HTTP. They reach only public addresses and the `host:port` pairs of `allow`. Throws
 * EgressError, or the signal's reason.
 */
export function createGuardedConnect(
  options: { allow?: readonly string[]; lookup?: LookupFunction } = {},
): GuardedConnect {
  const resolve: LookupFunction = options.lookup ?? systemLookup;
  const allowed = new Set((options.allow ?? []).map((entry) => entry.toLowerCase()));
  return async (host, port, signal) => {
    signal.throwIfAborted();
    const trusted = allowed.has(`${host}:${port}`.toLowerCase());
    if (!trusted && isIP(host) !== 0 && !isPublicAddress(host))
      throw privateAddressError(host, `${host}:${port}`);
    const lookup = trusted ? resolve : guardedLookup(resolve);
    return new Promise<Socket>((done, reject) => {
      const socket = connect({ host, port, lookup, timeout: CONNECT_TIMEOUT_MS });
      const fail = (error: unknown) => {
        signal.removeEventListener("abort", onAbort);
        socket.destroy();
        reject(error);
      };
      const onAbort = () => fail(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      socket.once("timeout", () => fail(new EgressError(`${host}:${port} did not answer in time.`)));
      socket.once("error", (error) => {
        // Only the guarded lookup throws an EgressError of its own.
        fail(
          error instanceof EgressError
            ? privateAddressError(host, `${host}:${port}`)
            : explainFailure(error, host),
        );
      });
      socket.once("connect", () => {
        signal.removeEventListener("abort", onAbort);
        socket.removeAllListeners("error").removeAllListeners("timeout").setTimeout(0);
        // A reset may come before the caller listens. Without a listener, it would end the process.
        socket.on("error", () => {});
        done(socket);
      });
    });
  };
}
