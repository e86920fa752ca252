import type { ReactNode } from "react";
import { StepwellMark } from "@/app/_ui/icons";

type Props = {
  title?: string;
  /** True if it reports a failure. */
  alert?: boolean;
  children: ReactNode;
};

/** A page outside the dashboard's frame: the product's name, a title unless `children` have one, and what comes next. */
export function PlainPage({ title, alert = false, children }: Props) {
  return (
    <main className="flex min-h-dvh flex-col px-6 pt-[18vh] sm:items-center">
      <div className="w-full max-w-[22rem]">
        <p className="mb-8 flex items-center gap-2.5">
          <StepwellMark className="text-accent" />
          <span className="font-semibold text-base">Stepwell</span>
        </p>
        <div {...(alert ? { role: "alert" } : {})}>
          {title === undefined ? null : <h1 className="mb-5 font-semibold text-title">{title}</h1>}
          {children}
        </div>
      </div>
    </main>
  );
}
