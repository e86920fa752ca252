import type { ReactNode } from "react";
import { Fact, Facts } from "@/app/_ui/figures/facts";
import { Figure, Figures } from "@/app/_ui/figures/figures";
import { LineList } from "@/app/_ui/table";
import { PageHead, SkeletonLine } from "./page";

/** Shaped like the loaded page, so that nothing moves when it arrives. */

const WIDTHS = ["w-40", "w-28", "w-48", "w-32", "w-44", "w-24", "w-36", "w-52"];

type ListPageSkeletonProps = {
  title: string;
  columns: readonly string[];
  children?: ReactNode;
};

/** The page of a list whose columns the server does not know, with their heads. */
export function ListPageSkeleton({ title, columns, children }: ListPageSkeletonProps) {
  return (
    <>
      <PageHead title={title} />
      {children}
      <LineList
        columns={columns.map((head, index) => ({
          head,
          area: index === 0 ? "line" : index === 1 ? "share" : "none",
          cell: () => null,
        }))}
        keyOf={() => ""}
        label={title}
        lines={null}
      />
    </>
  );
}

export function FiguresSkeleton({ label, names }: { label: string; names: readonly string[] }) {
  return (
    <div aria-busy="true">
      <Figures label={label}>
        {names.map((name) => (
          <Figure
            key={name}
            name={name}
            note={<SkeletonLine className="w-20" />}
            value={<SkeletonLine className="w-16" />}
          />
        ))}
      </Figures>
    </div>
  );
}

export function FactsSkeleton({ label, names }: { label: string; names: readonly string[] }) {
  return (
    <div aria-busy="true">
      <Facts label={label}>
        {names.map((name, index) => (
          <Fact key={name} name={name}>
            <SkeletonLine className={WIDTHS[index % WIDTHS.length] ?? "w-40"} />
          </Fact>
        ))}
      </Facts>
    </div>
  );
}

/** The head of a detail page. The link back is known, the title is not. */
export function DetailHeadSkeleton({ back }: { back: string }) {
  return (
    <div aria-busy="true" className="flex min-h-14 items-center gap-3 px-4 py-2 sm:px-6">
      <span className="text-muted">‹ {back}</span>
      <SkeletonLine className="w-40" />
      <SkeletonLine className="w-20" />
    </div>
  );
}

/** The rows of a list without columns. */
export function LinesSkeleton() {
  return (
    <div aria-busy="true" className="border-line border-t">
      {WIDTHS.map((width) => (
        <div className="flex h-10 items-center gap-3 border-line border-b px-4 sm:px-6" key={width}>
          <SkeletonLine className={width} />
          <SkeletonLine className="ml-auto w-16" />
        </div>
      ))}
    </div>
  );
}
