import { ChevronRightIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { AGENT_STARTERS } from "./starters";

/** Agents to begin with; each leads to the form of a new agent that is filled in. */
export function StarterLinks() {
  return (
    <ul
      aria-label="Agents to begin with"
      className="w-full max-w-2xl divide-y divide-line overflow-hidden rounded-md border border-line-strong bg-raised"
    >
      {AGENT_STARTERS.map(({ about, fields: { slug, name } }) => (
        <li key={slug}>
          <Link
            className="flex items-center gap-3 px-4 py-2.5 -outline-offset-2 hover:bg-hover"
            href={`/agents/new?from=${slug}`}
          >
            <span className="min-w-0 flex-1">
              <span className="block font-medium text-ink">{name}</span>
              <span className="block text-muted">{about}</span>
            </span>
            <ChevronRightIcon className="shrink-0 text-muted" />
          </Link>
        </li>
      ))}
    </ul>
  );
}
