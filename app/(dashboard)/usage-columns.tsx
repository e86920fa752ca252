import { Ago, Day } from "@/app/_ui/figures/time";
import type { LineColumn } from "@/app/_ui/table";

type Used = { lastUsedAt: string | null; expiresAt: string | null; createdAt: string; createdBy: string };

/** When a key or secret was used, expires and was created. */
export const USAGE_COLUMNS: LineColumn<Used>[] = [
  {
    head: "Last used",
    width: "w-30",
    area: "end",
    look: "whitespace-nowrap text-muted",
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? (
        <>
          <span className="md:hidden">used </span>
          <Ago at={lastUsedAt} />
        </>
      ) : (
        "Never used"
      ),
  },
  {
    head: "Expires",
    width: "w-28",
    area: "wide",
    look: "whitespace-nowrap text-muted",
    cell: ({ expiresAt }) => (expiresAt ? <Day at={expiresAt} /> : "Never"),
  },
  {
    head: "Created",
    width: "w-[18%]",
    area: "wide",
    look: "truncate text-muted",
    cell: ({ createdAt, createdBy }) => (
      <>
        <Day at={createdAt} /> by {createdBy}
      </>
    ),
  },
];
