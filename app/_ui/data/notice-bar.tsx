import type { ReactNode } from "react";

/** A message about the whole page, over its lower edge, so that nothing moves. */
export function NoticeBar({ title, text, act }: { title: string; text: string; act: ReactNode }) {
  return (
    <>
      {/* The end of the page can be scrolled above the bar. */}
      <div aria-hidden="true" className="h-20" />
      <div
        className="fixed right-0 bottom-0 left-0 z-40 flex flex-wrap items-center gap-x-4 gap-y-2 border-line-strong border-t bg-waiting-wash px-4 py-2.5 sm:px-6 md:left-54"
        role="alert"
      >
        <p className="min-w-0 flex-1">
          <span className="font-medium">{title}</span> {text}
        </p>
        {act}
      </div>
    </>
  );
}
