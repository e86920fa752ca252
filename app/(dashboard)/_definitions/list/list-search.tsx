"use client";

import { useRouter } from "next/navigation";
import { useRef, useTransition } from "react";
import { formatCount } from "@/app/_ui/figures/format";
import { useKeyHint, usePageKeys } from "@/app/_ui/page/page-keys";
import { SearchField } from "@/app/_ui/search-field";
import { useReportedText } from "@/app/_ui/use-reported-text";
import { listHref, type WeekSort } from "./columns";

type ListSearchProps = {
  what: string;
  search: string;
  sort: WeekSort | null;
  shown: number;
  total: number;
};

/** A field that narrows a list by name, kept in the URL, and how many items are shown. The key `/` leads to it. */
export function ListSearch({ what, search, sort, shown, total }: ListSearchProps) {
  const router = useRouter();
  const field = useRef<HTMLInputElement>(null);
  const [, startTransition] = useTransition();
  const { typed, setTyped, report } = useReportedText(search, (text) =>
    startTransition(() => router.replace(listHref(`/${what}`, { sort, search: text }), { scroll: false })),
  );
  const hint = useKeyHint("/");
  usePageKeys({ "/": () => field.current?.focus() });
  const find = (text: string) => {
    setTyped(text);
    report(text);
  };
  return (
    <search className="flex min-h-12 items-center gap-3 px-4 py-2 sm:px-6">
      <SearchField
        className="w-full max-w-70"
        label={`Search ${what}`}
        maxLength={100}
        onChange={(event) => find(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          find("");
          event.currentTarget.blur();
        }}
        ref={field}
        title={`Search${hint}`}
        value={typed}
      />
      <span aria-live="polite" className="ml-auto whitespace-nowrap text-muted text-xs">
        {shown === total
          ? `${formatCount(total)} ${total === 1 ? what.slice(0, -1) : what}`
          : `${formatCount(shown)} of ${formatCount(total)}`}
      </span>
    </search>
  );
}
