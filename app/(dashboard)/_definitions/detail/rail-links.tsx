import type { ReactNode } from "react";
import { PartHead } from "@/app/_ui/figures/facts";
import { Link } from "@/app/_ui/link";

type RailLinksProps = {
  title: string;
  links: { href: string; icon?: ReactNode; name: string; note?: string | null }[];
};

/** A short list of linked names beside a definition; nothing if it is empty. */
export function RailLinks({ title, links }: RailLinksProps) {
  if (links.length === 0) return null;
  return (
    <section aria-label={title} className="border-line border-t pb-2">
      <PartHead title={title} />
      <ul>
        {links.map(({ href, icon, name, note }) => (
          <li key={href}>
            <Link className="flex min-h-8 items-center gap-2.5 px-4 py-1 hover:bg-hover sm:px-6" href={href}>
              {icon ? <span className="text-muted">{icon}</span> : null}
              <span className="min-w-0 truncate">{name}</span>
              {note ? <span className="ml-auto text-faint text-xs">{note}</span> : null}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
