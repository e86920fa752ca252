import { Ago, Day } from "@/app/_ui/figures/time";
import type { LineColumn } from "@/app/_ui/table";

/** On a phone, which shows no column heads, a word names the time. */
export function LastUsed({ at }: { at: string | null }) {
  if (at === null) return "Never used";
  return (
    <>
      <span className="md:hidden">used </span>
      <Ago at={at} />
    </>
  );
}

type Used = { lastUsedAt: string | null; expiresAt: string | null; createdAt: string; createdBy: string };

/** Columns for the last use, the expiry and the creation of a key or secret. */
export const USAGE_COLUMNS: LineColumn<Used>[] = [
  {
    head: "Last used",
    width: "w-30",
    area: "end",
    look: "muted",
    cell: (line) => <LastUsed at={line.lastUsedAt} />,
  },
  {
    head: "Expires",
    width: "w-28",
    area: "wide",
    look: "muted",
    cell: (line) => (line.expiresAt ? <Day at={line.expiresAt} /> : "Never"),
  },
  {
    head: "Created",
    width: "w-[18%]",
    area: "wide",
    look: "cut",
    cell: (line) => (
      <>
        <Day at={line.createdAt} /> by {line.createdBy}
      </>
    ),
  },
];
