import clsx from "clsx";
import type { ReactNode } from "react";
import { StepwellMark } from "@/app/_ui/icons";

type Props = {
  title?: string;
  alert?: boolean;
  isLong?: boolean;
  children: ReactNode;
};

/** A page outside the dashboard's frame: the product's name, a title unless `children` have one, and what comes next. */
export function PlainPage({ title, alert = false, isLong = false, children }: Props) {
  return (
    <main className={clsx("flex min-h-dvh flex-col px-6 sm:items-center", isLong ? "pt-10" : "pt-[18vh]")}>
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
