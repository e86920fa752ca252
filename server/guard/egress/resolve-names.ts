import type { LookupAddress, LookupOptions } from "node:dns";
import { Resolver } from "node:dns/promises";
import type { LookupFunction } from "node:net";

// Two attempts end before the time limit of a connection.
const ATTEMPTS = { timeout: 3_000, tries: 2 };
const UNKNOWN = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

/**
 * Resolves names that tenants choose, by DNS alone. The system's lookup blocks one of few threads, so one tenant
 * could stop the calls of all others. @param servers `address:port` of name servers; the system's by default.
 */
export function createNameLookup(servers?: readonly string[]): LookupFunction {
  const resolver = new Resolver(ATTEMPTS);
  if (servers) resolver.setServers(servers);
  return (hostname, options, callback) => {
    findAddresses(resolver, hostname).then(
      (found) => {
        const wanted = found.filter(({ family }) => !options.family || options.family === family);
        if (wanted.length > 0) answerLookup(wanted, options, callback);
        else callback(lookupError("ENOTFOUND", hostname), []);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

/** Passes on addresses in the form that the caller of a lookup asked for. */
export function answerLookup(
  addresses: readonly LookupAddress[],
  { all = false }: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): void {
  const [first = { address: "", family: 4 }] = addresses;
  if (all) callback(null, [...addresses]);
  else callback(null, first.address, first.family);
}

async function findAddresses(resolver: Resolver, hostname: string): Promise<LookupAddress[]> {
  // RFC 6761, sections 6.3 and 6.4: never asked of a name server.
  if (/(^|\.)localhost\.?$/i.test(hostname)) return [{ address: "127.0.0.1", family: 4 }];
  if (/(^|\.)invalid\.?$/i.test(hostname)) throw lookupError("ENOTFOUND", hostname);
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [four, six].flatMap((answer, index) => {
    const addresses = answer.status === "fulfilled" ? answer.value : [];
    return addresses.map((address) => ({ address, family: index === 0 ? 4 : 6 }));
  });
  if (found.length > 0) return found;
  const isUnknown = [four, six].some(
    (answer) => answer.status === "rejected" && UNKNOWN.has(String(answer.reason?.code)),
  );
  throw lookupError(isUnknown ? "ENOTFOUND" : "EAI_AGAIN", hostname);
}

function lookupError(code: "ENOTFOUND" | "EAI_AGAIN", hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`The lookup of ${hostname} failed: ${code}`), { code });
}
