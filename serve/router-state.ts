import { z } from "zod";
import { tryParseJson } from "@/server/base/json/json";

/** The header in which a browser tells Next what it shows while it follows a link. */
export const ROUTER_STATE_HEADER = "next-router-state-tree";

type State = [segment: unknown, children: Record<string, State>, ...rest: unknown[]];

/** As in Next's `flightRouterStateSchema`. */
const segment = z.union([
  z.string(),
  z.tuple([
    z.string(),
    z.string(),
    z.enum([
      "c",
      "oc",
      "d",
      ...["c", "d"].flatMap((type) => ["(..)(..)", "(.)", "(..)", "(...)"].map((up) => `${type}i${up}`)),
    ]),
    z.array(z.string()).nullable(),
  ]),
]);
const state: z.ZodType<State> = z.tuple([
  segment,
  z.record(
    z.string(),
    z.lazy(() => state),
  ),
  z.tuple([z.string(), z.string()]).nullish(),
  z.enum(["refetch", "inside-shared-layout", "metadata-only"]).nullish(),
  z.number().nullish(),
  z.string().optional(),
]);

/** False for a value that Next would answer with 500 and log as an error. */
export function isRouterState(header: string): boolean {
  try {
    return state.safeParse(tryParseJson(decodeURIComponent(header))).success;
  } catch {
    return false;
  }
}
