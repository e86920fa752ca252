import { describeError } from "@/app/_ui/data/query-client";
import { formatPlural } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page/page";
import type { RunKind } from "@/server/contract/enums";

export type User = { kind: RunKind | "trigger"; id: string; name: string };
const NAMED = 8;

type Props = {
  users: { data: User[] | undefined; error: unknown };
  one: string;
  many: string;
  effect: string;
};

/** In the confirmation of a removal: what it affects, and how. */
export function UsedBy({ users, one, many, effect }: Props) {
  const { data, error } = users;
  if (data === undefined && error)
    return <p className="text-failed">Could not load what uses it: {describeError(error).message}</p>;
  if (data === undefined) return <SkeletonLine className="w-56" />;
  if (data.length === 0) return <p className="text-muted">Nothing uses it.</p>;
  const more = data.length - NAMED;
  return (
    <>
      <p className="rounded-md bg-waiting-wash px-2.5 py-2 text-waiting">
        {formatPlural(data.length, one, many)} it. {effect}
      </p>
      <ul aria-label="Used by" className="list-disc pl-5">
        {data.slice(0, NAMED).map(({ kind, id, name }) => (
          <li key={id}>
            <Link className="underline" href={`/${kind}s/${id}`}>
              {name}
            </Link>
          </li>
        ))}
        {more > 0 ? <li>{more} more</li> : null}
      </ul>
    </>
  );
}
