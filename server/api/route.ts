import { AppError } from "@/server/base/errors";
import type { Endpoint } from "./endpoint";

export type Route = {
  endpoint: Endpoint;
  procedure: string;
};

// A literal segment takes precedence over a parameter.
type Segment = { literals: Map<string, Segment>; parameter?: Segment; routes: Route[] };

const newSegment = (): Segment => ({ literals: new Map(), routes: [] });

function nextOf(segment: Segment, part: string): Segment {
  if (part.startsWith("{")) {
    segment.parameter ??= newSegment();
    return segment.parameter;
  }
  const next = segment.literals.get(part) ?? newSegment();
  segment.literals.set(part, next);
  return next;
}

type Found = { route: Route; params: Record<string, string> };

/** Creates the search among endpoints. It throws `not_found` and `method_not_allowed`. */
export function createRouteFinder(endpoints: Readonly<Record<string, Endpoint>>) {
  const root = newSegment();
  for (const [procedure, endpoint] of Object.entries(endpoints)) {
    let at = root;
    for (const part of endpoint.path.split("/")) at = nextOf(at, part);
    at.routes.push({ endpoint, procedure });
  }
  return ({ method, path }: { method: string; path: string }): Found => {
    let at: Segment | undefined = root;
    const values: string[] = [];
    for (const part of path.split("/")) {
      const literal: Segment | undefined = at.literals.get(part);
      if (literal === undefined) values.push(decodeSegment(part));
      at = literal ?? (part === "" ? undefined : at.parameter);
      if (at === undefined) break;
    }
    const routes = at?.routes ?? [];
    if (routes.length === 0) throw new AppError("not_found", "There is nothing at this path.");
    const route = routes.find(({ endpoint }) => endpoint.method === method);
    if (route !== undefined) {
      const params = route.endpoint.parameters.map((name, n) => [name, values[n] ?? ""]);
      return { route, params: Object.fromEntries(params) };
    }
    const allow = routes.map(({ endpoint }) => endpoint.method).join(", ");
    throw new AppError("method_not_allowed", `This path takes ${allow}.`, { headers: { Allow: allow } });
  };
}

// Keeps a malformed percent escape, which is then rejected as an id.
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
