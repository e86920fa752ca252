import { readFile } from "node:fs/promises";
import { join } from "node:path";
import clsx from "clsx";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { Link } from "@/app/_ui/link";
import { PageHead } from "@/app/_ui/page/page";
import { LinesSkeleton } from "@/app/_ui/page/skeletons";
import { detailPage } from "../../content-page";
import { GuideText } from "../guide-text";
import { GUIDES } from "../guides";

export const metadata: Metadata = { title: "Docs" };

export default detailPage(
  content,
  <>
    <PageHead title="Docs" />
    <LinesSkeleton />
  </>,
);

async function content({ params }: PageProps<"/docs/[guide]">) {
  const { guide: name } = await params;
  const guide = GUIDES.find((each) => each.name === name);
  if (!guide) notFound();
  const text = await readFile(join(process.cwd(), "docs", `${guide.name}.md`), "utf8");
  return (
    <>
      <PageHead title={guide.title} />
      <div className="flex flex-col gap-6 border-line border-t px-4 py-5 sm:px-6 lg:flex-row-reverse lg:justify-between">
        <nav
          aria-label="Guides"
          className="flex shrink-0 flex-wrap gap-px lg:sticky lg:top-5 lg:w-56 lg:flex-col lg:self-start"
        >
          {GUIDES.map((each) => (
            <Link
              aria-current={each === guide ? "page" : undefined}
              className={clsx(
                "rounded-md px-2 py-1.5",
                each === guide ? "bg-selected font-medium" : "text-muted hover:bg-hover hover:text-ink",
              )}
              href={`/docs/${each.name}`}
              key={each.name}
            >
              {each.title}
            </Link>
          ))}
        </nav>
        <article className="min-w-0 max-w-176">
          <GuideText text={text} />
        </article>
      </div>
    </>
  );
}
