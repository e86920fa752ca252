import { ChevronLeftIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";

/** The head of an editor, with the link back to where it was opened. */
export function EditorHead({
  back,
  title,
  note,
}: {
  back: { href: string; label: string };
  title: string;
  note: string;
}) {
  return (
    <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-4 py-2 sm:px-6">
      <Link
        className="-ml-1 flex items-center gap-0.5 rounded-md py-1 pr-1.5 text-muted hover:text-ink"
        href={back.href}
      >
        <ChevronLeftIcon />
        {back.label}
      </Link>
      <h1 className="min-w-0 truncate font-semibold text-base">{title}</h1>
      <span className="text-muted">{note}</span>
    </header>
  );
}
